"""pip on a clone: several installs at a time, and metadata without a build. npm and node are stand-ins, pip is real."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PACKED = (
    "pyproject.toml",
    "hatch_build.py",
    "README.md",
    "LICENSE",
    "src",
    "frontend",
    "docs",
    "site",
)
MADE = ("__pycache__", "node_modules", "bundles", ".*_cache", ".hypothesis")
SCRIPTS = ("page", "donut", "heatmap", "scatter", "print", "vega", "embed")
BUNDLES = {
    ".": {
        f"tenantry/static/bundles/{name}"
        for name in (
            *("page.css", "page.css.br", "page.css.gz"),
            *(f"{name}.{suffix}" for name in SCRIPTS for suffix in ("js", "licenses.txt", "js.br", "js.gz")),
            *("embed.d.ts", "embed-react.js", "embed-react.d.ts", "embed-react.js.br", "embed-react.js.gz"),
            "embed.tgz",
            *("tokens.css", "packages.json", "stamp.txt"),
        )
    },
    "site": {
        f"tenantry_site/static/bundles/{name}"
        for name in ("icons.txt", "icons.licenses.txt", "tokens.css", "packages.json", "stamp.txt")
    },
}
"""The folder of each distribution, and the bundles in its wheel."""

NPM = """#!{python}
# As the real one: it removes node_modules, fills it again, and fails when something else writes there.
import json, os, pathlib, shutil, sys, time
here, calls = pathlib.Path.cwd(), pathlib.Path({calls!r})
(calls / f"npm-{{os.getpid()}}").touch()
wanted, deadline = int(os.environ.get("TOGETHER", "1")), time.monotonic() + 120
while len(list(calls.glob("npm-*"))) < wanted:
    assert time.monotonic() < deadline, "the other install did not come as far as npm"
    time.sleep(0.01)
modules = here / "node_modules"
shutil.rmtree(modules, ignore_errors=True)
modules.mkdir()
(modules / f"of-{{os.getpid()}}").touch()
icons = modules / "@fortawesome" / "fontawesome-free"
(icons / "metadata").mkdir(parents=True)
outline = {{"path": "M0 0" * 300_000, "width": 512}}
families = {{"star": {{"svgs": {{"classic": {{"solid": outline}}}}}}}}
(icons / "metadata" / "icon-families.json").write_text(json.dumps(families))
(icons / "metadata" / "shims.yml").touch()
(icons / "package.json").write_text(json.dumps({{"name": "icons", "version": "1", "license": "MIT"}}))
(icons / "LICENSE").write_text("as you like")
(calls / f"filled-{{os.getpid()}}").touch()
while len(list(calls.glob("filled-*"))) < wanted:
    assert time.monotonic() < deadline, "ENOTEMPTY: the other install failed"
    time.sleep(0.01)
mine = [path.name for path in modules.glob("of-*")]
sys.exit(0 if mine == [f"of-{{os.getpid()}}"] else f"ENOTEMPTY: {{modules}} is used by {{mine}}")
"""

NODE = """#!{python}
import pathlib, sys
for name in sys.argv[2:] if sys.argv[1] == "encode.mjs" else ():
    for suffix in ("br", "gz"):
        pathlib.Path(f"{{name}}.{{suffix}}").write_text("x" * 40_000)
options = dict(word.split("=", 1) for word in sys.argv if "=" in word)
if "--outfile" in options:
    pathlib.Path(options["--outfile"]).write_text("x" * 400_000)
if "--metafile" in options:
    pathlib.Path(options["--metafile"]).write_text('{{"inputs": {{}}}}')
"""


@dataclass
class Clone:
    """A clone that nothing was built in, and a PATH that has stand-ins for npm and node."""

    folder: Path
    tools: Path

    @property
    def calls(self) -> list[str]:
        """The runs of npm."""
        return [path.name for path in self.tools.glob("npm-*")]

    def pip(self, *words: str | Path, together: int = 1) -> subprocess.Popen[str]:
        """pip with these words, without any index."""
        path = f"{self.tools}{os.pathsep}{os.environ['PATH']}"
        return subprocess.Popen(
            [sys.executable, "-m", "pip", *words, "--no-deps", "--no-build-isolation", "--no-index"],
            env={**os.environ, "PATH": path, "TOGETHER": str(together)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    folder, tools = tmp_path / "clone", tmp_path / "tools"
    (folder / ".git").mkdir(parents=True)
    for name in PACKED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns(*MADE))
        elif (ROOT / name).exists():
            shutil.copy(ROOT / name, folder)
    tools.mkdir()
    for name, text in (("npm", NPM), ("node", NODE)):
        (tools / name).write_text(text.format(python=sys.executable, calls=str(tools)))
        (tools / name).chmod(0o755)
    return Clone(folder, tools)


@pytest.mark.parametrize("distribution", [*BUNDLES])
def test_two_installs_from_one_clone_at_a_time(clone: Clone, tmp_path: Path, distribution: str) -> None:
    """Both are whole, and nothing is left in the clone but the bundles. Red when npm works in frontend/ itself."""
    source = clone.folder / distribution
    outputs = [tmp_path / "first", tmp_path / "second"]
    running = [clone.pip("wheel", source, "--wheel-dir", output, together=2) for output in outputs]
    said = [process.communicate(timeout=300)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0], "\n".join(said)
    assert len(clone.calls) == 2
    for output in outputs:
        (wheel,) = output.glob("*.whl")
        with zipfile.ZipFile(wheel) as packed:
            assert set(packed.namelist()) >= BUNDLES[distribution]
            assert [name for name in packed.namelist() if "/.bundles-" in name] == []
    assert not (source / "frontend" / "node_modules").exists()
    assert {path.name for folder in (source, clone.folder) for path in folder.glob(".*")} == {".git"}


@pytest.mark.parametrize("words", [(), ("--editable",)])
@pytest.mark.parametrize("distribution", [*BUNDLES])
def test_metadata_is_read_without_a_build(clone: Clone, distribution: str, words: tuple[str, ...]) -> None:
    """Red with hatchling's own backend: pip builds the wheel to read its metadata."""
    source = clone.folder / distribution
    asked = clone.pip("install", "--dry-run", "--ignore-installed", *words, source)
    said, _ = asked.communicate(timeout=300)
    assert asked.returncode == 0, said
    assert f"Would install {'tenantry-site' if distribution == 'site' else 'tenantry'}-0" in said
    assert clone.calls == []
    assert [*source.glob("src/*/static/bundles")] == []
