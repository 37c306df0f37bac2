"""requirements/install.py: what uv gets, and what a newcomer sees of it."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[2] / "requirements" / "install.py"

PIP = r"""
:env:.timeout='60'
:env:.find-links='/ /none https://registry.test/links'
:env:.no-input='1'
global.cert='/ca.crt'
global.extra-index-url='\nfile:///one\nfile:///two'
global.index-url='https://registry.test/simple'
global.timeout='10'
install.index-url='https://other.test/simple'
wheel.no-index='true'
"""

UV = """\
Resolved 3 packages in 2ms
   Building tenantry @ file:///clone
Downloading click (1.2MiB)
Downloading nh3 (800.5KiB)
Downloading duckdb (23.2MiB)
 Downloaded duckdb
      Built tenantry @ file:///clone
Prepared 3 packages in 14s
warning: something
         in two lines
Installed 3 packages in 8ms
 - click==8.0
 + click==8.3
 ~ tenantry==0.1.0
"""


@pytest.fixture
def script() -> ModuleType:
    spec = spec_from_file_location("install", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_settings_of_pip_count_for_uv(script: ModuleType) -> None:
    """Of the environment before those of files. Red when a separator is pip's, or sections are read as they come."""
    assert script.of_pip(PIP) == {
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_DEFAULT_INDEX": "https://other.test/simple",
        "UV_INDEX": "file:///one file:///two",
        "UV_FIND_LINKS": "/,https://registry.test/links",
        "SSL_CERT_FILE": "/ca.crt",
        "UV_HTTP_TIMEOUT": "60",
    }


