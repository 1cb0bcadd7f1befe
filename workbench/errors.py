"""The one root of every error that a person may see.

Each face renders the same error its own way: one sentence, a hint, a code that scripts can match.
"""

from __future__ import annotations

from typing import ClassVar


class WorkbenchError(Exception):
    """A refusal or failure that a person can act on.

    `code` is the stable name that scripts match; `exit_code` is what the command line ends with
    (contract surfaces: 1 failed, 2 usage or configuration, 3 schema action needed); `retryable`
    says whether the same call may succeed later unchanged. The message never repeats a secret.
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1
    retryable: ClassVar[bool] = False

    def __init__(self, message: str = "", *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
