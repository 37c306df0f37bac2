"""Builds the browser bundles, so that ``pip install`` of a clone, an sdist or a git address gives a complete package.

``python hatch_build.py`` builds without packaging. frontend/bundling.py says when it builds, and how.
"""

from __future__ import annotations

import json
import shutil
import sys
import tarfile
from collections.abc import Iterable
from gzip import GzipFile
from io import BytesIO
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
FRONTEND = ROOT / "frontend"
DOCS = ROOT / "docs"

sys.path.insert(0, str(FRONTEND))
from bundling import Bundles, Node, licence_of  # noqa: E402
from sbom import TAKEN, Sbom, by_package, note_taken  # noqa: E402

CHUNKS = {
    Path(each).name: f"src/dashboards/{each}"
    for each in (
        *("charts/donut.js", "charts/heatmap.js", "charts/scatter.js"),
        *("controls/pickers.js", "menu_entries.js", "print.js"),
    )
}
"""What the page loads when it is needed: the drawing of a kind of chart, what opens below controls, what a panel's menu
shows or saves, paper."""
EDITOR = {
    "editor.js": "src/editor/editor.js",
    "editor_chart.js": "src/editor/results/drawing.js",
    "editor_diff.js": "src/editor/editor_diff.js",
    "editor_results.js": "src/editor/results/index.js",
    "editor_yaml.js": "src/editor/editor_yaml.js",
}
"""The SQL editor's script, and the bundles that it loads when they are needed."""
SHARED = {
    "@codemirror/language": "language",
    "@codemirror/state": "state",
    "@codemirror/view": "view",
    "@lezer/highlight": "highlight",
    "style-mod": "style_mod",
}
"""Package that editor_diff.js takes from editor.js -> the file that does so, in src/editor/code/shared."""
ENTRIES = {
    "page.js": "src/dashboards/page.js",
    **CHUNKS,
    **EDITOR,
    "vega.js": "src/dashboards/vega_view.js",
    "embed.js": "src/dashboards/embed/element.js",
}
"""Bundle of JavaScript -> its entry file."""
STYLES = {"page.css": "src/dashboards/page.css", "editor.css": "src/editor/editor.css"}
"""Bundle of styles -> its entry file."""

TOKENS = "tokens.css"
"""The design tokens; the docs site's distribution takes the same file."""
COPIED = {
    TOKENS: f"src/{TOKENS}",
    "embed.d.ts": "src/dashboards/embed/embed.d.ts",
    "embed-react.js": "src/dashboards/embed/react.js",
    "embed-react.d.ts": "src/dashboards/embed/react.d.ts",
}
"""File that is served as it is -> its source."""

ENCODED = (*ENTRIES, *STYLES, *(name for name in COPIED if name != TOKENS))
"""What a browser asks for, which is beside it by brotli (NAME.br) and gzip (NAME.gz), too: no server packs anything."""

PACKAGE = "embed.tgz"
"""The element as a package for npm: what hosts with a bundler install."""
PACKED = {
    "embed.js": "embed.js",
    "embed.d.ts": "embed.d.ts",
    "react.js": "embed-react.js",
    "react.d.ts": "embed-react.d.ts",
}
"""File of the package -> its bundle."""

ESBUILD = "node_modules/esbuild/bin/esbuild"
LOG = "--log-level=warning"

