"""The distributions, installed by path: each in an environment that holds its requirements and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from scripts.distributions import DISTRIBUTIONS, package
from tests.docs.environments import Environments

pytestmark = pytest.mark.slow

PUBLIC = "from tenantry_site import load, loads, render, site_app"
ROOT = DISTRIBUTIONS["tenantry"]
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


def test_tenantry_finds_the_commands_of_a_conversion(environments: Environments, tmp_path: Path) -> None:
    """By their entry points, with the requirements of tenantry-convert alone. Red when a requirement is missing."""
    command = environments.python(["tenantry-convert"]).parent / "tenantry"
    assert "  move " in run(command, "--help", folder=tmp_path)
    assert "  convert " in run(command, "sql", "--help", folder=tmp_path)
    (tmp_path / "orders.sql").write_text("select * from orders where status = {{status}}")
    assert "{{ params.status }}" in run(command, "sql", "convert", "--from", "metabase", "orders.sql", folder=tmp_path)
    (tmp_path / "page.json").write_text('{"customers": [{"provided_id": "acme"}]}')
    assert "acme:" in run(command, "move", "explo", "page.json", folder=tmp_path)


def test_tenantry_works_without_the_conversion(environments: Environments, tmp_path: Path) -> None:
    """It says what to install, and its other commands of SQL work. Red when the core imports the distribution."""
    python = environments.python(["tenantry"])
    run(python, "-c", ABSENT, "tenantry_convert", folder=tmp_path)
    command = python.parent / "tenantry"
    for words in (("sql", "convert", "--from", "metabase", "a.sql"), ("move", "explo", "page.json")):
        expected = "tenantry: this command is not installed: pip install tenantry-convert\n"
        assert run(command, *words, folder=tmp_path, fails=1) == expected
    listed = run(command, "sql", "--help", folder=tmp_path)
    assert "  render " in listed
    assert "convert" not in listed


CHECK_URL = """
import sys

from tenantry.datasources import check_url
from tenantry.errors import InvalidSource

try:
    print(check_url(sys.argv[1], trusted=len(sys.argv) > 2))
except InvalidSource as error:
    print(error.message)
"""


def test_tenantry_finds_the_engines_of_warehouses(environments: Environments, tmp_path: Path) -> None:
    """By their entry points, and checks their URLs without a client. Red when a requirement is missing."""
    python = environments.python(["tenantry-warehouses"])
    assert run(python, "-c", CHECK_URL, "snowflake://u:p@account/db", folder=tmp_path) == "snowflake\n"
    assert run(python, "-c", CHECK_URL, "bigquery://project", folder=tmp_path) == "bigquery\n"
    assert run(python, "-c", CHECK_URL, "mssql+pymssql://u:p@h/db", "trusted", folder=tmp_path) == "mssql\n"
    assert "http_path" in run(python, "-c", CHECK_URL, "databricks://token:t@host", folder=tmp_path)


def test_tenantry_works_without_the_warehouses(environments: Environments, tmp_path: Path) -> None:
    """It says what to install. Red when the core imports the distribution."""
    python = environments.python(["tenantry"])
    run(python, "-c", ABSENT, "tenantry_warehouses", folder=tmp_path)
    said = run(python, "-c", CHECK_URL, "snowflake://u:p@account/db", folder=tmp_path)
    assert said == "the engine of snowflake:// URLs is not installed: pip install 'tenantry-warehouses[snowflake]'\n"
    assert run(python, "-c", CHECK_URL, "sqlite:///a.db", folder=tmp_path) == "sqlite\n"


def _contents(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as packed:
        return set(packed.namelist())


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_an_sdist_builds_the_same_wheel_by_itself(name: str, tmp_path: Path) -> None:
    """Away from the repository, to the byte. And when all is made again in another folder at another time, by another
    npm and esbuild, for somebody with other rights for new files, both files are the same to the byte: who has the
    sources can prove what a wheel was made of.

    Red when the sdist lacks what both hooks share, or the bundles; when a hook writes down the time, its folder, or a
    set in no order; and when hatchling is told ``reproducible = false``."""
    module = package(name)
    clone, alone, again = tmp_path / "clone", tmp_path / "alone", tmp_path / "again"
    build = (sys.executable, "-m", "hatchling", "build")
    run(*build, "-t", "sdist", "-t", "wheel", "-d", clone, folder=DISTRIBUTIONS[name])
    (sdist,), (wheel,) = clone.glob("*.tar.gz"), clone.glob(f"{module}-*.whl")
    with tarfile.open(sdist) as packed:
        packed.extractall(tmp_path, filter="data")
    sources = tmp_path / sdist.name.removesuffix(".tar.gz")
    run(*build, "-t", "wheel", "-d", alone, folder=sources)
    _age(sources)
    shutil.rmtree(sources / "src" / module / "static" / "bundles", ignore_errors=True)
    # npm asks no registry about packages that it has kept: whoever built the clone's bundles here has asked.
    as_another = 'umask 077 && export npm_config_prefer_offline=true && exec "$@"'
    run("bash", "-c", as_another, "-", *build, "-t", "sdist", "-t", "wheel", "-d", again, folder=sources)
    for made in (alone / wheel.name, again / wheel.name, again / sdist.name):
        assert _same(clone / made.name, made) == []
    contents = _contents(wheel)
    packages = {path.partition("/")[0] for path in contents}
    assert packages == {module, next(each for each in packages if each.endswith(".dist-info"))}
    assert (f"{sources.name}.dist-info/sboms/{name}.cdx.json" in contents) == (
        f"{module}/static/bundles/" in "".join(contents)
    )
    assert f"{module}/py.typed" in contents
    if name == "tenantry":
        foreign = ("/icons.", "starter/", "contrast", "convert/", "convert.py")
        assert [path for path in contents if any(each in path for each in foreign)] == []
        for folder in DISTRIBUTIONS.values():
            assert (sources / folder.relative_to(ROOT) / "pyproject.toml").is_file()


def _age(folder: Path) -> None:
    """The files are of another day, and only their owner may read them."""
    for path in folder.rglob("*"):
        if path.is_file():
            path.chmod(path.stat().st_mode & 0o700)
            os.utime(path, (1_000_000_000, 1_000_000_000))


def _same(one: Path, other: Path) -> list[str]:
    """What differs: nothing, the members of the archives, or only how they are packed."""
    if one.read_bytes() == other.read_bytes():
        return []
    members, others = _members(one), _members(other)
    differ = sorted(name for name in members.keys() | others.keys() if members.get(name) != others.get(name))
    return differ or ["the order, times or rights of the members"]


def _members(archive: Path) -> dict[str, bytes]:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as packed:
            return {name: packed.read(name) for name in packed.namelist()}
    with tarfile.open(archive) as unpacked:
        return {each.name: file.read() for each in unpacked if (file := unpacked.extractfile(each)) is not None}
