"""What keeps a summarizer from writing (contract log-and-chronicle, "Ours"; workspace, "[chronicle]").

No message repeats what a model or a program was told, nor a key; what they said about themselves is filtered.
"""

from __future__ import annotations

from typing import ClassVar

from workbench.chronicle.errors import ChronicleError


class SummarizerError(ChronicleError):
    """Base of what a summarizer raises."""

    code: ClassVar[str] = "summarizer_failed"


class SummarizerConfiguration(SummarizerError):
    """The settings of a summarizer do not make one."""

    code: ClassVar[str] = "summarizer_configuration"
    exit_code: ClassVar[int] = 2


class ModelsMissing(SummarizerConfiguration):
    """The summarizer needs the extra `models`, which is not installed."""

    code: ClassVar[str] = "models_missing"


class SummarizerFailed(SummarizerError):
    """The program or the endpoint did not do it; the same may work later."""

    code: ClassVar[str] = "summarizer_failed"
    retryable: ClassVar[bool] = True


class SummarizerRefused(SummarizerError):
    """The endpoint refuses the request as it is: the key, the model's name, the address."""

    code: ClassVar[str] = "summarizer_refused"


class SummarizerTimeout(SummarizerError):
    """No prose within the time limit."""

    code: ClassVar[str] = "summarizer_timeout"
    retryable: ClassVar[bool] = True


class SummarizerOutput(SummarizerError):
    """What came back is no prose: nothing, too much, or no text."""

    code: ClassVar[str] = "summarizer_output"
    retryable: ClassVar[bool] = True


class SummarizerCancelled(SummarizerError):
    """Somebody stopped it; nothing of it was kept."""

    code: ClassVar[str] = "cancelled"
    retryable: ClassVar[bool] = True
