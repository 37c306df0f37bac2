"""Loading from disk: the file and what is beside it; whatever is wrong there is reported."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from engines.corpus import SITES, needs_corpus
from tenantry_site import loading
from tenantry_site.loading import load
from tests.config.reported import WHOLE


def test_the_files_of_the_folder_count(tmp_path: Path) -> None:
    """Red when a missing page is not reported, one that is there is, or hidden and installed files count as pages."""
    for path in ("index.mdx", "guides/second.md", "favicon.svg", "node_modules/a/page.md", ".git/x.md", ".hidden.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    (tmp_path / "site.json").write_text(json.dumps(WHOLE))
    config, found = load(tmp_path / "site.json")
    assert config is not None
    assert [(one.code, one.path) for one in found] == [("CFG065", "site.json"), ("CFG061", "site.json")]
    assert found[0].message.count(",") == 0


@pytest.mark.parametrize("kind", ["missing", "folder", "closed", "pipe", "nul", "loop"])
def test_what_cannot_be_read_is_reported(tmp_path: Path, kind: str) -> None:
    """Red when a file that cannot be read raises, hangs, or gives a model."""
    path = tmp_path / "site.json"
    if kind == "folder":
        path.mkdir()
    elif kind == "closed":
        path.write_text("{}")
        path.chmod(0)
        if os.access(path, os.R_OK):
            pytest.skip("this user may read everything")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "nul":
        path = tmp_path / "a\0b"
    elif kind == "loop":
        path.symlink_to(path)
    config, found = load(path)
    assert config is None
    assert [(one.code, one.severity, one.line) for one in found] == [("CFG001", "error", 0)]
    assert found[0].fix


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when a file without end is read whole."""
    monkeypatch.setattr(loading, "LARGEST", 100)
    (tmp_path / "site.json").write_text(" " * 101)
    assert [one.code for one in load(tmp_path / "site.json")[1]] == ["CFG001"]


def test_a_folder_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when files are called missing though not all were looked at."""
    monkeypatch.setattr(loading, "MOST_FILES", 2)
    for name in ("a.md", "b.md", "c.md"):
        (tmp_path / name).write_text("x")
    (tmp_path / "site.json").write_text(json.dumps(WHOLE))
    assert load(tmp_path / "site.json")[1] == ()


@needs_corpus
def test_real_sites_have_their_pages() -> None:
    """Red when a page of a real site, all of which exist, is told to be missing."""
    assert len(SITES) == 2
    for folder in SITES:
        (path,) = [path for path in folder.glob("*.json") if b'"navigation"' in path.read_bytes()]
        config, found = load(path)
        assert config is not None
        assert not {"CFG060", "CFG061", "CFG062", "CFG068"} & {one.code for one in found}
        assert not [one for one in found if one.severity == "error"]
