"""A later version of this package, with one more step of the migrations.

``python -m tests.deploy.versions FOLDER`` writes it as a wheel.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

import tenantry
from tenantry.database.migrations import HEAD

NEXT = "9001"
VERSION = "9001.0"
STEP = '''"""One more column, which programs of the version before need not know."""

import sqlalchemy as sa
from alembic import op

revision = "{next}"
down_revision = "{head}"


def upgrade() -> None:
    op.add_column("user_groups", sa.Column("later", sa.Text))
'''


def write_later(folder: Path) -> None:
    """The package goes into ``folder``. It says that this version can use its tables."""
    package = folder / "tenantry"
    left_out = shutil.ignore_patterns("static", "demo", "__pycache__")
    shutil.copytree(Path(tenantry.__file__).parent, package, ignore=left_out)
    (package / "database/migrations/versions/9001_later.py").write_text(STEP.format(next=NEXT, head=HEAD))
    _replace(package / "database/migrations/__init__.py", f'HEAD: Final = "{HEAD}"', f'HEAD: Final = "{NEXT}"')
    _replace(package / "__init__.py", f'"{tenantry.__version__}"', f'"{VERSION}"')


def _replace(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def write_wheel(folder: Path) -> None:
    """Write a wheel of the later version, which names no packages that it needs."""
    about = f"tenantry-{VERSION}.dist-info"
    with tempfile.TemporaryDirectory() as built, ZipFile(folder / f"tenantry-{VERSION}-py3-none-any.whl", "w") as wheel:
        write_later(Path(built))
        for path in Path(built).rglob("*.*"):
            wheel.write(path, path.relative_to(built))
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: tenantry\nVersion: {VERSION}\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "".join(f"{name},,\n" for name in [*wheel.namelist(), f"{about}/RECORD"]))


if __name__ == "__main__":
    write_wheel(Path(sys.argv[1]))
