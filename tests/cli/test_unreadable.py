"""A file or folder that the user of a command may not read is named in one line, without a traceback."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from engines.terminal import CommandResult
from tenantry.database.migrations import migrate
from tests.cli.one_process import PYTHON, run_all

ORDINARY = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
"""Root without the right to read every file."""


def run(folder: Path, *lines: str) -> list[CommandResult]:
    """The commands as a user who may not read everything, with the store of this folder."""
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root reads every file, and this machine has no setpriv")
    python = [*ORDINARY, *PYTHON] if os.geteuid() == 0 else PYTHON
    return run_all(folder, *lines, python=python, variables={"TENANTRY_DATABASE": f"sqlite:///{folder}/store.db"})


CASES = {
    "sales.yaml": "dashboards check {folder}",
    "settings.toml": "TENANTRY_CONFIG={path} serve",
    "settings": "TENANTRY_CONFIG={path}/tenantry.toml serve",
    "keys": "serve --keys {path}/tenantry.keys",
    "database": "migrate --database sqlite:///{path}/a.db",
    "above-the-database": "migrate --database sqlite:///{path}/b/a.db",
}
"""A file or a folder, and a command that needs it."""


def test_it_is_named_in_one_line(tmp_path: Path) -> None:
    """Red without the OSError in ``tenantry.cli``, and for the folder of the settings without ``error.filename``."""
    migrate(f"sqlite:///{tmp_path}/store.db")
    paths = {name: tmp_path / name for name in CASES}
    for path in paths.values():
        if path.suffix:
            path.write_text("title: Sales\n")
        else:
            path.mkdir()
        path.chmod(0)
    try:
        results = run(tmp_path, *(CASES[name].format(folder=tmp_path, path=path) for name, path in paths.items()))
    finally:
        for path in paths.values():
            path.chmod(0o700)
    for (name, path), result in zip(paths.items(), results, strict=True):
        (line,) = result.err.splitlines()
        assert line.startswith("tenantry: ")
        assert str(path) in line
        assert "ermission denied" in line
        assert result.code in ((2,) if "settings" in name else (1, 3)), line


def test_the_file_of_another_user(tmp_path: Path) -> None:
    """As root leaves it after a restore. Red when SQLite's words are all: unable to open database file."""
    file = tmp_path / "store.db"
    migrate(f"sqlite:///{file}")
    if os.geteuid() == 0:
        os.chown(file, 65_534, 65_534)
    file.chmod(0o600 if os.geteuid() == 0 else 0)
    for result in run(tmp_path, "group list", "doctor"):
        said = result.out + result.err
        assert f"cannot be opened: permission denied for this user (uid {os.geteuid()}): {file} belongs to uid" in said
        assert "Check --database" not in said


FILE_SYSTEMS = {
    "full": "has no space left on its disk",
    "read-only": "is on a read-only file system: mount it writable",
}


def test_the_file_system(tmp_path: Path) -> None:
    """Red when SQLite's words are all: disk I/O error, unable to open database file."""
    file = tmp_path / "store.db"
    migrate(f"sqlite:///{file}")
    script = """
        for each in full read-only; do
            mkdir $each
            mount -t tmpfs -o size=1200k store $each
            cp store.db $each/
        done
        head -c 2M /dev/zero > full/filler 2> /dev/null || true
        mount -o remount,ro read-only
        exec "$@"
    """
    kept = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if subprocess.run([*kept, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine gives no mounts of our own")
    lines = [f"TENANTRY_DATABASE=sqlite:///{tmp_path}/{each}/store.db doctor" for each in FILE_SYSTEMS]
    results = run_all(tmp_path, *lines, python=[*kept, "sh", "-ec", script, "sh", *PYTHON])
    for says, result in zip(FILE_SYSTEMS.values(), results, strict=True):
        (store,) = [line for line in result.out.splitlines() if line.startswith("store ")]
        assert says in store, result
        assert "Check --database" not in store
