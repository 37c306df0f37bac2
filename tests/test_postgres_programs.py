"""PostgreSQL starts for root from an installation that no other user can reach."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from engines import postgres_programs
from engines.postgres import running
from engines.postgres_programs import (
    can_run,
    create_postgres_home,
    create_reachable_folder,
    installed_programs,
    link_tree,
)

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root starts PostgreSQL as another user")


@pytest.fixture
def private_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The installed package, linked into a folder of mode 0700; one program and one library are root's alone."""
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    installed = installed_programs().parents[1]
    for name in (installed.name, f"{installed.name}.libs"):
        link_tree(installed.parent / name, private / name)
    package = private / installed.name
    for path in (package / "pginstall" / "bin" / "postgres", next((private / f"{installed.name}.libs").iterdir())):
        content = path.read_bytes()  # a file of its own: the mode of a hard link is that of the installed file
        path.unlink()
        path.write_bytes(content)
        path.chmod(0o700)
    monkeypatch.setattr(postgres_programs, "_installed_package", lambda: package)
    monkeypatch.delenv("TEST_POSTGRES_URL", raising=False)
    return package


def test_a_server_starts_from_an_unreachable_installation(private_package: Path) -> None:
    """Red when the programs are run where they are installed, and when files that are root's alone are linked."""
    assert not can_run(private_package / "pginstall" / "bin" / "postgres", "nobody")
    with running() as server:
        assert server.execute("select 1") == "1\n"


def test_a_server_starts_when_the_temporary_folder_is_private(
    private_package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TMPDIR may lie in root's home. Red when the folder is made there: its owner could not enter it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = create_reachable_folder("nobody", prefix="tenantry-test-")
    try:
        assert not folder.is_relative_to(tmp_path)
    finally:
        folder.rmdir()
    home = create_postgres_home()
    try:
        assert home.user is not None
        assert can_run(home.programs / "initdb", home.user)
    finally:
        home.remove()


def test_nothing_is_linked_where_it_can_be_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation that the other user reaches is used as it is. Red when every start makes links."""
    monkeypatch.setattr(postgres_programs, "can_run", lambda *_: True)
    home = create_postgres_home()
    try:
        assert home.programs == installed_programs()
    finally:
        home.remove()
