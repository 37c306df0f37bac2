"""A new optional field of a group: the files that it takes, and that everything carries it.

A copy of the package gets the field ``note`` by the edits below, and ``carried_field.py`` runs on the copy.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tenantry
from engines.warm_python import run
from tenantry.database.migrations import HEAD

PACKAGE = Path(tenantry.__file__).parent
ROOT = Path(__file__).parents[2]
PROGRAM = """
import runpy, sys
sys.dont_write_bytecode = True  # next to the package's own files, to which the copy has links
runpy.run_module("tests.groups.carried_field", run_name="__main__")
"""
NEXT = f"{int(HEAD) + 1:04}"
MIGRATION = f'''import sqlalchemy as sa
from alembic import op

revision = "{NEXT}"
down_revision = "{HEAD}"


def upgrade() -> None:
    op.add_column("user_groups", sa.Column("note", sa.Text))
'''
NEW_LINES = {
    "groups/user_group.py": [
        ("    expires_at: datetime | None = None", "    note: str | None = None"),
        ('            "expires_at": write_moment(self.expires_at),', '            "note": self.note,'),
    ],
    "groups/writes.py": [
        ("    expires_at: datetime | None = None", "    note: str | None = None"),
        ("    expires_at: datetime | Unchanged | None = UNCHANGED", "    note: str | Unchanged | None = UNCHANGED"),
    ],
    "groups/codec.py": [
        ('    "expires_at": _ISO_TIME,', '    "note": _or_null(_TEXT),'),
        ("    expires_at: int | None", "    note: str | None"),
    ],
    "database/tables/__init__.py": [
        ('    Column("updated_at", BigInteger, nullable=False),', '    Column("note", Text),')
    ],
    "database/migrations/__init__.py": [(f'HEAD: Final = "{HEAD}"', f'HEAD = "{NEXT}"')],
    "provisioning/limits.py": [('    "expires_at": check_moment,', '    "note": check_text,')],
    "provisioning/http/operations.py": [("    expires_at: ExpiresAt = None", "    note: str | None = None")],
}
"""By file of the package, new lines and the lines that they follow. The migration is a file more."""


def _copy(folder: Path, left_out: str = "") -> Path:
    """A copy of the package with the edits of all files but one."""
    copy = folder / "tenantry"
    shutil.copytree(PACKAGE, copy, copy_function=os.symlink)  # with what is compiled of the files that stay
    for name, lines in NEW_LINES.items():
        if name == left_out:
            continue
        text = (PACKAGE / name).read_text("utf-8")
        for before, line in lines:
            assert text.count(f"{before}\n") in (1, 2), f"{name}: {before!r}"
            text = text.replace(f"{before}\n", f"{before}\n{line}\n", 1)
        (copy / name).unlink()
        (copy / name).write_text(text, "utf-8")
    if left_out != "the migration":
        (copy / "database" / "migrations" / "versions" / f"{NEXT}_note.py").write_text(MIGRATION, "utf-8")
    return copy


def _run(folder: Path, left_out: str = "") -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(_copy(folder, left_out).parent), str(ROOT)])
    arguments = [sys.executable, "-c", PROGRAM, str(folder)]
    return run(arguments, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=300)


def test_a_new_field_is_carried_everywhere(tmp_path: Path) -> None:
    """By seven edited files and the migration. Red where a group is copied field by field and one is forgotten: in
    ``UPDATE`` of the SQL store, ``FIELDS`` of a file of groups, and ``CanaryGroups.provision`` (each broken once)."""
    assert len(NEW_LINES) + 1 <= 8
    ran = _run(tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) >= 40


@pytest.mark.slow
@pytest.mark.parametrize("left_out", [*NEW_LINES, "the migration"])
def test_a_forgotten_file_is_noticed(left_out: str, tmp_path: Path) -> None:
    """Control: without any one of these files the program fails."""
    ran = _run(tmp_path, left_out)
    assert ran.returncode != 0
