"""How large a section may be, whoever writes it: a summarizer, a file, a program by hand (contract, §8)."""

from __future__ import annotations

MAX_PROSE = 100_000
"""Characters that the prose of one section may have. Longer prose is refused and never cut: half of what
was written would be said by nobody."""
MAX_PINS = 10_000
"""Keys of one section: a summarizer that asks a model again and again for one stretch has one for each."""
MAX_PIN_KEY = 500
"""Characters of the key of a pin."""
MAX_AUTHOR = 200
"""Characters of a summarizer's name, and of its version."""
