"""What is in a site's folder, and what is not taken from it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tenantry_site.building import site_files
from tenantry_site.building.site_files import MARKER, Scan, scan


def put(folder: Path, *paths: str, content: bytes = b"x") -> None:
    """Writes files with their folders."""
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def codes(found: Scan) -> list[tuple[str, str]]:
    return [(reported.code, reported.path) for reported in found.diagnostics]


def test_files_are_listed_by_their_paths_in_order(tmp_path: Path) -> None:
    """Red when the order is the disk's: two builds would differ."""
    put(tmp_path, "z.md", "a/b/c.mdx", "a/a.png", "site.json")
    found = scan(tmp_path)
    assert list(found.entries) == ["a/a.png", "a/b/c.mdx", "site.json", "z.md"]
    assert found.entries["z.md"].size == 1
    assert found.diagnostics == []


def test_what_is_no_source_is_passed_over(tmp_path: Path) -> None:
    """Hidden files, installed packages, and earlier builds: in silence."""
    put(tmp_path, "a.md", ".git/config", ".env", "node_modules/x/readme.md")
    put(tmp_path, f"public/{MARKER}", "public/index.html", "sub/.hidden.md")
    found = scan(tmp_path)
    assert list(found.entries) == ["a.md"]
    assert found.diagnostics == []


def test_no_link_leads_out_of_the_folder(tmp_path: Path) -> None:
    """Red when links are followed: a page of a pull request could publish the machine's own files."""
    site = tmp_path / "site"
    put(tmp_path, "secret.md", "elsewhere/b.md", "site/real.md", "site/.git/config")
    (site / "out.md").symlink_to(tmp_path / "secret.md")
    (site / "folder").symlink_to(tmp_path / "elsewhere")
    (site / "up.md").symlink_to("../secret.md")
    (site / "hidden.md").symlink_to(".git/config")
    (site / "loop.md").symlink_to("loop.md")
    (site / "nowhere.md").symlink_to("missing.md")
    (site / "alias.md").symlink_to("real.md")
    (site / "inner").symlink_to(".")
    found = scan(site)
    assert list(found.entries) == ["alias.md", "real.md"]
    assert found.entries["alias.md"].real_path == str(site / "real.md")
    assert codes(found) == [
        ("FILE004", each) for each in ("folder", "hidden.md", "inner", "loop.md", "nowhere.md", "out.md", "up.md")
    ]


def test_a_sibling_whose_name_begins_alike_is_outside(tmp_path: Path) -> None:
    """Red when paths are compared by their beginnings: /site-old is not in /site."""
    put(tmp_path, "site-old/a.md", "site/b.md")
    (tmp_path / "site" / "a.md").symlink_to(tmp_path / "site-old" / "a.md")
    assert list(scan(tmp_path / "site").entries) == ["b.md"]


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    put(tmp_path, "real/a.md")
    (tmp_path / "docs").symlink_to("real")
    assert list(scan(tmp_path / "docs").entries) == ["a.md"]


def test_pipes_and_sockets_are_reported_and_left(tmp_path: Path) -> None:
    """Red when they are opened: the build would wait for ever."""
    os.mkfifo(tmp_path / "pipe.md")
    found = scan(tmp_path)
    assert found.entries == {}
    assert codes(found) == [("FILE005", "pipe.md")]


@pytest.mark.parametrize("name", [b"a\nb.md", b"a\\b.md", b"\xff.md", "a\u202eb.md".encode()])
def test_names_that_cannot_be_addresses_are_reported(tmp_path: Path, name: bytes) -> None:
    """Also one that is not UTF-8, and one that is shown backwards; what is reported can be printed."""
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))).write_bytes(b"x")
    found = scan(tmp_path)
    assert found.entries == {}
    assert [code for code, _ in codes(found)] == ["FILE005"]
    assert found.diagnostics[0].path.isprintable()


def test_folders_that_cannot_be_read_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the path of the machine. (Root may read anything, so the refusal is made up.)"""
    put(tmp_path, "open/a.md", "shut/b.md")
    real = os.scandir

    def refusing(place: str) -> object:
        if str(place).endswith("shut"):
            raise PermissionError(13, "Permission denied", str(place))
        return real(place)

    monkeypatch.setattr(site_files.os, "scandir", refusing)
    found = scan(tmp_path)
    assert list(found.entries) == ["open/a.md"]
    assert codes(found) == [("FILE003", "shut")]
    assert str(tmp_path) not in str(found.diagnostics)


def test_a_folder_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert codes(scan(tmp_path / "missing")) == [("FILE003", "")]


def test_numbers_and_depth_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when a build in the wrong folder reads a whole disk."""
    monkeypatch.setattr(site_files, "FILES_LIMIT", 5)
    monkeypatch.setattr(site_files, "DEPTH_LIMIT", 3)
    put(tmp_path, "d/d/d/deep.md", "d/d/d/d/too-deep.md")
    found = scan(tmp_path)
    assert list(found.entries) == ["d/d/d/deep.md"]
    assert codes(found) == [("FILE006", "d/d/d/d")]
    put(tmp_path, *(f"{number}.md" for number in range(9)))
    found = scan(tmp_path)
    assert len(found.entries) == 5
    assert codes(found) == [("FILE006", "")]
