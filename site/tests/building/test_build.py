"""A folder becomes a site: the same bytes each time, in one step, whatever is in the folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engines.corpus import each_site, needs_corpus
from tenantry_site import SiteOptions, build
from tenantry_site.building import MARKER, diagnose
from tenantry_site.diagnostic import SiteError
from tests.building.test_staging import tree

CONFIG = {"name": "Acme", "navigation": [{"group": "Start", "pages": ["index", "guides/start"]}]}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A small site."""
    folder = tmp_path / "docs"
    (folder / "guides").mkdir(parents=True)
    (folder / "images").mkdir()
    (folder / "site.json").write_text(json.dumps(CONFIG))
    (folder / "index.md").write_text("---\ntitle: Home\n---\n\nSee [the start](guides/start) and ![a](images/a.png).\n")
    (folder / "guides" / "start.md").write_text("---\ntitle: Start\n---\n\n## First\n\n```python\nprint(1)\n```\n")
    (folder / "images" / "a.png").write_bytes(b"\x89PNG" + bytes(3_000_000))
    return folder


def test_a_site_is_written_with_its_pictures(docs: Path, tmp_path: Path) -> None:
    """And what is reported of it is counted as it is on the disk."""
    seen: list[tuple[int, int]] = []
    built = build(docs, tmp_path / "out", on_progress=lambda done, total: seen.append((done, total)))
    files = tree(tmp_path / "out")
    assert {"index.html", "index.md", "guides/start.html", "guides/start.md", "images/a.png", "404.html"} <= set(files)
    assert files["images/a.png"] == (docs / "images" / "a.png").read_bytes()
    assert (tmp_path / "out" / "images" / "a.png").stat().st_nlink == 1
    assert "site.json" not in files
    del files[MARKER]
    assert (built.files, built.bytes) == (len(files), sum(map(len, files.values())))
    assert built.published
    assert built.pages == 2
    assert [done for done, _ in seen] == list(range(1, len(seen) + 1))
    assert all(done <= total for done, total in seen)


def test_two_builds_are_equal_byte_for_byte(docs: Path, tmp_path: Path) -> None:
    """In another process with another hash seed, too. Red when anything comes in the order of a set."""
    build(docs, tmp_path / "one")
    again = "import sys; from tenantry_site import build; build(sys.argv[1], sys.argv[2])"
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", again, str(docs), str(tmp_path / seed)], check=True, env=environment)
        assert tree(tmp_path / "one") == tree(tmp_path / seed)


def test_without_a_configuration_the_old_site_stays(docs: Path, tmp_path: Path) -> None:
    """Red when a slip of the pen takes the site away."""
    out = tmp_path / "out"
    build(docs, out)
    before = tree(out)
    (docs / "site.json").write_text('{"name": "Acme", "navi')
    built = build(docs, out)
    assert not built.published
    assert any(reported.severity == "error" and reported.path == "site.json" for reported in built.diagnostics)
    assert tree(out) == before
    (docs / "site.json").unlink()
    assert not build(docs, tmp_path / "never").published
    assert not (tmp_path / "never").exists()


def test_strict_publishes_only_what_is_well(docs: Path, tmp_path: Path) -> None:
    (docs / "index.md").write_text("[gone](nowhere)\n")
    out = tmp_path / "out"
    assert build(docs, out).published
    before = tree(out)
    (docs / "index.md").write_text("[gone](nowhere either)\n")
    assert not build(docs, out, strict=True).published
    assert tree(out) == before


def test_the_source_is_never_replaced(docs: Path, tmp_path: Path) -> None:
    """Also where the folder has the marker. Red when `build docs --out docs` eats the docs."""
    (docs / MARKER).touch()
    (tmp_path / MARKER).touch()
    before = tree(tmp_path)
    for out in (docs, tmp_path, docs / "guides" / ".."):
        with pytest.raises(SiteError, match="contains the source"):
            build(docs, out)
    with pytest.raises(SiteError, match="is not a folder"):
        build(docs / "site.json", tmp_path / "out")
    assert tree(tmp_path) == before


def test_a_site_within_its_source_is_no_source(docs: Path) -> None:
    """Twice into docs/_site gives the same. Red when the second takes the first for pages."""
    build(docs, docs / "_site")
    first = tree(docs / "_site")
    build(docs, docs / "_site")
    assert tree(docs / "_site") == first


def test_what_cannot_be_read_or_written_is_reported(docs: Path, tmp_path: Path) -> None:
    """And the rest is built. Red when one file ends it all."""
    (docs / "bad.md").write_bytes(b"# caf\xe9\n")
    (docs / "link.md").symlink_to("/etc/hostname")
    (docs / ("n" * 252 + ".md")).write_text("# A name that is too long with .html")
    built = build(docs, tmp_path / "out")
    assert built.published
    codes = {reported.code: reported.path for reported in built.diagnostics if reported.code.startswith("FILE")}
    assert codes == {"FILE001": "bad.md", "FILE004": "link.md", "FILE007": "n" * 252 + ".html"}
    assert "caf\ufffd" in (tmp_path / "out" / "bad.html").read_text()
    assert not (tmp_path / "out" / "link.html").exists()


def test_diagnose_reports_what_a_build_reports(docs: Path, tmp_path: Path) -> None:
    (docs / "bad.md").write_bytes(b"# caf\xe9\n[gone](nowhere)\n")
    assert diagnose(docs) == build(docs, tmp_path / "out").diagnostics


KILLED = """
import os, signal, sys
from tenantry_site import build
build(sys.argv[1], sys.argv[2], on_progress=lambda done, total: done == 2 and os.kill(os.getpid(), signal.SIGKILL))
"""


def test_a_build_killed_in_its_middle_changes_nothing(docs: Path, tmp_path: Path) -> None:
    """And the next one sweeps up. Red when pages are written where the old ones are."""
    out = tmp_path / "public" / "out"
    build(docs, out)
    before = tree(out)
    (docs / "index.md").write_text("# Other\n")
    done = subprocess.run([sys.executable, "-c", KILLED, str(docs), str(out)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert tree(out) == before
    assert len(list(out.parent.iterdir())) == 2
    build(docs, out)
    assert "Other" in (out / "index.html").read_text()
    assert [each.name for each in out.parent.iterdir()] == ["out"]


@needs_corpus
@each_site
def test_real_sites_build_whole(folder: Path, tmp_path: Path) -> None:
    """Each page of the navigation is there."""
    built = build(folder, tmp_path / "out", SiteOptions(base_url="https://docs.example.com"))
    assert built.published
    config = json.loads((folder / "mint.json").read_text())
    waiting = list(config["navigation"])
    while waiting:
        for page in waiting.pop()["pages"]:
            if isinstance(page, dict):
                waiting.append(page)
            else:
                assert (tmp_path / "out" / f"{page}.html").is_file(), page


def test_a_picture_with_a_script_is_left_out_and_reported(docs: Path, tmp_path: Path) -> None:
    """A host of files sends it without a policy. Red when it is copied, or when `site check` says nothing of it."""
    (docs / "images" / "bad.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')
    (docs / "images" / "good.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    built = build(docs, tmp_path / "out")
    assert "images/bad.svg" not in tree(tmp_path / "out")
    assert "images/good.svg" in tree(tmp_path / "out")
    for found in (built.diagnostics, diagnose(docs)):
        assert [reported.path for reported in found if reported.code == "SITE108"] == ["images/bad.svg"]
