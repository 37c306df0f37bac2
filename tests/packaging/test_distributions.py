"""Both distributions, installed by path: each in an environment that holds what it requires and nothing else."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.docs.environments import OURS, Environments

PUBLIC = "from tenantry_site import load, loads, render, site_app"
ABSENT = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is not None)"


def run(*command: str | Path, folder: Path, fails: int = 0) -> str:
    """What the command printed, in this folder."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == fails, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_site_works_alone(environments: Environments, tmp_path: Path) -> None:
    """No tenantry is there. Red when a module imports one of it, or a file of the site is not packed."""
    python = environments.python(["tenantry-site"])
    run(python, "-c", ABSENT, "tenantry", folder=tmp_path)
    run(python, "-c", PUBLIC, folder=tmp_path)
    command = python.parent / "tenantry-site"
    assert "tenantry-site serve handbook" in run(command, "new", "handbook", folder=tmp_path)
    assert run(command, "check", "handbook", "--strict", folder=tmp_path) == "nothing to say\n"
    run(command, "build", "handbook", "--out", "public", "--strict", folder=tmp_path)
    assert "Welcome" in (tmp_path / "public" / "index.html").read_text("utf-8")
    assert "--accent" in next((tmp_path / "public" / "assets").glob("*.css")).read_text("utf-8")
    assert "pip install 'tenantry-site[serve]'" in run(command, "serve", "handbook", folder=tmp_path, fails=1)
    assert run(command, "--version", folder=tmp_path).strip().endswith("0.1.0")
    assert "check" in run(python, "-m", "tenantry_site", "--help", folder=tmp_path)


def test_tenantry_finds_the_commands_of_the_site(environments: Environments, tmp_path: Path) -> None:
    """By their entry point. Red without it, or when the extra brings another distribution."""
    command = environments.python(["tenantry[site]"]).parent / "tenantry"
    assert "tenantry site serve handbook" in run(command, "site", "new", "handbook", folder=tmp_path)
    run(command, "site", "check", "handbook", "--strict", folder=tmp_path)
    assert "  site " in run(command, "--help", folder=tmp_path)
    refused = run(command, "site", "build", "handbook", "--out", "handbook", folder=tmp_path, fails=1)
    assert refused.startswith("tenantry: ")
    assert refused.endswith("[invalid_settings]\n")


def test_tenantry_works_without_the_site(environments: Environments, tmp_path: Path) -> None:
    """It says what to install, and the demo does without its handbook."""
    python = environments.python(["tenantry"])
    run(python, "-c", ABSENT, "tenantry_site", folder=tmp_path)
    command = python.parent / "tenantry"
    assert "  site " not in run(command, "--help", folder=tmp_path)
    assert "pip install 'tenantry[site]'" in run(command, "site", "check", "handbook", folder=tmp_path, fails=1)
    code = "from tenantry.demo.handbook import handbook; assert handbook('http://127.0.0.1:8000') == []"
    run(python, "-c", code, folder=tmp_path)


def _contents(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as packed:
        return set(packed.namelist())


@pytest.mark.parametrize("name", [*OURS])
def test_an_sdist_builds_the_same_wheel_by_itself(name: str, tmp_path: Path) -> None:
    """Away from the repository. Red when it lacks the half of the build hook that both share, or the bundles."""
    module = name.replace("-", "_")
    clone, alone = tmp_path / "clone", tmp_path / "alone"
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", clone, folder=OURS[name])
    (sdist,) = clone.glob("*.tar.gz")
    with tarfile.open(sdist) as packed:
        packed.extractall(tmp_path, filter="data")
    sources = tmp_path / sdist.name.removesuffix(".tar.gz")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", alone, folder=sources)
    (one,), (other,) = clone.glob(f"{module}-*.whl"), alone.glob(f"{module}-*.whl")
    assert _contents(one) == _contents(other)
    packages = {path.partition("/")[0] for path in _contents(one)}
    assert packages == {module, next(each for each in packages if each.endswith(".dist-info"))}
    if name == "tenantry":
        assert [path for path in _contents(one) if "/icons." in path or "starter/" in path or "contrast" in path] == []
        assert (sources / "site" / "pyproject.toml").is_file()
