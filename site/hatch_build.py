"""Packs the icons and the design tokens, so that ``pip install`` of a clone or an sdist gives a complete package.

``python hatch_build.py`` builds without packaging. bundling.py says when it builds, and how. In a clone it stands in
../frontend, as the tokens do, and core's distribution uses both too; an sdist has a copy of them in frontend/.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
FRONTEND = ROOT / "frontend"
COPIED = ("bundling.py", "build_backend.py", "sbom.py", "src/tokens.css")
"""What an sdist takes out of the repository's frontend/ into its own."""

SHARED = next(folder for folder in (FRONTEND, ROOT.parent / "frontend") if (folder / COPIED[0]).is_file())

sys.path.insert(0, str(SHARED))
# This file is the distribution's backend, too (pyproject.toml): PEP 517 takes one only from inside its own folder, and
# SHARED may be outside it.
from build_backend import *  # noqa: E402, F403
from bundling import Bundles, Node, licence_of  # noqa: E402
from sbom import TAKEN, Sbom, note_taken  # noqa: E402

TOKENS = "tokens.css"
ICONS = "icons.txt"
ICONS_PACKAGE = "node_modules/@fortawesome/fontawesome-free"
STYLES = ("solid", "regular", "brands")

SMALLEST = {ICONS: 1_000_000, TOKENS: 1_000, TAKEN: 50}


class Frontend(BuildHookInterface):  # type: ignore[type-arg]  # hatchling's generic parameter is its own configuration
    """hatchling asks ``dependencies`` before the isolated environment is filled and ``initialize`` before packing."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        return BUNDLES.dependencies()

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Runs for wheels, editable installs and sdists alike."""
        BUNDLES.update()
        if self.target_name == "sdist":  # of an sdist, too: in the same order
            for name in COPIED:
                build_data["force_include"][str(SHARED / name)] = f"frontend/{name}"
        if self.target_name == "wheel" and version != "editable":
            build_data["sbom_files"].append(SBOM.write(self.metadata.core))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        SBOM.clean()


def make(node: Node, made: Path) -> None:
    """The icons, and the tokens as they are."""
    bundle_icons(node.sources / ICONS_PACKAGE, made)
    shutil.copyfile(SHARED / "src" / TOKENS, made / TOKENS)
    note_taken(made, {ICONS_PACKAGE: [ICONS]})


def bundle_icons(package: Path, folder: Path) -> None:
    """``icons.txt``: an index by name, then the outlines, so that one icon is read without the other two thousand.

    The first line is ``icons 1`` and the size of the index in bytes. A line of the index is a name and its glyphs
    (``style:offset:size:width``, counted from the index's end; each is 512 high), or a name, ``=`` and the name that
    it stands for.
    """
    families = json.loads((package / "metadata" / "icon-families.json").read_text(encoding="utf-8"))
    index, outlines, offset = [], [], 0
    for name, icon in families.items():
        drawn = icon["svgs"]["classic"]
        glyphs = []
        for style in (style for style in STYLES if style in drawn):
            outline = drawn[style]["path"].encode("ascii")
            glyphs.append(f"{style}:{offset}:{len(outline)}:{drawn[style]['width']}")
            outlines.append(outline)
            offset += len(outline)
        index.append(f"{name} {' '.join(glyphs)}")
    index += [f"{old} ={name}" for old, name in old_names(package, families).items()]
    table = "".join(f"{line}\n" for line in sorted(index)).encode("ascii")
    (folder / ICONS).write_bytes(b"icons 1 %d\n" % len(table) + table + b"".join(outlines) + b"\n")
    (folder / f"{Path(ICONS).stem}.licenses.txt").write_text(licence_of(package), encoding="utf-8")


def old_names(package: Path, families: dict[str, Any]) -> dict[str, str]:
    """The icons' other names: aliases, and names of version 4 (two lines of YAML each: a key, and what it became)."""
    text = (package / "metadata" / "shims.yml").read_text(encoding="utf-8")
    shims = re.findall(r"^([\w-]+):\n(?:  prefix: .*\n)?  name: ([\w-]+)$", text, re.MULTILINE)
    aliases = {old: name for name, icon in families.items() for old in icon.get("aliases", {}).get("names", [])}
    found = {old: name if name in families else aliases.get(name, name) for old, name in shims} | aliases
    return {old: name for old, name in found.items() if old not in families and name in families}


BUNDLES = Bundles(
    folder=ROOT / "src" / "tenantry_site" / "static" / "bundles",
    smallest=SMALLEST,
    npm=FRONTEND,
    further=(*(SHARED / name for name in COPIED), Path(__file__)),
    make=make,
    clone=ROOT.parent / ".git",
)
SBOM = Sbom(
    bundles=BUNDLES.folder,
    lock=FRONTEND / "package-lock.json",
    packed="tenantry_site/static/bundles",
)

if __name__ == "__main__":
    BUNDLES.update()
