"""The secret filter: what the log's door, the importers and every other writer of free text call.

Importing this module loads neither RE2 nor the rules; the first text does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property, lru_cache
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, NamedTuple, ParamSpec, TypeVar

from workbench.errors import WorkbenchError
from workbench.redaction.token_counts import without_token_counts

if TYPE_CHECKING:
    from workbench.log.ports import JsonValue, Removal
    from workbench.redaction.engine import Pass


_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")

_ROUNDS = 6
"""Looks at one text before it is taken as it is."""
_TRIES = 32
"""Places that are tried for a cut before none is given: hostile text may offer many."""
_MARKER = "[REDACTED:"
_SHOWN = 24
"""Characters by which a place is found again."""


class Redacted(NamedTuple):
    """A filtered text and how many secrets of each kind were removed from it."""

    text: str
    counts: dict[str, int]


class SecretFilter:
    """Removes secrets by the shipped rules (contract redaction); satisfies the log's `Redactor`.

    Safe to share between threads. Texts are searched as UTF-8 bytes in linear time; a lone surrogate in a
    text stays as it is.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._machine: _Machine | None = None

    @cached_property
    def version(self) -> str:
        """`<engine number>-<hash of the rules>`: the same result for the same text while it is equal."""
        from workbench.redaction.rule_files import CONTEXT_FILES, RULE_FILES, rule_text

        return version_of([(name, rule_text(name)) for name in (*RULE_FILES, *CONTEXT_FILES)])

    def may_change(self, encoded: bytes) -> bool:
        """One scan of a value's UTF-8 JSON text (see `Redactor`); True may be a false alarm, False not.

        Raises `FilterFailed`.
        """
        # JSON inside a text may hide letters of names behind escapes.
        return b"\\\\u00" in encoded or _or_failed(self._ready().may_change, without_token_counts(encoded))

    def redact_text(self, text: str) -> tuple[str, dict[str, int]]:
        """`text` with `[REDACTED:<kind>]` for each secret, and their number by kind; `text` if none.

        Raises `FilterFailed`: never does a text leave that was not filtered to its end.
        """
        return _or_failed(self._ready().redacted, text)

    def redact_value(self, value: JsonValue) -> tuple[JsonValue, list[Removal]]:
        """A JSON value with its texts and keys filtered (see `tree.redact_tree`). Raises `FilterFailed`."""
        from workbench.redaction.tree import Quick, redact_tree

        machine = self._ready()
        return _or_failed(redact_tree, value, machine.redacted, Quick(machine.signs, machine.touched))

    def cut_place(self, text: str, limit: int) -> int:
        """The last place up to `limit` (both in characters) where cutting `text` cuts no secret in two.

        What stands before it is filtered as it would be in the whole `text`, so a text may be shortened
        before it is filtered. Raises `FilterFailed`.
        """
        return _or_failed(self._cut_place, text, limit)

    def _cut_place(self, text: str, limit: int) -> int:
        machine = self._ready()
        head = text[:limit].encode("utf-8", "surrogatepass")
        data = head + text[limit:].encode("utf-8", "surrogatepass")
        if not machine.may_change(data):
            return min(limit, len(text))
        kept = len(head)
        cut = kept
        for step in machine.passes:
            spans = step.find(data)
            for start, end, _ in spans:
                if start < cut < end:
                    # No marker of an earlier pass stands inside a span: the bytes are those of `head`.
                    kept -= cut - start
                    cut = start
            before = [span for span in spans if span.end <= cut]
            cut = len(machine.replace(data[:cut], before, {}))
            data = machine.replace(data, spans, {})
        return self._without_exposed(text, len(head[:kept].decode("utf-8", "surrogatepass")))

    def _without_exposed(self, text: str, place: int) -> int:
        """`place`, or an earlier one before what only a word behind it gives away as a secret."""
        whole, counts = self.redact_text(text)
        if not counts:
            return place
        for _ in range(_TRIES):
            part, _ = self.redact_text(text[:place])
            both = enumerate(zip(part, whole, strict=False))
            at = next((number for number, (one, two) in both if one != two), len(whole))
            if not whole.startswith(_MARKER, at):
                # The same; or more goes than in the whole, where a rule looks behind its token.
                return place
            # What stands there in the part stands so in the text.
            exposed = text.rfind(part[at : at + _SHOWN], 0, place)
            place = exposed if 0 <= exposed < place else place - 1
        return 0

    def _ready(self) -> _Machine:
        machine = self._machine
        if machine is None:
            with self._lock:
                machine = self._machine
                if machine is None:
                    machine = self._machine = _or_failed(_Machine)
        return machine


