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


def test_the_file_of_another_user(tmp_path: Path) -> None:
    """As root leaves it after a restore. Red when SQLite's words are all: unable to open database file."""
    file = tmp_path / "store.db"
    migrate(f"sqlite:///{file}")
    if os.geteuid() == 0:
        os.chown(file, 65_534, 65_534)
    file.chmod(0o600 if os.geteuid() == 0 else 0)
    for words in ("group list", "doctor"):
        done = run(*words.split(), TENANTRY_DATABASE=f"sqlite:///{file}")
        said = done.stdout + done.stderr
        assert f"cannot be opened: permission denied for this user (uid {os.geteuid()}): {file} belongs to uid" in said
        assert "Check --database" not in said


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("size=1200k", "has no space left on its disk"),
        ("ro", "is on a read-only file system: mount it writable"),
    ],
)
def test_the_file_system(options: str, says: str, tmp_path: Path) -> None:
    """Red when SQLite's words are all: disk I/O error, unable to open database file."""
    file, mounted = tmp_path / "store.db", tmp_path / "mounted"
    migrate(f"sqlite:///{file}")
    mounted.mkdir()
    script = """
        mount -t tmpfs -o size=1200k store "$1"
        cp "$2" "$1/store.db"
        if [ "$3" = ro ]; then mount -o remount,ro "$1"; else head -c 2M /dev/zero > "$1/filler" || true; fi
        exec "$4" -m tenantry doctor
    """
    kept = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if subprocess.run([*kept, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine gives no mounts of our own")
    done = subprocess.run(
        [*kept, "sh", "-ec", script, "sh", mounted, file, options, sys.executable],
        env={**os.environ, "TENANTRY_DATABASE": f"sqlite:///{mounted}/store.db"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    (store,) = [line for line in done.stdout.splitlines() if line.startswith("store ")]
    assert says in store, done
    assert "Check --database" not in store
