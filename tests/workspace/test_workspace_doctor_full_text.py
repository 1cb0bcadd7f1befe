"""Full text of which a part is gone is found, whichever part, and built again."""

from __future__ import annotations

import shutil
from pathlib import Path

import apsw
import pytest

from tests.workspace.redaction_cases import act, begin, codes, new_root, unfiltered
from workbench.log.fulltext import match_expression
from workbench.log.streams import session_stream
from workbench.storage import fetch
from workbench.workspace import Workspace


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CHRONICLE_AUTO_MIGRATE", "CHRONICLE_DB"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = new_root(tmp_path_factory.mktemp("text") / "w")
    with unfiltered(root) as log:
        begin(log, "s")
        for number in range(2, 300):
            words = " ".join(f"word{number * each}" for each in range(1, 40))
            keyed = act("s", number, f"{words} everywhere", idempotency_key=f"k{number}")
            log.append(session_stream("s"), [keyed])
    return root


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM fulltext_idx",
        "DELETE FROM fulltext_idx WHERE segid = (SELECT max(segid) FROM fulltext_idx)",
        "DELETE FROM fulltext_idx WHERE pgno > 3",
        "DELETE FROM fulltext_docsize",
        "DELETE FROM fulltext_docsize WHERE id = 7",
        "DELETE FROM fulltext_data WHERE id > 10",
        "DELETE FROM fulltext_data WHERE id = (SELECT max(id) FROM fulltext_data)",
        "DELETE FROM fulltext_config",
        "DELETE FROM session_keys",
        "DELETE FROM session_keys WHERE position = 9",
    ],
)
def test_it_is_found_and_built_again(prepared: Path, tmp_path: Path, damage: str) -> None:
    root = tmp_path / "w"
    with Workspace.open(prepared) as source:
        source.log.database.compact()
    shutil.copytree(prepared, root)
    assert codes(root) == []
    connection = apsw.Connection(str(root / "chronicle.db"))
    connection.execute(damage)
    assert connection.total_changes() > 0
    connection.close()
    assert codes(root) != []
    with Workspace.open(root) as workspace:
        assert workspace.doctor(fix=True).ok
        with workspace.log.reader() as reader:
            sql = "SELECT count(*) FROM fulltext WHERE fulltext MATCH ?"
            assert fetch.value(reader, sql, (match_expression("everywhere"),)) == 298
            assert fetch.value(reader, "SELECT count(*) FROM session_keys") == 298
    assert codes(root) == []


def test_an_emptied_mark_of_the_write_ahead_log_heals_with_the_next_write(
    prepared: Path, tmp_path: Path
) -> None:
    root = Path(shutil.copytree(prepared, tmp_path / "w"))
    connection = apsw.Connection(str(root / "chronicle.db"))
    connection.execute("DELETE FROM log_chain")
    connection.close()
    with (
        Workspace.open(root) as workspace,
        workspace.jobs.run("doctor", "look"),
        workspace.log.reader() as reader,
    ):
        assert fetch.value(reader, "SELECT count(*) FROM log_chain") == 1
