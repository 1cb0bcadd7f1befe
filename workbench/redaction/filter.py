"""The secret filter: what the log's door, the importers and every other writer of free text call.

Importing this module loads neither RE2 nor the rules; the first text does.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.redaction.tree import Quick, redact_tree

if TYPE_CHECKING:
    from workbench.log.ports import JsonValue, Removal
    from workbench.redaction.engine import Pass


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
        """One scan of a value's UTF-8 JSON text (see `Redactor`); True may be a false alarm, False not."""
        # JSON inside a text may hide letters of names behind escapes.
        return b"\\\\u00" in encoded or self._ready().probe.search(encoded) is not None

    def redact_text(self, text: str) -> tuple[str, dict[str, int]]:
        """`text` with `[REDACTED:<kind>]` for each secret, and their number by kind; `text` if none."""
        machine = self._ready()
        data = text.encode("utf-8", "surrogatepass")
        if machine.probe.search(data) is None:
            return text, {}
        counts: dict[str, int] = {}
        for step in machine.passes:
            spans = step.find(data)
            if spans:
                data = machine.replace(data, spans, counts)
        if not counts:
            return text, counts
        return data.decode("utf-8", "surrogatepass"), counts

    def redact_value(self, value: JsonValue) -> tuple[JsonValue, list[Removal]]:
        """A JSON value with its texts and keys filtered (see `tree.redact_tree`)."""
        machine = self._ready()
        return redact_tree(value, self.redact_text, Quick(machine.sign, machine.batch.touched))

    def cut_place(self, text: str, limit: int) -> int:
        """The last place up to `limit` (both in characters) where cutting `text` cuts no secret in two.

        What stands before it is filtered as it would be in the whole `text`, so a text may be shortened
        before it is filtered.
        """
        machine = self._ready()
        head = text[:limit].encode("utf-8", "surrogatepass")
        data = head + text[limit:].encode("utf-8", "surrogatepass")
        if machine.probe.search(data) is None:
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
                    machine = self._machine = _Machine()
        return machine


class _Machine:
    """The compiled rules."""

    __slots__ = ("batch", "passes", "probe", "replace")

    def __init__(self) -> None:
        from workbench.redaction import batch, engine, passes

        self.passes: Sequence[Pass] = passes.all_passes()
        self.replace = engine.replace
        self.probe: Any = engine.compile_bytes(
            engine.any_of(dict.fromkeys(probe for step in self.passes for probe in step.probes)),
            "the probes together",
        )
        self.batch = batch.Batch(self.passes)

    def sign(self, data: bytes, position: int) -> int:
        """Where in `data`, from `position` on, the first sign of a secret begins; -1 if there is none."""
        found = self.probe.search(data, position)
        return -1 if found is None else int(found.start())


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
