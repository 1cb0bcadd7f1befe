"""Numbers, sizes, times and ages as a person reads them."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

THOUSANDS = "\u00a0"
"""Between groups of three digits; does not break over lines."""

_AGES = (
    (60, 1, "s"),
    (3600, 60, "min"),
    (86_400, 3600, "h"),
    (100 * 86_400, 86_400, "d"),
    (730 * 86_400, 2_629_800, "mo"),
)
_YEAR = 31_557_600


def number(value: int) -> str:
    """`12 418`: a whole number in groups of three digits."""
    return f"{value:,}".replace(",", THOUSANDS)


def counted(value: int, one: str, many: str = "") -> str:
    """`1 file`, `12 418 files`: a number and its noun; `many` defaults to `one` with an s."""
    return f"{number(value)} {one if value == 1 else many or one + 's'}"


def size(octets: int) -> str:
    """`812 B`, `41 KB`, `1.2 MB`: a number of bytes in powers of 1 000, two digits or more."""
    if abs(octets) < 1000:
        return f"{octets} B"
    amount = float(octets)
    for unit in ("KB", "MB", "GB", "TB", "PB"):
        amount /= 1000
        if abs(amount) < 9.95:
            return f"{amount:.1f} {unit}"
        if abs(amount) < 999.5 or unit == "PB":
            break
    return f"{number(round(amount))} {unit}"


def tokens(chars: int) -> int:
    """Estimated tokens of a text of so many characters: a quarter, rounded up."""
    return -(-chars // 4)


def _span(seconds: int) -> str:
    for below, unit, name in _AGES:
        if seconds < below:
            return f"{seconds // unit} {name}"
    return f"{seconds // _YEAR} y"


def age(then: datetime, now: datetime) -> str:
    """How long ago, for a right-aligned column: `now`, `12 s`, `4 min`, `3 h`, `2 d`, `5 mo`, `56 y`.

    A time to come is `in 2 h`. A time without a zone counts as UTC.
    """
    seconds = round((_aware(now) - _aware(then)).total_seconds())
    if seconds == 0:
        return "now"
    return _span(seconds) if seconds > 0 else f"in {_span(-seconds)}"


def ago(then: datetime, now: datetime) -> str:
    """The same for a sentence: `just now`, `4 min ago`, `in 2 h`."""
    short = age(then, now)
    if short == "now":
        return "just now"
    return short if short.startswith("in ") else f"{short} ago"


def exact(then: datetime, zone: tzinfo | None = None) -> str:
    """`2026-03-04 12:33:09 +01:00`: the moment to the second and the offset from UTC.

    `zone` is this machine's unless given. A moment that the zone cannot express (the ends of the
    calendar) keeps the zone it came with.
    """
    aware = _aware(then)
    try:
        local = aware.astimezone(zone)
    except (OverflowError, OSError, ValueError):
        local = aware
    offset = local.strftime("%z")
    text = local.replace(tzinfo=None, microsecond=0).isoformat(" ")
    return f"{text} {offset[:3]}:{offset[3:5]}" if local.utcoffset() else f"{text} UTC"


def exact_utc(then: datetime) -> str:
    """The moment to the second in UTC."""
    return exact(then, UTC)


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
