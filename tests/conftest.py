"""What holds for every test."""

from __future__ import annotations

import os

from hypothesis import settings

# The same examples on every run: what is green stays green. `HYPOTHESIS_PROFILE=search` looks further.
settings.register_profile("repeatable", derandomize=True, max_examples=50)
settings.register_profile("search", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
