"""What a session's acts come to: who asked and said what, what was done, how it ended (see `extractive`)."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Sequence

from workbench.chronicle.summarizers import tool_calls
from workbench.chronicle.summarizers.last_words import Parts, parts_of
from workbench.chronicle.summarizers.layout import Block, Item
from workbench.chronicle.summarizers.markdown import code, inline, listed, name
from workbench.chronicle.summarizers.spoken import spoken
from workbench.chronicle.summarizers.told import Told
from workbench.chronicle.summarizers.words import flat, shortened

ACTS = frozenset({"message", "thought", "tool call", "tool result"})
_TARGET = 90
_OUTCOME = 140
_LONG_COMMAND = 60
"""A longer command is called by what its caller says it is for."""
_NAMED_TARGETS = 4
"""Targets of one verb that are named in a row of actions; more are counted."""
_REMARK = 60
"""A shorter word of a person says something only if it sounds like it."""
_SEVERAL = 3
_MOST_FILES = 12

# The line of a test runner, a compiler or a version control system that says how it came out.
_OUTCOME_LINE = re.compile(
    r"(?i)\b\d+ (?:passed|failed|errors?|tests?|warnings?|files? changed)\b|^(?:FAILED|ERROR|OK|PASS|FAIL)\b"
    r"|\b(?:Traceback|[A-Za-z]*(?:Error|Exception)):? |^error[:\[]|^fatal: "
)
_TELLING = re.compile(
    r"(?i)\b(?:decid|agree|approv|reject|block|because|found|wrong|broken|fix|done|finished|open question"
    r"|not checked|assum|must|instead|risk|hand-?off|merge|revert|roll)|\?|\d"
)


def session_blocks(acts: Sequence[Told]) -> list[Block]:
    """The blocks of the acts: what happened in order, and which files were changed."""
    told = _Told(acts)
    blocks = [Block("What happened", told.items, "turn/turns")]
    if changed := _changed(told.changed):
        blocks.append(Block("Changed", [changed]))
    said = parts_of(acts[told.last_word].text) if told.last_word >= 0 else Parts([], [], [], "")
    decided = [Item(line, rank=1) for line in said.decided]
    left_open = [Item(line, "assumed, not checked: ", rank=0) for line in said.doubted]
    left_open += [Item(line, rank=0) for line in said.left_open]
    blocks.append(Block("Decided, by the last message", decided))
    blocks.append(Block("Left open, by the last message", left_open))
    return blocks


class _Told:
    """Acts in order, runs of tool calls between two messages drawn together."""

    def __init__(self, acts: Sequence[Told]) -> None:
        self.items: list[Item] = []
        self.changed: dict[str, None] = {}
        self._run: list[_Action] = []
        self._waiting: dict[str, deque[_Action]] = {}
        self.last_word = _last_word(acts)
        self._first_ask = next((at for at, each in enumerate(acts) if each.actor_kind == "human"), -1)
        for at, act in enumerate(acts):
            self._take(at, act)
        self._end_run()

    def _take(self, at: int, act: Told) -> None:
        if act.kind == "tool call":
            action = _Action(act)
            self._run.append(action)
            self._waiting.setdefault(act.tool, deque()).append(action)
            if act.action in tool_calls.CHANGES:
                for path in act.target.split(", "):
                    if path and "\n" not in path:
                        self.changed.setdefault(path)
        elif act.kind == "tool result":
            waiting = self._waiting.get(act.tool)
            if waiting:
                waiting.popleft().answered(act)
        elif act.kind == "message" and (act.actor_kind != "system" or not act.category):
            self._end_run()
            self._said(at, act)

    def _said(self, at: int, act: Told) -> None:
        speaker = f"{name(act.actor)} (sub-agent)" if act.sub_agent else name(act.actor)
        if at == self.last_word:
            self.items.append(Item(_at_the_end(act.text), f"{speaker}, at the end:", rank=0, quote=True))
            return
        if at == self._first_ask:
            rank = 0
        elif act.actor_kind == "human":
            rank = 1 if len(act.text) > _REMARK or _TELLING.search(act.text) else 4
        elif act.sub_agent or act.actor_kind == "system":
            rank = 5
        else:
            rank = 2 if _TELLING.search(act.text) else 4
        self.items.append(Item(spoken(act.text), f"{speaker}: ", rank=rank))

    def _end_run(self) -> None:
        run, self._run = self._run, []
        by_actor: dict[str, list[_Action]] = {}
        for action in run:
            by_actor.setdefault(action.actor, []).append(action)
        for actor, actions in by_actor.items():
            words = _drawn_together(actions)
            if words:
                weighty = any(each.failed or each.action in tool_calls.CHANGES for each in actions)
                self.items.append(Item("", f"{name(actor)} {words}.", rank=3 if weighty else 5))


class _Action:
    """One tool call and how it came out."""

    __slots__ = ("action", "actor", "failed", "outcome", "purpose", "target", "tool")

    def __init__(self, call: Told) -> None:
        self.actor = call.actor
        self.action = call.action or tool_calls.CALLED
        self.target = flat(call.target)
        self.purpose = flat(call.why) if len(self.target) > _LONG_COMMAND or "\n" in call.target else ""
        self.tool = call.tool
        self.failed = False
        self.outcome = ""

    def answered(self, result: Told) -> None:
        """Take the tool's answer."""
        self.failed = result.failed
        if self.action == tool_calls.RAN or self.failed:
            self.outcome = _outcome(result.text, self.failed, self.action == tool_calls.RAN)