def test_a_cache_that_uv_cannot_use_as_it_is(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """uv stops at a cache that is read-only, and warns of one on another file system. Red when neither is looked at."""
    near, far = str(Path(sys.prefix, "none", "cache")), "/proc/none"
    assert script.of_cache(f"{near}\n") == {}
    monkeypatch.setattr(os, "access", lambda path, _: path != Path(sys.prefix))
    assert script.of_cache(f"{near}\n") == {"UV_CACHE_DIR": str(Path(sys.prefix, "cache"))}
    assert script.of_cache(f"{far}\n") == {"UV_LINK_MODE": "copy"}


def test_what_takes_its_time_is_shown(script: ModuleType) -> None:
    """And no line for each package. Red when a warning's second line is taken for one."""
    assert [line.strip() for line in UV.splitlines() if script.HIDDEN.match(line) is None] == [
        "Building tenantry @ file:///clone",
        "Downloading duckdb (23.2MiB)",
        "Built tenantry @ file:///clone",
        "Prepared 3 packages in 14s",
        "warning: something",
        "in two lines",
        "Installed 3 packages in 8ms",
    ]


def _wheel(folder: Path, name: str, needs: str = "") -> None:
    """Version 1.5 of a package with one module."""
    file = re.sub(r"[-.]", "_", name)
    about = f"{file}-1.5.dist-info"
    with zipfile.ZipFile(folder / f"{file}-1.5-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{file}.py", "there = True\n")
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n{needs}")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A folder with a package of ours for a test, which asks for another one."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    _wheel(folder, "outer-thing", "Requires-Dist: inner.thing>=1\n")
    _wheel(folder, "inner.thing")
    return folder


def install(tmp_path: Path, constraints: str, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """``outer-thing`` by these constraints, from the folder of ``release``, into the folder ``there``."""
    (tmp_path / "constraints.txt").write_text(constraints)
    options = ["--constraint", tmp_path / "constraints.txt", "--target", tmp_path / "there"]
    environment = {**os.environ, "UV_CACHE_DIR": str(tmp_path / "cache"), "PIP_NO_INDEX": "1"}
    environment |= {"PIP_FIND_LINKS": str(tmp_path / "wheels"), **variables}
    command = [sys.executable, SCRIPT, *options, *(words or ["outer-thing>=1"])]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)


def _line(wheel: Path) -> str:
    name, version, *_ = wheel.name.replace("_", "-", 1).rsplit("-", 4)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return (
        f"{name}=={version} ; python_version >= '3' \\\n    --hash=sha256:{'0' * 64} \\\n    --hash=sha256:{digest}\n"
    )


def test_hashes_are_checked(release: Path, tmp_path: Path) -> None:
    """Also of what others ask for; of the hashes of a release one has to fit. A variable of uv that the user has set
    counts more than pip's setting. Red when the variables are set the other way round."""
    lines = "".join(_line(wheel) for wheel in sorted(release.iterdir()))
    done = install(tmp_path, f"# by `make lock`\n{lines}", PIP_FIND_LINKS="/none", UV_FIND_LINKS=str(release))
    assert done.returncode == 0, done.stderr
    assert {"inner_thing.py", "outer_thing.py"} <= {path.name for path in (tmp_path / "there").iterdir()}


def test_another_file_is_refused(release: Path, tmp_path: Path) -> None:
    """Of what another package asks for, too: uv's own words, and nothing is installed. Red when uv gets the versions
    without the hashes."""
    lines = "".join(_line(wheel) for wheel in release.iterdir())
    (changed,) = release.glob("inner_thing-*")
    with zipfile.ZipFile(changed, "a") as wheel:
        wheel.writestr("more.py", "")
    done = install(tmp_path, lines)
    assert done.returncode == 1
    assert "Hash mismatch for `inner-thing==1.5`" in " ".join(done.stderr.split())
    assert [*(tmp_path / "there").glob("*thing*")] == []


def test_a_package_without_hashes_is_refused(release: Path, tmp_path: Path) -> None:
    """By name, with what to do; also one without any line, and what only another package asks for. Red when such a
    package is installed as it comes."""
    inner, outer = sorted(release.iterdir())
    for name, lines in {"outer-thing": f"{_line(inner)}outer-thing==1.5\n", "inner-thing": _line(outer)}.items():
        done = install(tmp_path, lines)
        assert done.returncode == 1
        assert f"{name}==1.5: no line with hashes in" in done.stderr
        assert "make lock" in done.stderr
        assert not (tmp_path / "there").exists()


def test_a_line_of_another_version_than_is_asked_for_is_refused(release: Path, tmp_path: Path) -> None:
    """Of what is named here, and of what another package asks for. Red when the constraints are not given to uv where
    it finds the versions."""
    inner, outer = (_line(wheel) for wheel in sorted(release.iterdir()))
    for lines in (
        {"outer": outer.replace("1.5", "0.5"), "inner": inner},
        {"outer": outer, "inner": inner.replace("1.5", "0.5")},
    ):
        done = install(tmp_path, "".join(lines.values()))
        assert done.returncode == 1
        assert "No solution found" in done.stderr
        assert "make lock" in done.stderr
        assert not (tmp_path / "there").exists()


PROJECT = """
[project]
name = "ours"
version = "1"
optional-dependencies = {{ wide = ["outer-thing"] }}
[build-system]
requires = [{}]
build-backend = "inner_thing"
"""


def test_what_an_extra_of_a_folder_needs(release: Path, tmp_path: Path) -> None:
    """Is found without a build. Red when the extras are not passed on."""
    (tmp_path / "pyproject.toml").write_text(PROJECT.format(""))
    done = install(tmp_path, "", "--editable", f"{tmp_path}[wide]")
    assert done.returncode == 1
    assert "inner-thing==1.5, outer-thing==1.5: no line with hashes in" in done.stderr


def test_what_builds_is_checked_too(release: Path, tmp_path: Path) -> None:
    """By the lines of requirements/constraints.txt. Red when uv may take any build tool."""
    (tmp_path / "pyproject.toml").write_text(PROJECT.format('"inner.thing"'))
    done = install(tmp_path, "", "--editable", str(tmp_path))
    assert done.returncode == 1
    assert "no trusted hash was provided for: `inner-thing`" in " ".join(done.stderr.split())  # uv breaks lines


OURS = """
[project]
name = "tenantry"
version = "1.5"
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
BACKEND = """
import shutil

def build_editable(folder, *_):
    open("built.txt", "w")
    return shutil.copy("wheels/tenantry-1.5-py3-none-any.whl", folder).rpartition("/")[2]
"""


def test_ours_is_built_although_a_cache_has_it(release: Path, tmp_path: Path) -> None:
    """`make clean` removes the bundles, which nothing but a build brings back. Red without ``BUILT_AGAIN``."""
    _wheel(release, "tenantry")
    (tmp_path / "backend.py").write_text(BACKEND)
    (tmp_path / "pyproject.toml").write_text(OURS)
    for _ in range(2):
        done = install(tmp_path, "", "--editable", str(tmp_path))
        assert done.returncode == 0, done.stderr
        (tmp_path / "built.txt").unlink()
        shutil.rmtree(tmp_path / "there")


def test_what_fails_is_told_whole(tmp_path: Path) -> None:
    """uv's own words, and its status, also where the words are uv's. Red when its status is dropped."""
    command = [sys.executable, SCRIPT, "pip", "install", "--target", tmp_path, "no-such-package-of-ours"]
    environment = {**os.environ, "PIP_NO_INDEX": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no-such-package-of-ours was not found" in " ".join(done.stderr.split())
