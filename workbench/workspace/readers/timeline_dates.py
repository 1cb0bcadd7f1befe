"""Dates and times as people type them: `2026-03-02 14:00`, `2026-03`, `14:30`, `yesterday`, `3 days ago`."""

from __future__ import annotations

import re
from calendar import month_name, monthrange
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from workbench.log.times import EPOCH

_TICK = timedelta(microseconds=1)
_MOST_DIGITS = 6

_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?", re.ASCII)
_MONTH = re.compile(r"(\d{4})-(\d{2})", re.ASCII)
_AGO = re.compile(
    r"(an?|\d+)\s*(s|sec|min|h|d|w|mo|y|second|minute|hour|day|week|month|year)s?\s+ago", re.ASCII
)
_DAYS = {"today": 0, "yesterday": -1, "tomorrow": 1}
_CLOCK_UNITS = {"s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hour": 3600}
_DAY_UNITS = {"d": 1, "day": 1, "w": 7, "week": 7}
_MONTH_UNITS = {"mo": 1, "month": 1, "y": 12, "year": 12}


def parse_moment(text: str, zone: tzinfo, now: datetime) -> datetime | None:
    """The moment that a text names, in UTC; None for a text that names none.

    A time without an offset is of `zone`, a day without a time its first moment there. Days, weeks, months
    and years ago are days of the calendar at the same hour; hours, minutes and seconds are exact.
    """
    text = " ".join(text.lower().split())
    try:
        return _moment(text, zone, now.astimezone(zone))
    except (ValueError, OverflowError):
        return None


_DATED = re.compile(r"(\d{4})-(\d{1,2})(?:-(\d{1,2})(?:[t ](\d{1,2}):(\d{2}))?)?", re.ASCII)
_HOURS = re.compile(r"(?:(?:today|yesterday|tomorrow) )?(\d{1,2}):(\d{2})(?::\d{2})?", re.ASCII)


def impossible(text: str) -> str:
    """Why a text that looks like a date or a time names none: “2026 has no 30 February”; empty if it does not
    look so."""
    text = " ".join(text.lower().split())
    hours = _HOURS.fullmatch(text)
    if hours:
        return _no_time(int(hours[1]), int(hours[2]))
    dated = _DATED.match(text)
    if dated is None:
        return ""
    year, month = int(dated[1]), int(dated[2])
    if year < 1:
        return "years go from 1 to 9999"
    if not 1 <= month <= 12:
        return f"there is no month {month}"
    if dated[3] and not 1 <= int(dated[3]) <= monthrange(year, month)[1]:
        return f"{year} has no {int(dated[3])} {month_name[month]}"
    return _no_time(int(dated[4]), int(dated[5])) if dated[4] else ""


def _no_time(hour: int, minute: int) -> str:
    return f"no day has a time {hour}:{minute:02}" if hour > 23 or minute > 59 else ""


def _moment(text: str, zone: tzinfo, now: datetime) -> datetime | None:
    if text == "now":
        return now.astimezone(UTC)
    ago = _AGO.fullmatch(text)
    if ago:
        if len(ago[1]) > _MOST_DIGITS:
            return None
        return _before(now, 1 if ago[1] in ("a", "an") else int(ago[1]), ago[2])
    word, _, rest = text.partition(" ")
    if word in _DAYS:
        at = _clock(rest) if rest else time()
        return None if at is None else _local(now.date() + timedelta(days=_DAYS[word]), at, zone)
    at = _clock(text)
    if at is not None:
        return _local(now.date(), at, zone)
    month = _MONTH.fullmatch(text)
    if month:
        return _local(date(int(month[1]), int(month[2]), 1), time(), zone)
    if len(text) < len("2026-03-02") or not text[:4].isdecimal() or text[4] != "-":
        return None
    read = datetime.fromisoformat(text.upper())
    if read.tzinfo is None:
        return _local(read.date(), read.time(), zone)
    return _utc(read)


def _clock(text: str) -> time | None:
    found = _CLOCK.fullmatch(text)
    return None if found is None else time(int(found[1]), int(found[2]), int(found[3] or 0))