WHOLE = {
    "page.js": 50_000,
    "page.css": 10_000,
    "vega.js": 300_000,
    "embed.js": 2_000,
    TAKEN: 3,
    PACKAGE: 3_000,
    "editor.css": 500,
    "editor.js": 250_000,
    "editor_chart.js": 30_000,
    "editor_diff.js": 10_000,
    "editor_results.js": 20_000,
    "editor_yaml.js": 3_000,
    **dict.fromkeys(CHUNKS, 1_000),
    **dict.fromkeys(COPIED, 1_000),
}
SMALLEST = WHOLE | {f"{name}.{suffix}": WHOLE[name] // 10 for name in ENCODED for suffix in ("br", "gz")}


class Frontend(BuildHookInterface):  # type: ignore[type-arg]  # hatchling's generic parameter is its own configuration
    """hatchling asks ``dependencies`` before the isolated environment is filled and ``initialize`` before packing."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        return BUNDLES.dependencies()

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Runs for wheels, editable installs and sdists alike."""
        BUNDLES.update()
        if self.target_name == "wheel" and version != "editable":  # an editable install reads the clone's own
            build_data["force_include"][str(DOCS)] = "tenantry/demo/docs"
            build_data["sbom_files"].append(SBOM.write(self.metadata.core))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        SBOM.clean()


def make(node: Node, made: Path) -> None:
    """An esbuild run per entry, and some files as they are; each by two codings, too."""
    note_taken(made, by_package({name: bundle_one(node, name, entry, made) for name, entry in ENTRIES.items()}))
    for name, entry in STYLES.items():
        node.run(ESBUILD, entry, "--bundle", "--minify", "--charset=utf8", f"--outfile={made / name}", LOG)
    for name, source in COPIED.items():
        shutil.copyfile(node.sources / source, made / name)
    write_package(node.sources / "src/dashboards/embed/package.json", made)
    node.run("encode.mjs", *(str(made / name) for name in ENCODED))


def write_package(manifest: Path, made: Path) -> None:
    """A tarball as ``npm pack`` makes it, with nothing of the time or machine."""
    contents = {name: (made / bundle).read_bytes() for name, bundle in PACKED.items()}
    contents["react.js"] = b'import "./embed.js";\n' + contents["react.js"]  # one import is enough
    contents |= {"package.json": manifest.read_bytes(), "LICENSE": (ROOT / "LICENSE").read_bytes()}
    with (
        GzipFile(made / PACKAGE, "wb", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for name, content in sorted(contents.items()):
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(content)
            tar.addfile(entry, BytesIO(content))


def bundle_one(node: Node, name: str, entry: str, made: Path) -> list[str]:
    """One ES module and the licences of what is in it. Returns the packages."""
    metafile = node.sources / f"{name}.meta.json"
    options = ["--bundle", "--format=esm", "--target=es2022", "--minify", "--legal-comments=none", "--charset=utf8"]
    if name == "editor_diff.js":
        options += [f"--alias:{package}=./src/editor/code/shared/{file}.js" for package, file in SHARED.items()]
    node.run(ESBUILD, entry, *options, f"--outfile={made / name}", f"--metafile={metafile}", LOG)
    packages = taken_from(json.loads(metafile.read_text())["inputs"])
    text = "\n\n".join(licence_of(node.sources / package) for package in packages)  # must travel with the bundle
    (made / f"{Path(name).stem}.licenses.txt").write_text(text, encoding="utf-8")
    return packages


def taken_from(inputs: Iterable[str]) -> list[str]:
    """The folder of each package that esbuild took something from."""
    return sorted({package for path in inputs if (package := package_of(path)) is not None})


def package_of(path: str) -> str | None:
    """``node_modules/@a/b/src/x.js`` -> ``node_modules/@a/b``; None for our own sources."""
    before, found, after = path.rpartition("node_modules/")
    parts = after.split("/")
    return f"{before}{found}{'/'.join(parts[: 2 if parts[0].startswith('@') else 1])}" if found else None


BUNDLES = Bundles(
    folder=ROOT / "src" / "tenantry" / "static" / "bundles",
    smallest=SMALLEST,
    npm=FRONTEND,
    further=(Path(__file__),),
    make=make,
    clone=ROOT / ".git",
)
SBOM = Sbom(
    bundles=BUNDLES.folder,
    lock=FRONTEND / "package-lock.json",
    packed="tenantry/static/bundles",
    development=("test", "clients", "bench"),
)

if __name__ == "__main__":
    BUNDLES.update()
