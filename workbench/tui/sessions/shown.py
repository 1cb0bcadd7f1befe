"""Which entries of a session are shown: a switch for each kind and each kind of actor."""

from __future__ import annotations

from dataclasses import dataclass, replace

from workbench.sessions.model import ActorKind, ActumKind
from workbench.workspace.rows import ActaFilter

UNIT_CLOSED = "unit_closed"
"""The kind of an entry that is no actum: the end of a unit (`ActumRow.kind`)."""
KINDS = (*(kind.value for kind in ActumKind), UNIT_CLOSED)
ACTOR_KINDS = tuple(kind.value for kind in ActorKind)


@dataclass(frozen=True, slots=True)
class Shown:
    """The kinds and actor kinds that are switched off, and whether responses are folded into their calls."""

    off: frozenset[str] = frozenset()
    folded: bool = True

    def has(self, name: str) -> bool:
        """Whether a kind or actor kind is shown."""
        return name not in self.off

    def toggled(self, name: str) -> Shown:
        """The same with one switch turned."""
        return replace(self, off=self.off ^ {name})

    def refolded(self) -> Shown:
        """The same with responses folded, or unfolded."""
        return replace(self, folded=not self.folded)

    @property
    def everything(self) -> bool:
        """Nothing is switched off."""
        return not self.off

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of acta that are shown; never a unit's end, which is no actum."""
        return tuple(kind.value for kind in ActumKind if self.has(kind.value))

    @property
    def actor_kinds(self) -> tuple[str, ...]:
        """The kinds of actors that are shown."""
        return tuple(kind for kind in ACTOR_KINDS if self.has(kind))

    @property
    def acta(self) -> bool:
        """Whether any actum can be shown."""
        return bool(self.kinds and self.actor_kinds)

    def wanted(self) -> ActaFilter | None:
        """The filter that a reader takes; None where everything is switched off."""
        units = (UNIT_CLOSED,) if self.has(UNIT_CLOSED) else ()
        if self.acta:
            return ActaFilter(kinds=(*self.kinds, *units), actor_kinds=self.actor_kinds)
        return ActaFilter(kinds=units) if units else None

    def as_text(self) -> str:
        """The form in which it is remembered."""
        return " ".join([*sorted(self.off), *([] if self.folded else ["unfolded"])])

    @classmethod
    def from_text(cls, text: str) -> Shown:
        """What was remembered; words that mean nothing are passed over."""
        words = set(text.split())
        return cls(frozenset(words & {*KINDS, *ACTOR_KINDS}), "unfolded" not in words)
