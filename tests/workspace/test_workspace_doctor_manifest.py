"""What doctor says of the manifest."""

from __future__ import annotations

from pathlib import Path

from workbench.workspace import Workspace


def test_a_good_manifest_is_nothing_to_speak_of(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w", timezone="UTC", owner="ada") as workspace:
        assert [each.code for each in workspace.doctor().findings] == []


def test_a_key_that_nobody_knows_is_named_with_its_line(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w", timezone="UTC", owner="ada") as workspace:
        path = workspace.layout.manifest
        path.write_text(path.read_text() + '\n[settings.colour]\nhue = "blue"\n')
        (finding,) = workspace.doctor().findings
        assert (finding.severity, finding.code) == ("info", "manifest_unknown_keys")
        assert "settings.colour" in finding.meaning and "line " in finding.meaning
        assert "manifest check" in finding.command


def test_one_that_became_useless_meanwhile_is_critical(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w", timezone="UTC", owner="ada") as workspace:
        workspace.layout.manifest.write_text("title = \n")
        report = workspace.doctor()
        assert [each.code for each in report.findings] == ["manifest_unusable"]
        assert not report.ok
        assert workspace.owner == "ada"


def test_what_closes_nothing_is_a_warning(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w", timezone="UTC", owner="ada") as workspace:
        path = workspace.layout.manifest
        path.write_text(
            path.read_text() + '\n[chronicle.close]\nsession = ["unit.closd"]\nsesion = ["unit.closed"]\n'
        )
        (finding,) = workspace.doctor().findings
        assert (finding.severity, finding.code) == ("warning", "manifest_closing_unknown")
        assert "chronicle.close.session" in finding.meaning and "chronicle.close.sesion" in finding.meaning
