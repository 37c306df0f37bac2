"""A file or folder that the user of a command may not read is named in one line, without a traceback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engines.samples import sampled
from tenantry.database.migrations import migrate

COMMAND = [sys.executable, "-m", "tenantry"]
ORDINARY = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
"""Root without the right to read every file."""


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command as a user who may not read everything."""
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root reads every file, and this machine has no setpriv")
    command = [*ORDINARY, *COMMAND] if os.geteuid() == 0 else COMMAND
    return subprocess.run(
        [*command, *arguments],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


CASES = {
    "a dashboard": ("dashboards check {folder}", "sales.yaml", {}),
    "the settings": ("serve", "tenantry.toml", {"TENANTRY_CONFIG": "{path}"}),
    "the folder of the settings": ("serve", "closed", {"TENANTRY_CONFIG": "{path}/tenantry.toml"}),
    "the folder of the keys": ("serve --keys {path}/tenantry.keys", "closed", {}),
    "the folder of the database": ("migrate --database sqlite:///{path}/a.db", "closed", {}),
    "a folder above the database": ("migrate --database sqlite:///{path}/b/a.db", "closed", {}),
}


@sampled(2)
@pytest.mark.parametrize("case", CASES)
def test_it_is_named_in_one_line(case: str, tmp_path: Path) -> None:
    """Red without the OSError in ``tenantry.cli``, and for the folder of the settings without ``error.filename``."""
    words, name, variables = CASES[case]
    path = tmp_path / name
    if path.suffix:
        path.write_text("title: Sales\n")
    else:
        path.mkdir()
    database = f"sqlite:///{tmp_path}/store.db"
    migrate(database)
    path.chmod(0)
    places = {"folder": tmp_path, "path": path}
    try:
        done = run(
            *words.format(**places).split(),
            TENANTRY_DATABASE=database,
            **{key: value.format(**places) for key, value in variables.items()},
        )
    finally:
        path.chmod(0o700)
    (line,) = done.stderr.splitlines()
    assert line.startswith("tenantry: ")
    assert str(path) in line
    assert "ermission denied" in line
    assert done.returncode in ((2,) if "settings" in case else (1, 3))
