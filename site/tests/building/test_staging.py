"""A built site takes the place of the old one at once, or not at all."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tenantry_site.building import staging
from tenantry_site.building.site_files import MARKER
from tenantry_site.building.staging import Staging
from tenantry_site.diagnostic import SiteError


def tree(folder: Path) -> dict[str, bytes]:
    return {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def built(out: Path, **files: bytes) -> None:
    with Staging(out) as made:
        for path, content in files.items():
            made.write(path.replace("_", "/"), content)
        made.publish()


@pytest.fixture(params=["exchange", "rename"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to replace a folder: in one step, and where the system cannot do that."""
    if request.param == "rename":
        monkeypatch.setattr(staging, "swap_folders", lambda first, second: False)
    return str(request.param)


def test_a_new_site_replaces_the_old_one_whole(tmp_path: Path, way: str) -> None:
    """Red when files of the old one stay, or anything is left beside it."""
    out = tmp_path / "deep" / "public"
    built(out, a=b"1", sub_b=b"1")
    built(out, a=b"2", sub_c=b"2")
    assert {path for path in tree(out) if path != MARKER} == {"a", "sub/c"}
    assert [each.name for each in out.parent.iterdir()] == ["public"]
    assert stat.S_IMODE(out.stat().st_mode) == 0o777 & ~_umask()
    assert stat.S_IMODE((out / "a").stat().st_mode) == 0o666 & ~_umask()


def _umask() -> int:
    now = os.umask(0o22)
    os.umask(now)
    return now


def test_what_is_not_published_leaves_the_old_one(tmp_path: Path, way: str) -> None:
    """Red when a build that fails in its middle has begun to write into the public folder."""
    out = tmp_path / "public"
    built(out, a=b"1")
    before = tree(out)
    with pytest.raises(ZeroDivisionError), Staging(out) as made:
        made.write("a", str(1 // 0).encode())
    with Staging(out) as made:
        made.write("a", b"3")
    assert tree(out) == before
    assert [each.name for each in tmp_path.iterdir()] == ["public"]


def test_a_folder_that_no_build_made_is_refused(tmp_path: Path) -> None:
    """Red when `--out ~` empties a home."""
    out = tmp_path / "home"
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    with pytest.raises(SiteError, match=r"files that no build made.*choose another folder"), Staging(out):
        pass
    assert tree(out) == {"thesis.txt": b"years of work"}
    (tmp_path / "file").write_text("x")
    with pytest.raises(SiteError, match="is a file"), Staging(tmp_path / "file"):
        pass
    with pytest.raises(SiteError, match="cannot be written"), Staging(tmp_path / "file" / "below"):
        pass


def test_an_empty_folder_and_one_with_the_marker_are_taken(tmp_path: Path, way: str) -> None:
    (tmp_path / "empty").mkdir()
    built(tmp_path / "empty", a=b"1")
    (tmp_path / "marked").mkdir()
    (tmp_path / "marked" / MARKER).touch()
    (tmp_path / "marked" / "old.html").touch()
    built(tmp_path / "marked", a=b"1")
    assert set(tree(tmp_path / "marked")) == set(tree(tmp_path / "empty")) == {"a", MARKER}


def test_a_link_to_the_public_folder_stays(tmp_path: Path, way: str) -> None:
    """Red when the link is replaced: what the web server reads would be the old folder for ever."""
    (tmp_path / "real").mkdir()
    (tmp_path / "public").symlink_to("real")
    built(tmp_path / "public", a=b"1")
    built(tmp_path / "public", a=b"2")
    assert (tmp_path / "public").is_symlink()
    assert (tmp_path / "real" / "a").read_bytes() == b"2"


@pytest.mark.parametrize("path", ["../a", "/a", "a/../../b", "a\\b", "a\0b", "", ".", "a//b", "a/./b", "a\nb"])
def test_no_path_leaves_the_folder(tmp_path: Path, path: str) -> None:
    """Names of pages can come out of an OpenAPI document. Red when they are joined as they are."""
    with Staging(tmp_path / "public") as made:
        with pytest.raises(OSError, match="cannot be part of an address"):
            made.write(path, b"x")
        made.publish()
    assert [each.name for each in tmp_path.iterdir()] == ["public"]
    assert set(tree(tmp_path / "public")) == {MARKER}


KILLED = """
import os, signal, sys
from tenantry_site.building import staging
if sys.argv[2] == "between":
    staging.swap_folders = lambda first, second: False
    real = staging.Path.rename
    def rename(self, target):
        done = real(self, target)
        if str(target).endswith(".old"):
            os.kill(os.getpid(), signal.SIGKILL)
        return done
    staging.Path.rename = rename
with staging.Staging(sys.argv[1]) as made:
    made.write("a", b"2")
    if sys.argv[2] == "writing":
        os.kill(os.getpid(), signal.SIGKILL)
    made.publish()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(("moment", "stands"), [("writing", b"1"), ("published", b"2"), ("between", b"1")])
def test_a_build_that_is_killed_leaves_a_whole_site(tmp_path: Path, moment: str, stands: bytes) -> None:
    """And the next one sweeps up after it. Red without the aside of the two renames, or when nobody sweeps."""
    out = tmp_path / "public"
    built(out, a=b"1")
    done = subprocess.run([sys.executable, "-c", KILLED, str(out), moment], check=False)
    assert done.returncode == -signal.SIGKILL
    with pytest.raises(ZeroDivisionError), Staging(out):
        raise ZeroDivisionError  # the next build fails too: the old site is there, though, and nothing else
    assert (out / "a").read_bytes() == stands
    assert [each.name for each in tmp_path.iterdir()] == ["public"]


LOOKING = """
import pathlib, signal, sys
missed = 0
def tell(*_):
    print(missed)
    sys.exit()
signal.signal(signal.SIGTERM, tell)
print("looking", flush=True)
while True:
    try:
        pathlib.Path(sys.argv[1], "a").read_bytes()
    except FileNotFoundError:
        missed += 1
"""


def test_at_no_moment_is_there_no_site(tmp_path: Path) -> None:
    """Somebody reads all the time while it is replaced. Red with two renames: it misses the site a hundred times.

    Once is forgiven: between the look at the folder and that at the file, the old folder may go away.
    """
    out = tmp_path / "public"
    built(out, a=b"0")
    if not staging.swap_folders(out, _empty(tmp_path / "probe")):
        pytest.skip("this file system cannot exchange two folders")
    staging.swap_folders(out, tmp_path / "probe")
    reader = subprocess.Popen([sys.executable, "-c", LOOKING, str(out)], stdout=subprocess.PIPE, text=True)
    assert reader.stdout is not None
    assert reader.stdout.readline() == "looking\n"
    for number in range(300):
        built(out, a=str(number).encode())
    reader.terminate()
    assert int(reader.communicate()[0]) <= 1


def _empty(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_two_builds_at_once_do_not_sweep_each_other(tmp_path: Path) -> None:
    """Red when what is left of a killed build is reported by its name alone."""
    out = tmp_path / "public"
    with Staging(out) as first:
        first.write("a", b"first")
        built(out, a=b"second")
        first.write("b", b"first")
        first.publish()
    assert {path for path in tree(out) if path != MARKER} == {"a", "b"}
