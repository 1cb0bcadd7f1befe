"""Two checkpoints of a task side by side (contract memory, "Checkpoint comparison")."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from workbench.identity.folding import fold
from workbench.memory.errors import InvalidArgument
from workbench.memory.observations import checkpoint_at
from workbench.memory.snapshot import Snapshot, id_bytes
from workbench.memory.views import Checkpoint, Comparison, Kept, ListChange, OpenQuestion

SIMILAR = 0.8
"""Lines at least this alike are one line in other words."""

LEAST_WORDS = 3
"""Words that a line needs to count as the beginning of a longer one: a single verb begins too many."""

_WORDS = re.compile(r"\w+")
_GOES_ON = re.compile(r"[\w'’\u0300-\u036f]|[.,:]\d")
"""After what a line begins with: the last word, or the last number, is not at its end yet."""
_MOST_NEAR = 12
"""Words that differ, up to which near spellings are looked for."""
_SLACK = 1e-9
"""What a bound may be off by rounding."""
_MOST_CHECKPOINTS = 200
"""How far back the age of a question is counted."""


def find_checkpoint(snapshot: Snapshot, given: str) -> int:
    """The position of a checkpoint by its id, or by that of the observation that carries it.

    Raises `InvalidArgument` for an id that no checkpoint has, or none that may be seen.
    """
    stored = id_bytes(given)
    position = None
    if stored is not None:
        by_id = f"SELECT position FROM checkpoints WHERE event_id = :id AND {snapshot.handed_off()}"
        position = snapshot.value(by_id, id=stored)
        if position is None:
            by_observation = (
                "SELECT position FROM checkpoints WHERE observation = "
                f"(SELECT o.position FROM observations o WHERE o.event_id = :id) AND {snapshot.handed_off()}"
            )
            position = snapshot.value(by_observation, id=stored)
    if position is None:
        raise InvalidArgument("no checkpoint has this id", hint="list tasks with: workbench tasks")
    found: int = position
    return found


def compare(snapshot: Snapshot, older: int, newer: int) -> Comparison:
    """What changed from the checkpoint at one position to the one at another."""
    before, after = checkpoint_at(snapshot, older), checkpoint_at(snapshot, newer)
    return Comparison(
        older=before.id,
        newer=after.id,
        older_goal=before.goal,
        newer_goal=after.goal,
        goal_changed=fold(before.goal) != fold(after.goal),
        completed=_change(before.completed, after.completed, continued=True),
        verification=_change(before.verification, after.verification),
        open_questions=_change(before.open_questions, after.open_questions),
        next_steps=_change(before.next_steps, after.next_steps, continued=True),
        dropped=[before.next_steps[index] for index in dropped_steps(before, after)],
        questions=_ages(snapshot, after, newer),
    )


def dropped_steps(before: Checkpoint, after: Checkpoint) -> list[int]:
    """Indexes of the steps that the earlier checkpoint planned, and that are neither done nor planned now."""
    done = matched(before.next_steps, after.completed, continued=True)
    ahead = matched(before.next_steps, after.next_steps, continued=True)
    return [index for index in range(len(before.next_steps)) if index not in done and index not in ahead]


# -- matching ------------------------------------------------------------------------------


def similarity(one: str, other: str, least: float = 0.0) -> float:
    """How alike two lines are, from 0 to 1: the share of words that both have, near spellings included.

    Words with a digit in them have to be equal: `step 1` is not `step 2`. Of two lines that cannot be `least`
    alike it is not found out how little they are: the answer is 0.
    """
    return _likeness(_Line(one), _Line(other), least)


class _Line:
    """A line and its words, counted once for all the lines that it is compared with."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = Counter(_words(text))
        self.size = self.words.total()


def _likeness(one: _Line, other: _Line, least: float) -> float:
    size = one.size + other.size
    if not size:
        return 1.0 if fold(one.text) == fold(other.text) else 0.0
    if 2 * min(one.size, other.size) < least * size - _SLACK:
        return 0.0
    left, right = list((one.words - other.words).elements()), list((other.words - one.words).elements())
    if any(char.isdigit() for word in (*left, *right) for char in word):
        return 0.0
    common = (size - len(left) - len(right)) / 2
    if len(left) <= _MOST_NEAR and len(right) <= _MOST_NEAR:
        for done, word in enumerate(left):
            # Comparing spellings is what costs, and most pairs of lines have little in common.
            if 2 * (common + min(len(left) - done, len(right))) < least * size - _SLACK:
                return 0.0
            near = next((each for each in right if _near(word, each)), None)
            if near is not None:
                right.remove(near)
                common += 1
    return 2 * common / size


def _words(text: str) -> list[str]:
    return _WORDS.findall(fold(text).replace("-", " "))


@lru_cache(maxsize=1 << 14)
def _near(one: str, other: str) -> bool:
    """Whether two words are forms of one: `test` and `tests`."""
    needed = SIMILAR * (len(one) + len(other)) / 2 - _SLACK
    # No more letters can agree than each of the two has in common with the other.
    if min(len(one), len(other)) < needed or min(_shared(one, other), _shared(other, one)) < needed:
        return False
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= SIMILAR


