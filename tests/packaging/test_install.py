"""requirements/install.py: what a newcomer sees while pip works."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import zipfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[2] / "requirements" / "install.py"

PIP = """\
Looking in links: /wheels
Obtaining file:///clone
  Installing build dependencies: started
  Installing build dependencies: finished with status 'done'
  Preparing editable metadata (pyproject.toml): started
Collecting click>=8.1.7 (from tenantry==0.1.0)
  Downloading click-8.3.1-py3-none-any.whl (108 kB)
Collecting click>=8.1.7 (from uvicorn>=0.32->tenantry==0.1.0)
Processing /wheels/jinja2-3.1.6-py3-none-any.whl (from tenantry==0.1.0)
Collecting duckdb>=1.1
  Downloading duckdb-1.4.2-cp311-manylinux.whl (20.4 MB)
Requirement already satisfied: pytz in ./site-packages
Building wheels for collected packages: tenantry
  Building editable for tenantry (pyproject.toml): started
Installing collected packages: duckdb, click, tenantry
Successfully installed click-8.3.1 duckdb-1.4.2 tenantry-0.1.0
"""


@pytest.fixture
def script() -> ModuleType:
    spec = spec_from_file_location("install", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_thing_that_takes_its_time_is_shown_once(script: ModuleType) -> None:
    """In pip's order, and in the runs after it not again. Red when a pattern is anchored where pip indents."""
    assert list(script.shown(PIP.splitlines(), set())) == [
        "  getting the build tools",
        "  reading what it needs",
        "  collecting click",
        "  collecting jinja2",
        "  collecting duckdb",
        "  downloading duckdb, 20.4 MB",
        "  building the browser bundles, with npm",
        "  unpacking 3 packages",
    ]


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A folder with a package of ours for a test, which asks for another one."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for name, needs in (("outer-thing", "Requires-Dist: inner.thing>=1\n"), ("inner.thing", "")):
        file = re.sub(r"[-.]", "_", name)
        about = f"{file}-1.5.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n{needs}"
        with zipfile.ZipFile(folder / f"{file}-1.5-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{file}.py", "there = True\n")
            wheel.writestr(f"{about}/METADATA", metadata)
            wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{about}/RECORD", "")
    return folder


def install(tmp_path: Path, constraints: str) -> subprocess.CompletedProcess[str]:
    """``outer-thing`` by these constraints, from the folder of ``release``, into the folder ``there``."""
    (tmp_path / "constraints.txt").write_text(constraints)
    options = ["--constraint", tmp_path / "constraints.txt", "--target", tmp_path / "there"]
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path / "wheels")}
    command = [sys.executable, SCRIPT, *options, "outer-thing>=1"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)


def _line(wheel: Path) -> str:
    name, version, *_ = wheel.name.split("-")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return (
        f"{name}=={version} ; python_version >= '3' \\\n    --hash=sha256:{'0' * 64} \\\n    --hash=sha256:{digest}\n"
    )


def test_hashes_are_checked(release: Path, tmp_path: Path) -> None:
    """Also of what others ask for; of the hashes of a release one has to fit. Ranges stay ranges for pip, for with
    hashes it takes neither those nor an editable folder. Red when the constraints are given to pip without them."""
    lines = [_line(wheel) for wheel in sorted(release.iterdir())]
    done = install(tmp_path, f"# by `make lock`\n{''.join(lines)}")
    assert done.returncode == 0, done.stderr
    assert {"inner_thing.py", "outer_thing.py"} <= {path.name for path in (tmp_path / "there").iterdir()}


def test_another_file_is_refused(release: Path, tmp_path: Path) -> None:
    """Of what another package asks for, too: pip's own words, and nothing is installed. Red when pip is not told to ask
    for hashes."""
    lines = "".join(_line(wheel) for wheel in release.iterdir())
    (changed,) = release.glob("inner_thing-*")
    with zipfile.ZipFile(changed, "a") as wheel:
        wheel.writestr("more.py", "")
    done = install(tmp_path, lines)
    assert done.returncode == 1
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in done.stderr
    assert not (tmp_path / "there").exists()


def test_a_package_without_hashes_is_refused(release: Path, tmp_path: Path, script: ModuleType) -> None:
    """By name, with what to do; also one without any line, and what only another package asks for. Red when such a
    package is installed as it comes."""
    inner, outer = sorted(release.iterdir())
    for name, lines in {"outer-thing": f"{_line(inner)}outer_thing==1.5\n", "inner-thing": _line(outer)}.items():
        done = install(tmp_path, lines)
        assert done.returncode == 1
        assert f"{name} has no line with hashes in" in done.stderr
        assert "make lock" in done.stderr
        assert not (tmp_path / "there").exists()
    (tmp_path / "constraints.txt").write_text(_line(inner))
    locked = script.Locked(tmp_path / "constraints.txt")
    assert locked.requirement("Inner_Thing").startswith("Inner_Thing==1.5 --hash=sha256:")
    with pytest.raises(SystemExit, match="no-such has no line with hashes"):
        locked.requirement("no-such")


def test_a_line_of_another_version_than_is_asked_for_is_refused(release: Path, tmp_path: Path) -> None:
    """Of what is named here, and of what another package asks for. Red when the version of a line is installed whatever
    is asked for: pip itself is not asked whether all fits together."""
    inner, outer = (_line(wheel) for wheel in sorted(release.iterdir()))
    for lines, told in (
        (outer.replace("1.5", "0.5"), "outer-thing>=1"),
        (inner.replace("1.5", "0.5"), "inner.thing>=1"),
    ):
        done = install(tmp_path, "".join({"outer": outer, "inner": inner, told[:5]: lines}.values()))
        assert done.returncode == 1
        assert f"{told} is asked for, and " in done.stderr
        assert not (tmp_path / "there").exists()


def test_what_a_marker_or_an_extra_leaves_out_is_not_fetched(script: ModuleType, tmp_path: Path) -> None:
    """Neither of a folder nor of a wheel. Red when every line of a package's metadata counts."""
    lines = (f"{name}==1.5 --hash=sha256:{'0' * 64}\n" for name in ("kept", "more", "other", "far"))
    (tmp_path / "constraints.txt").write_text("".join(lines))
    locked = script.Locked(tmp_path / "constraints.txt")
    about = tmp_path / "kept-1.5.dist-info"
    about.mkdir()
    needs = ("far ; extra == 'wide'", "other ; python_version < '3'", "more")
    about.joinpath("METADATA").write_text(
        "Name: kept\nVersion: 1.5\n" + "".join(f"Requires-Dist: {n}\n" for n in needs)
    )
    project = {"dependencies": ["kept ; python_version > '3'"], "optional-dependencies": {"all": ["ours[wide]"]}}
    project["optional-dependencies"]["wide"] = ["kept[wide]"]
    for asked, found in {"ours": {"more"}, "ours[all]": {"more", "far"}}.items():
        wanted = [script.Requirement(asked)]
        assert script.missing(wanted, {"ours": project}, [str(tmp_path)], locked) == found
        assert script.missing(wanted, {"ours": project}, [], locked) == {"kept"}
    about.joinpath("METADATA").write_text("Name: kept\nVersion: 1.4\n")
    assert script.missing([script.Requirement("kept")], {}, [str(tmp_path)], locked) == {"kept"}


def test_what_fails_is_told_whole(tmp_path: Path) -> None:
    """pip's own words, and its status. Red when its stderr is caught, or its status is dropped."""
    command = [sys.executable, SCRIPT, "--no-index", "--target", tmp_path, "no-such-package-of-ours"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "No matching distribution found for no-such-package-of-ours" in done.stderr