def _before(now: datetime, number: int, unit: str) -> datetime:
    if unit in _CLOCK_UNITS:
        return now.astimezone(UTC) - timedelta(seconds=number * _CLOCK_UNITS[unit])
    if unit in _DAY_UNITS:
        then = now.date() - timedelta(days=number * _DAY_UNITS[unit])
    else:
        months = now.year * 12 + now.month - 1 - number * _MONTH_UNITS[unit]
        first = date(months // 12, months % 12 + 1, 1)
        following = first.replace(day=28) + timedelta(days=4)
        last = (following - timedelta(days=following.day)).day
        then = first.replace(day=min(now.day, last))
    assert now.tzinfo is not None
    return _local(then, now.time(), now.tzinfo)


def _local(day: date, at: time, zone: tzinfo) -> datetime:
    """A time on the wall; one that a change of clocks leaves out counts from before it."""
    return _utc(datetime.combine(day, at, zone))


def _utc(moment: datetime) -> datetime:
    # Through the difference: at the ends of the calendar UTC may have a year that no datetime has.
    offset = moment.utcoffset() or timedelta(0)
    return EPOCH + ((moment.replace(tzinfo=UTC) - offset) - EPOCH) // _TICK * _TICK


# From when until when

_BETWEEN = re.compile(r"\s*(?:\.\.+|…|\s[-–—]\s|\s(?:to|until)\s)\s*")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_MINUTE = re.compile(r".*\d:\d\d", re.ASCII)
_SECOND = re.compile(r".*\d:\d\d:\d\d", re.ASCII)


def parse_range(text: str, zone: tzinfo, now: datetime) -> tuple[datetime | None, datetime | None] | None:
    """The time that a text such as `2026-03-01 .. 2026-03-04` names: from when, and until before when.

    Both ends are meant whole: the last day is in it, `14:30` ends when its minute does. One side may be
    left out; a single date is that day, month or minute. None for a text that names no time.
    """
    ends = _BETWEEN.split(f" {text.strip()} ")
    if len(ends) > 2 or not any(end.strip() for end in ends):
        return None
    first, last = ends[0].strip(), ends[-1].strip()
    since = parse_moment(first, zone, now) if first else None
    until = _end(last, zone, now) if last else None
    if (first and since is None) or (last and until is None):
        return None
    if since is not None and until is not None and until <= since:
        return None
    return since, until


def _end(text: str, zone: tzinfo, now: datetime) -> datetime | None:
    """When what a text names is over."""
    moment = parse_moment(text, zone, now)
    if moment is None:
        return None
    local = moment.astimezone(zone)
    try:
        if _DAY.fullmatch(text) or text.lower() in _DAYS:
            return _local(local.date() + timedelta(days=1), time(), zone)
        if _MONTH.fullmatch(text):
            return _local((local.date().replace(day=28) + timedelta(days=4)).replace(day=1), time(), zone)
        if _SECOND.fullmatch(text):
            return moment + timedelta(seconds=1)
        if _MINUTE.fullmatch(text):
            return moment + timedelta(minutes=1)
    except (ValueError, OverflowError):
        return None
    return moment


def range_text(since: datetime | None, until: datetime | None, zone: tzinfo) -> str:
    """A range as `parse_range` takes it, in the least words that name it; times to the second."""
    first = None if since is None else _wall(since, zone)
    last = None if until is None else _wall(until, zone)
    if all(end is None or end.time() == time() for end in (first, last)):
        days = (
            "" if first is None else str(first.date()),
            "" if last is None else str(last.date() - timedelta(days=1)),
        )
        return days[0] if days[0] == days[1] else " .. ".join(days).strip()
    texts = ("" if first is None else _short(first), "" if last is None else _short_end(last))
    return texts[0] if texts[0] == texts[1] else " .. ".join(texts).strip()


def _wall(moment: datetime, zone: tzinfo) -> datetime:
    try:
        return moment.astimezone(zone).replace(tzinfo=None)
    except (OverflowError, ValueError):
        return moment.replace(tzinfo=None)


def _short(moment: datetime) -> str:
    return moment.isoformat(" ", "seconds" if moment.second else "minutes")


def _short_end(until: datetime) -> str:
    """The last second, or minute, before a moment."""
    if until.microsecond or until.second:
        return (until - timedelta(seconds=0 if until.microsecond else 1)).isoformat(" ", "seconds")
    return (until - timedelta(minutes=1)).isoformat(" ", "minutes")