def _shared(one: str, other: str) -> int:
    """How many letters of a word occur in another one."""
    return sum(map(other.__contains__, one))


class Match(NamedTuple):
    """A line of the older list in the newer one."""

    line: int
    """Its index there."""
    exact: bool


def begins(line: str, longer: str) -> bool:
    """Whether one folded line is the beginning of another, at the end of a word, and has `LEAST_WORDS`."""
    line = line.rstrip(".")
    if len(line) >= len(longer) or not longer.startswith(line) or _GOES_ON.match(longer, len(line)):
        return False
    return len(_words(line)) >= LEAST_WORDS


def matched(older: Sequence[str], newer: Sequence[str], *, continued: bool = False) -> dict[int, Match]:
    """By index of the older lines that the newer list has: which line it is. No line is used twice.

    Equal ones (folded) are paired first, then, with `continued`, those that the newer line begins with, then
    the most alike. To go on is to say what came of a step; a claim that goes on is another claim.
    """
    found: dict[int, Match] = {}
    free: dict[str, list[int]] = {}
    for index, line in enumerate(newer):
        free.setdefault(fold(line), []).append(index)
    for index, line in enumerate(older):
        same = free.get(fold(line))
        if same:
            found[index] = Match(same.pop(0), True)
    taken = {match.line for match in found.values()}
    if continued:
        _pair_continued(older, newer, found, taken)
    left = [(i, _Line(line)) for i, line in enumerate(older) if i not in found]
    right = [(j, _Line(line)) for j, line in enumerate(newer) if j not in taken] if left else []
    pairs = [
        (-alike, i, j)
        for i, line in left
        for j, other in right
        if (alike := _likeness(line, other, SIMILAR)) >= SIMILAR
    ]
    for _, i, j in sorted(pairs):
        if i not in found and j not in taken:
            found[i] = Match(j, False)
            taken.add(j)
    return found


def _pair_continued(
    older: Sequence[str], newer: Sequence[str], found: dict[int, Match], taken: set[int]
) -> None:
    """Pair what is left with lines that go on from it: the longest beginning, with the nearest in length."""
    left = [(i, fold(line)) for i, line in enumerate(older) if i not in found]
    right = [(j, fold(line)) for j, line in enumerate(newer) if j not in taken] if left else []
    pairs = [
        (-len(line), len(longer), i, j) for i, line in left for j, longer in right if begins(line, longer)
    ]
    for _, _, i, j in sorted(pairs):
        if i not in found and j not in taken:
            found[i] = Match(j, False)
            taken.add(j)


def _change(older: Sequence[str], newer: Sequence[str], *, continued: bool = False) -> ListChange:
    pairs = matched(older, newer, continued=continued)
    taken = {match.line for match in pairs.values()}
    return ListChange(
        kept=[
            Kept(older=older[i], newer=newer[match.line], reworded=not match.exact)
            for i, match in sorted(pairs.items())
        ],
        added=[line for index, line in enumerate(newer) if index not in taken],
        gone=[line for index, line in enumerate(older) if index not in pairs],
    )


# -- how long questions stand --------------------------------------------------------------


def _ages(snapshot: Snapshot, newest: Checkpoint, position: int) -> list[OpenQuestion]:
    ages = [1] * len(newest.open_questions)
    # By index in the newest list: the wording in the checkpoint looked at last, while it has one.
    standing = dict(enumerate(newest.open_questions))
    for earlier in _before(snapshot, position):
        if not standing:
            break
        indexes, lines = list(standing), list(standing.values())
        questions = checkpoint_at(snapshot, earlier).open_questions
        pairs = matched(lines, questions)
        standing = {indexes[i]: questions[match.line] for i, match in pairs.items()}
        for index in standing:
            ages[index] += 1
    return [OpenQuestion(text=text, age=age) for text, age in zip(newest.open_questions, ages, strict=True)]


def _before(snapshot: Snapshot, position: int) -> list[int]:
    """Positions of a task's checkpoints before one of them, newest first."""
    row = snapshot.row(
        "SELECT domain_key, project_key, task_key FROM checkpoints WHERE position = :position",
        position=position,
    )
    assert row is not None
    domain, project, task = row
    registry = snapshot.registry
    sql = (
        "SELECT position FROM checkpoints WHERE project_key = :project AND task_key = :task "
        f"AND domain_key = :domain AND position < :position AND {snapshot.handed_off()} "
        "ORDER BY position DESC LIMIT :limit"
    )
    found = [
        earlier
        for domain_form in registry.domain_forms(domain)
        for project_form in registry.project_forms(project)
        for (earlier,) in snapshot.rows(
            sql,
            project=project_form,
            task=task,
            domain=domain_form,
            position=position,
            limit=_MOST_CHECKPOINTS,
        )
    ]
    return sorted(found, reverse=True)[:_MOST_CHECKPOINTS]