class _Machine:
    """The compiled rules."""

    __slots__ = (
        "_few",
        "_interrupted",
        "_probes",
        "_short",
        "batch",
        "merged",
        "passes",
        "replace",
        "signs",
        "view",
    )

    def __init__(self) -> None:
        from workbench.redaction import batch, engine, interrupted, passes

        self.passes: Sequence[Pass] = passes.all_passes()
        self.replace = engine.replace
        self.view = interrupted.view
        self.merged = interrupted.merged
        self._interrupted = engine.compile_bytes(interrupted.SIGN, "the sign of what reads otherwise")
        self._probes = engine.in_groups(
            (probe for step in self.passes for probe in step.probes), "the probes together"
        )
        self._few = engine.in_groups(
            (probe for step in self.passes for probe in step.probes),
            "the probes of short texts",
            batch.TOGETHER,
        )
        self._short = batch.SHORT
        self.signs = tuple(batch.sign_of(expression) for expression in (*self._probes, self._interrupted))
        self.batch = batch.Batch(self.passes)

    def may_change(self, data: bytes) -> bool:
        """Whether `data`, a text or its JSON, holds any sign of a secret or of one that reads otherwise."""
        return self._probed(data) or self._interrupted.search(data) is not None

    def redacted(self, text: str) -> tuple[str, dict[str, int]]:
        """`SecretFilter.redact_text`."""
        data = text.encode("utf-8", "surrogatepass")
        probed = self._probed(data)
        otherwise = self._interrupted.search(data) is not None
        if not probed and not otherwise:
            return text, {}
        seen = self.view(data) if otherwise else None
        if not probed and (seen is None or not self._probed(seen.data)):
            return text, {}
        counts: dict[str, int] = {}
        # A marker may show what nothing pointed at before: once more until nothing changes, up to the last
        # pass that changed anything. Those behind it have seen the text as it is.
        steps = self.passes
        for _ in range(_ROUNDS):
            before, last = data, 0
            for number, step in enumerate(steps, 1):
                spans = step.find(data)
                if seen is not None:
                    spans = self.merged(spans, seen.in_text(step.find(seen.data)))
                if spans:
                    data = self.replace(data, spans, counts)
                    seen = None if seen is None else self.view(data)
                    last = number
            if data is before:
                break
            steps = steps[:last]
        if not counts:
            return text, counts
        return data.decode("utf-8", "surrogatepass"), counts

    def touched(self, texts: Collection[str]) -> set[str]:
        """Those of `texts` that change, looked through together."""
        touched = self.batch.touched(texts)
        sign = self._interrupted
        for text in texts:
            if text in touched or sign.search(text.encode("utf-8", "surrogatepass")) is None:
                continue
            if self.redacted(text)[1]:
                touched.add(text)
        return touched

    def _probed(self, data: bytes) -> bool:
        probes = self._few if len(data) <= self._short else self._probes
        return any(probe.search(data) is not None for probe in probes)


class FilterFailed(WorkbenchError):
    """The secret filter could not finish with a text; the text goes nowhere and is in no message."""

    code: ClassVar[str] = "filter_failed"


def _or_failed(work: Callable[_Given, _Result], *given: _Given.args, **named: _Given.kwargs) -> _Result:
    """What `work` answers; `FilterFailed`, with no trace of what was given, for a failure nobody foresaw."""
    try:
        return work(*given, **named)
    except WorkbenchError:
        raise
    except Exception as failure:
        place = _place(failure)
    # Outside the handler: the failure itself, which may show the text, does not go along.
    raise FilterFailed(
        f"The secret filter failed ({place}), so the text was not taken.",
        hint="Nothing of it was stored. Please report the place named here, without the text.",
    )


def _place(failure: Exception) -> str:
    """The kind of failure, module and line: nothing of what was being read."""
    trace = failure.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return type(failure).__name__
    module = str(trace.tb_frame.f_globals.get("__name__", "?")).rpartition(".")[2]
    return f"{type(failure).__name__} at {module}:{trace.tb_lineno}"


def version_of(files: Sequence[tuple[str, str]]) -> str:
    """The filter version of rules files given as (name, text)."""
    from hashlib import sha256

    from workbench.redaction.version import ENGINE

    digest = sha256()
    for name, text in files:
        digest.update(f"{name}\0{len(text)}\0{text}".encode())
    return f"{ENGINE}-{digest.hexdigest()[:16]}"


@lru_cache(maxsize=1)
def default_filter() -> SecretFilter:
    """The one shared filter of this process."""
    return SecretFilter()


def redact(text: str) -> Redacted:
    """`text` through the shared filter."""
    return Redacted(*default_filter().redact_text(text))
