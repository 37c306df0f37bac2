"""The files of a site's folder, read one by one."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.hypothesis_profile import examples
from tenantry_site.building import site_files
from tenantry_site.building.site_files import SiteFiles, scan


def files(folder: Path) -> SiteFiles:
    return SiteFiles(scan(folder))


def test_text_is_text_and_the_rest_is_bytes(tmp_path: Path) -> None:
    """Pages and documents are decoded, images are not."""
    for name in ("a.md", "b.MDX", "c.json", "d.yaml", "e.yml", "f.png", "g"):
        (tmp_path / name).write_bytes("ü".encode())
    found = files(tmp_path)
    assert {name: found[name] for name in found} == {
        "a.md": "ü", "b.MDX": "ü", "c.json": "ü", "d.yaml": "ü", "e.yml": "ü", "f.png": b"\xc3\xbc", "g": b"\xc3\xbc",
    }  # fmt: skip
    assert "a.md" in found
    assert "z.md" not in found
    with pytest.raises(KeyError):
        found["z.md"]


def test_what_is_not_utf8_is_reported_with_its_line(tmp_path: Path) -> None:
    """And read all the same. Red when one wrong byte ends a build."""
    (tmp_path / "a.md").write_bytes(b"one\ntwo\nthree \xe9t\xe9\n")
    found = files(tmp_path)
    assert found["a.md"] == "one\ntwo\nthree \ufffdt\ufffd\n"
    assert found["a.md"] == "one\ntwo\nthree \ufffdt\ufffd\n"
    (reported,) = found.diagnostics
    assert (reported.code, reported.path, reported.line) == ("FILE001", "a.md", 3)
    (tmp_path / "a.md").write_bytes(b"mended")
    assert found["a.md"] == "mended"
    assert found.diagnostics == ()


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_raise(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.md").write_bytes(content)
    assert isinstance(files(tmp_path)["a.md"], str)


def test_what_is_too_large_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when a page of a gigabyte is read. It may also have grown since it was scanned."""
    monkeypatch.setattr(site_files, "PAGE_LIMIT", 10)
    (tmp_path / "a.md").write_bytes(b"0123456789")
    (tmp_path / "b.md").write_bytes(b"0123456789a")
    (tmp_path / "c.json").write_bytes(b"0123456789a")
    found = files(tmp_path)
    (tmp_path / "a.md").write_bytes(b"0123456789 and more")
    assert (found["a.md"], found["b.md"], found["c.json"]) == ("", "", "0123456789a")
    assert [(reported.code, reported.path) for reported in found.diagnostics] == [
        ("FILE002", "a.md"),
        ("FILE002", "b.md"),
    ]


def test_the_fix_for_a_large_page_has_the_limit(tmp_path: Path) -> None:
    """Red when the limit in the message is not that of the code."""
    (tmp_path / "a.md").write_bytes(b"a" * (site_files.PAGE_LIMIT + 1))
    found = files(tmp_path)
    assert found["a.md"] == ""
    assert found.diagnostics[0].fix == "Split it into files of less than 5 MiB."


def test_a_small_page_takes_little_memory(tmp_path: Path) -> None:
    """Red when a buffer for the largest page there may be is made for each."""
    (tmp_path / "a.md").write_bytes(b"# A page\n")
    found = files(tmp_path)
    tracemalloc.start()
    try:
        assert found["a.md"] == "# A page\n"
        assert tracemalloc.get_traced_memory()[1] < site_files.PAGE_LIMIT / 10
    finally:
        tracemalloc.stop()


def test_what_went_away_is_reported(tmp_path: Path) -> None:
    """Red when it raises: editors replace files while a page is read."""
    (tmp_path / "a.md").write_bytes(b"a")
    (tmp_path / "b.png").write_bytes(b"b")
    found = files(tmp_path)
    (tmp_path / "a.md").unlink()
    (tmp_path / "b.png").unlink()
    assert (found["a.md"], found["b.png"]) == ("", b"")
    assert [reported.code for reported in found.diagnostics] == ["FILE003", "FILE003"]
    assert str(tmp_path) not in str(found.diagnostics)


@pytest.mark.parametrize("level", ["file", "folder"])
def test_a_link_put_in_the_way_is_not_followed(tmp_path: Path, level: str) -> None:
    """Red when only the scan looks at links."""
    site = tmp_path / "site"
    (site / "sub").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.md").write_text("secret")
    (site / "sub" / "a.md").write_text("open")
    found = files(site)
    (site / "sub" / "a.md").unlink()
    if level == "file":
        (site / "sub" / "a.md").symlink_to(tmp_path / "other" / "a.md")
    else:
        (site / "sub").rmdir()
        (site / "sub").symlink_to(tmp_path / "other")
    assert found["sub/a.md"] == ""


def test_a_pipe_among_the_files_does_not_hold_us_up(tmp_path: Path) -> None:
    """Red when the file is opened as it comes: reading would wait for a writer."""
    (tmp_path / "a.md").write_bytes(b"a")
    found = files(tmp_path)
    (tmp_path / "a.md").unlink()
    os.mkfifo(tmp_path / "a.md")
    assert found["a.md"] == ""
