"""How a value of a manifest is named."""

from __future__ import annotations

At = tuple[str | int, ...]
"""Where a value stands: keys, and numbers of elements from 0."""
