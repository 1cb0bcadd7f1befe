"""Shortening a text before it is filtered, so that no piece of a secret is left that no rule knows."""

from __future__ import annotations

import re

from workbench.redaction import default_filter

REACH = 16 * 1024
"""Characters behind the cut that are looked at: a key block of 16,384 bits, armour included."""

LONGEST_TOKEN = 3 * 65536
"""Characters behind the cut that are looked at if it falls into one unbroken token."""

_TOKEN = re.compile(rf"[A-Za-z0-9_.-]{{0,{LONGEST_TOKEN}}}")


def cut(text: str, limit: int) -> str:
    """The first `limit` characters of `text`, fewer if a secret stands across the cut: it goes whole.

    The filter itself says where a secret stands, so one in an address or in JSON without blanks is found
    too, and nothing else is lost. A key block that only its END line gives away is known if that line is
    within `REACH`. The result is not filtered: a secret that stands whole in it is still there.
    """
    if len(text) <= limit:
        return text
    token = _TOKEN.match(text, limit)
    end = max(limit + REACH, token.end() + 1 if token else 0)
    return text[: default_filter().cut_place(text[:end], limit)]
