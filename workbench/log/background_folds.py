"""What a background fold is, and what may be asked of one (contract log, §5).

A background fold follows the log on its own schedule, in transactions of its own. Whatever it can
do beyond `apply` it says by having the method: each ability is a protocol of one idea.
"""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

import apsw

from workbench.log.errors import LogError
from workbench.log.registry import StoredEvent

FoldDeterminism = Literal["deterministic", "generative"]
"""Whether folding the same events again gives the same rows, or something new and paid for."""


class Fold(Protocol):
    """A named projection of events into rows."""

    @property
    def name(self) -> str:
        """The key of its position; unique in a projector."""
        ...

    @property
    def fold(self) -> FoldDeterminism:
        """Its grade, which every fold has to state; anything but `generative` is deterministic."""
        ...

    @property
    def types(self) -> frozenset[tuple[str, str]] | None:
        """The (namespace, type) pairs it reads; None for every type that is registered."""
        ...

    def apply(self, event: StoredEvent, connection: apsw.Connection) -> None:
        """Fold one event, in the transaction that also moves the position."""
        ...


@runtime_checkable
class OwnsPosition(Protocol):
    """A fold whose rows live elsewhere, and its position with them."""

    def read_position(self) -> int | None:
        """The number of the last event folded; None or 0 if there is none."""
        ...

    def commit_position(self, position: int) -> None:
        """Note a position; called after the transaction of its batch."""
        ...


@runtime_checkable
class GenerativeFold(Protocol):
    """A fold that draws something before it applies: a model's answer, a paid request."""

    def prepare(self, event: StoredEvent) -> None:
        """Draw what `apply` will need for this event; no transaction is held meanwhile."""
        ...


@runtime_checkable
class AsyncGenerativeFold(Protocol):
    """A fold that draws by awaiting."""

    async def prepare_async(self, event: StoredEvent) -> None:
        """As `GenerativeFold.prepare`."""
        ...


@runtime_checkable
class PreparesSynchronously(Protocol):
    """A fold that has `prepare` but may not be able to use it."""

    @property
    def prepares_synchronously(self) -> bool:
        """Whether `prepare` works; if not, only `catch_up_async` can drive the fold."""
        ...


@runtime_checkable
class FollowsBatches(Protocol):
    """A generative fold that is told where batches begin and which of them are kept."""

    def start_batch(self) -> None:
        """A batch is about to be drawn; of an earlier one only what `end_batch` told of is kept."""
        ...

    def end_batch(self) -> None:
        """The batch that was drawn last is applied, and its transaction committed if it was its own."""
        ...


class InvalidFold(LogError, AttributeError):
    """A fold lacks what every fold of its kind has."""

    code = "invalid_fold"


class UnknownProjection(LogError, KeyError):
    """No fold of this name is driven here."""

    code = "unknown_projection"
    __str__ = Exception.__str__  # KeyError would put quotes around the sentence.


class DuplicateProjection(LogError, ValueError):
    """Two folds have one name, and so one position."""

    code = "duplicate_projection"


class InvalidBatchSize(LogError, ValueError):
    """A batch holds at least one event."""

    code = "invalid_batch_size"


class NeedsAsync(LogError, TypeError):
    """A fold that can only draw by awaiting was driven synchronously."""

    code = "needs_async"


class OpenTransaction(LogError):
    """The calling thread holds a transaction that this step must not be a part of."""

    code = "open_transaction"


class GenerativeRebuild(LogError):
    """A rebuild would throw generated content away, and nobody said that it may."""

    code = "generative_rebuild"


class CannotResetInTransaction(LogError, TypeError):
    """A fold that owns its position cannot move it in the log's transaction."""

    code = "cannot_reset_in_transaction"


def is_generative(fold: Fold) -> bool:
    """Whether a fold draws."""
    return fold.fold == "generative"


def check(fold: Fold) -> None:
    """Refuse, as `InvalidFold`, a fold without a grade or types, or a generative one that cannot draw."""
    for attribute in ("fold", "types"):
        if not hasattr(fold, attribute):
            raise InvalidFold(f"the fold {fold.name} has no {attribute}")
    if is_generative(fold) and not isinstance(fold, GenerativeFold | AsyncGenerativeFold):
        raise InvalidFold(f"the fold {fold.name} is generative but has no prepare")


def refuse_async_only(fold: Fold) -> None:
    """Refuse, as `NeedsAsync`, a fold that can only draw by awaiting."""
    if not is_generative(fold):
        return
    able = fold.prepares_synchronously if isinstance(fold, PreparesSynchronously) else True
    if not able or not isinstance(fold, GenerativeFold):
        raise NeedsAsync(f"the fold {fold.name} draws by awaiting", hint="use the async call instead")