def _is_word_of_an_agent(act: Told) -> bool:
    return act.kind == "message" and act.actor_kind == "agent" and not act.sub_agent


def _last_word(acts: Sequence[Told]) -> int:
    """Which act is the last message of an agent that is more than a remark; else its last one; -1 if none."""
    messages = [at for at, each in enumerate(acts) if _is_word_of_an_agent(each)]
    for at in reversed(messages[-6:]):
        if len(acts[at].text) > 240:
            return at
    return messages[-1] if messages else -1


def _outcome(text: str, failed: bool, ran: bool) -> str:
    """The line of an output that says how it came out; empty if none does."""
    lines = [line for each in text.split("\n") if (line := flat(each))]
    for line in reversed(lines[-40:] if ran else ()):
        if _OUTCOME_LINE.search(line):
            return shortened(line.strip("= "), _OUTCOME)
    # A program ends with what went wrong, a tool begins with it.
    return shortened(lines[-1 if ran else 0], _OUTCOME).rstrip(".") if failed and lines else ""


def _at_the_end(text: str) -> str:
    """The closing message without what stands in blocks of its own."""
    parts = parts_of(text)
    return parts.rest if (parts.decided or parts.doubted or parts.left_open) and parts.rest else text


def _changed(paths: Iterable[str]) -> Item | None:
    """The changed files in one line, if they are several."""
    known = list(paths)
    if len(known) < _SEVERAL:
        return None
    more = len(known) - _MOST_FILES
    named = [code(path, _TARGET) for path in known[:_MOST_FILES]]
    return Item("", listed([*named, *([f"{more} more"] if more > 0 else [])]), rank=4)


def _drawn_together(actions: Sequence[_Action]) -> str:
    """`read a and b, edited c and ran d (failed: …)`."""
    order: dict[str, list[_Action]] = {}
    for action in actions:
        order.setdefault(action.action, []).append(action)
    parts = []
    for verb, each in order.items():
        if verb == tool_calls.PLANNED:
            continue
        if verb == tool_calls.CALLED:
            tools = Counter(action.tool or "a tool" for action in each)
            parts.append("called " + listed([_times(name(tool), count) for tool, count in tools.items()]))
        else:
            parts.append(f"{verb} {_targets(each)}")
    return listed(parts)


def _targets(actions: Sequence[_Action]) -> str:
    """Each target once, those that failed or came out somehow with how."""
    by_target: dict[str, list[_Action]] = {}
    for action in actions:
        by_target.setdefault(action.target or action.purpose, []).append(action)
    said = []
    ranked = sorted(by_target, key=lambda target: not any(_says(each) for each in by_target[target]))
    named = set(ranked[:_NAMED_TARGETS])
    for target, same in by_target.items():
        if target in named:
            said.append(_target(target, same))
    if len(by_target) > len(said):
        said.append(f"{len(by_target) - len(said)} more")
    return listed(said)


def _says(action: _Action) -> bool:
    return action.failed or bool(action.outcome)


def _target(target: str, same: Sequence[_Action]) -> str:
    last = same[-1]
    words = f"“{inline(shortened(last.purpose, _TARGET))}”" if last.purpose else code(target, _TARGET)
    remarks = []
    if len(same) > 1:
        remarks.append(f"{len(same)} times")
    if last.action == tool_calls.RAN:
        if last.failed:
            remarks.append(f"failed: {inline(last.outcome)}" if last.outcome else "failed")
        elif last.outcome:
            remarks.append(inline(last.outcome))
    elif failed := [action for action in same if action.failed]:
        why = f": {inline(failed[-1].outcome)}" if failed[-1].outcome else ""
        tries = "failed" if len(failed) == len(same) else f"{_times('', len(failed)).strip()} in vain"
        remarks.append(tries + why)
    return f"{words} ({', '.join(remarks)})" if remarks else words


def _times(what: str, count: int) -> str:
    return what if count == 1 and what else f"{what} {'once' if count == 1 else f'{count} times'}"
