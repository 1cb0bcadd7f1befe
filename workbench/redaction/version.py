"""The engine's number, apart from the engine so that naming a filter's version does not load RE2."""

ENGINE = 7
"""Raised whenever the code (not a rule) may give another result for the same text."""
