"""What a workspace refuses of its chronicles."""

from __future__ import annotations

from typing import ClassVar

from workbench.chronicle.errors import ChronicleError


class UnknownStream(ChronicleError, LookupError):
    """No stream of this name holds anything, or none that could have a chronicle."""

    code: ClassVar[str] = "unknown_stream"


class NotConsolidated(ChronicleError):
    """Nothing closes a stretch in streams of this kind, so that they have no sections to write."""

    code: ClassVar[str] = "not_consolidated"


class Untrusted(ChronicleError):
    """The manifest names a program or an endpoint that this user has not said may be used."""

    code: ClassVar[str] = "untrusted"
    exit_code: ClassVar[int] = 2
