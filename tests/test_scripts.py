"""The scripts behind ``make types`` and ``make test-matrix``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import matrix, verify_types


def interpreter(path: Path, answer: str) -> Path:
    """A program that answers as a Python of some version would."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{answer}\n")
    path.chmod(0o755)
    return path


def test_interpreters_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the PATH first; a shim that refuses is passed over; of pyenv the newest."""
    versions = tmp_path / "pyenv" / "versions"
    named = interpreter(tmp_path / "bin" / "python3.12", "echo 3.12.4")
    interpreter(tmp_path / "bin" / "python3.13", "exit 127")
    interpreter(versions / "3.13.2" / "bin" / "python", "echo 3.13.2")
    newest = interpreter(versions / "3.13.10" / "bin" / "python", "echo 3.13.10")
    interpreter(versions / "3.14.0" / "bin" / "python", "echo 3.13.99")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    assert matrix.find("3.12") == named
    assert matrix.find("3.13") == newest
    assert matrix.find("3.14") is None


@pytest.mark.parametrize("share", [0.99, 0.5])
def test_a_missing_type_is_named(
    share: float, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Below the limit the run fails, and says what is missing and why; at it nothing is listed."""
    symbols = [
        {"name": "x.known", "isExported": True, "isTypeKnown": True, "diagnostics": []},
        {"name": "x.bad", "isExported": True, "isTypeKnown": False, "diagnostics": [{"message": "no\n type"}]},
        {"name": "x._own", "isExported": False, "isTypeKnown": False, "diagnostics": []},
    ]
    printed = json.dumps({"typeCompleteness": {"completenessScore": share, "symbols": symbols}})
    made = [sys.executable, "-c", f"print({printed!r})"]
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda _, **options: popen(made, **options))
    if share < verify_types.LEAST:
        with pytest.raises(SystemExit, match="below 99%"):
            verify_types.main()
        assert capsys.readouterr().out.count("  x.bad: no type\n") == len(verify_types.PACKAGES)
    else:
        verify_types.main()
        assert "x." not in capsys.readouterr().out
