"""A program that appends to a log and says on its standard output what it was promised.

Arguments: database, name of the writer, number of events that its stream is to hold in the end.
One line `position seq` follows each append that returned; a failed one is `error <code>`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.log.log_cases import TYPES, said, stream
from workbench.errors import WorkbenchError
from workbench.log import FOLDS, EventLog, EventTypeRegistry


def main(path: str, name: str, wanted: int) -> None:
    """Append until the stream holds `wanted` events, one durable transaction each."""
    with EventLog.open(Path(path), FOLDS, EventTypeRegistry(TYPES)) as log:
        seq = log.stream(stream(name)).last_seq()
        os.write(1, b"ready\n")
        while seq < wanted:
            try:
                receipt = log.append(
                    stream(name), [said(f"word {name} {seq + 1}", name)], expected_last_seq=seq
                )
            except WorkbenchError as error:
                os.write(1, f"error {error.code}\n".encode())
                raise
            seq = receipt.last_seq
            os.write(1, f"{receipt.last_position} {seq}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
