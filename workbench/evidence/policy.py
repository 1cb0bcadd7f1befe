"""Which source files are copied (contract workspace, "Manifest", `[artifacts]`)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

EXTENSIONS = frozenset("csv ini js json jsonl jsx log md py sh sql toml ts tsx tsv txt typ yaml yml".split())
"""Extensions that are copied where the manifest names none."""

COPY_SIZE_MB = 25
"""The largest file that is copied where the manifest names no other."""

MEGABYTE = 1_000_000
"""Bytes, as every size that is shown counts them."""

MAX_SOURCE_FILES = 100
"""Of one observation; whoever takes them in refuses more."""


class EvidencePolicy(NamedTuple):
    """What becomes of the source files that an observation names."""

    allowed_extensions: frozenset[str] = EXTENSIONS
    """Folded, without their dot: see `folded_extension`."""
    max_copy_bytes: int = COPY_SIZE_MB * MEGABYTE
    pointer_only_enabled: bool = True
    """Whether a file that is not copied is at least pointed at; otherwise it is `skipped`."""
    follow_symlinks: bool = False
    """Whether a path may end in a symbolic link; links on the way to it are always followed."""

    @classmethod
    def of(
        cls,
        allowed_extensions: Iterable[str] | None = None,
        max_copy_size_mb: float | None = None,
        pointer_only_enabled: bool = True,
        follow_symlinks: bool = False,
    ) -> EvidencePolicy:
        """The policy of the manifest's values, in its units; None for what it does not say."""
        extensions = (
            EXTENSIONS if allowed_extensions is None else frozenset(map(folded_extension, allowed_extensions))
        )
        size = COPY_SIZE_MB if max_copy_size_mb is None else max_copy_size_mb
        return cls(extensions - {""}, int(size * MEGABYTE), pointer_only_enabled, follow_symlinks)

    def allows(self, path: str) -> bool:
        """Whether a file of this name is of a kind that is copied."""
        return folded_extension(os.path.splitext(path)[1]) in self.allowed_extensions  # noqa: PTH122


def folded_extension(text: str) -> str:
    """An extension as the policy compares it: no blanks around it, no dot before it, case folded."""
    return text.strip().removeprefix(".").casefold()
