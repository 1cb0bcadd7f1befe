"""What a terminal would act on never leaves the command line raw."""

from __future__ import annotations

import json

import pytest

from workbench.cli.output import write_json


def test_json_escapes_controls_and_invisible_characters(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    value = {"actor": "a\u009b31m\x7f\u202e\u200bé日本"}
    write_json(value)
    written = capfdbinary.readouterr().out
    assert json.loads(written) == value
    assert "é日本".encode() in written
    assert b"\\u009b31m\\u007f\\u202e\\u200b" in written
