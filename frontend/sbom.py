"""The software bill of materials of a wheel: the npm packages in its bundles, and the Python packages that it asks for.

CycloneDX 1.6 in JSON, packed as PEP 770 says. Everything in it comes from the sources, so that two builds give the same
bytes: no time, no random number, no name of a machine.
"""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TAKEN = "packages.json"
"""Beside the bundles: the folder of an npm package -> the bundles that hold something of it."""


def note_taken(made: Path, taken: Mapping[str, Iterable[str]]) -> None:
    """Writes it down when the bundles are made: a wheel may be packed later, without npm."""
    text = json.dumps({folder: sorted(taken[folder]) for folder in sorted(taken)}, indent=1)
    (made / TAKEN).write_text(f"{text}\n", encoding="utf-8")


def by_package(bundles: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Bundle -> its packages, the other way round."""
    taken: dict[str, list[str]] = {}
    for bundle, folders in bundles.items():
        for folder in folders:
            taken.setdefault(folder, []).append(bundle)
    return taken


class Sbom:
    """The file for one wheel, in a folder of its own until the wheel is packed.

    ``bundles``: the folder of the bundles. ``lock``: package-lock.json. ``packed``: where the bundles are in the wheel.
    ``development``: the extras that are for those who work on the package.
    """

    def __init__(self, bundles: Path, lock: Path, packed: str, development: Collection[str] = ()) -> None:
        self._bundles = bundles
        self._lock = lock
        self._packed = packed
        self._development = development
        self._scratch: tempfile.TemporaryDirectory[str] | None = None

    def write(self, core: Any) -> str:
        """Makes the file of hatchling's core metadata, and returns its path."""
        self._scratch = tempfile.TemporaryDirectory()
        path = Path(self._scratch.name) / f"{core.name}.cdx.json"
        path.write_text(json.dumps(self.document(core), indent=1) + "\n", encoding="utf-8")
        return str(path)

    def clean(self) -> None:
        """After the wheel is packed."""
        if self._scratch is not None:
            self._scratch.cleanup()

    def document(self, core: Any) -> dict[str, Any]:
        """The bill of materials as CycloneDX."""
        own = {
            **_component("pypi", core.name, core.version),
            "description": core.description,
            "licenses": _licences(core.license_expression),
        }
        taken = json.loads((self._bundles / TAKEN).read_text(encoding="utf-8"))
        packages = json.loads(self._lock.read_text(encoding="utf-8"))["packages"]
        npm = _npm(taken, packages, self._packed)
        python = _python(core, self._development)
        direct = {_reference(packages, folder) for folder in _needs(packages, "") if folder in taken}
        needs = {own["bom-ref"]: direct | {*python}}
        for folder in taken:
            found = {_reference(packages, need) for need in _needs(packages, folder) if need in taken}
            needs.setdefault(_reference(packages, folder), set()).update(found)
        return {
            "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "version": 1,
            "metadata": {"lifecycles": [{"phase": "build"}], "component": own},
            "components": [*npm.values(), *python.values()],
            "dependencies": [{"ref": ref, "dependsOn": sorted(needs[ref])} for ref in sorted(needs)],
        }


def _component(kind: str, name: str, version: str | None = None) -> dict[str, Any]:
    """A library of a registry, named by its package URL (purl)."""
    scope, _, plain = name.rpartition("/")
    purl = "/".join([f"pkg:{kind}", *([quote(scope, safe="")] if scope else []), plain])
    purl += f"@{version}" if version else ""
    known = {"group": scope or None, "name": plain, "version": version, "purl": purl}
    return {"type": "library", "bom-ref": purl, **{key: value for key, value in known.items() if value is not None}}


def _licences(expression: Any) -> list[dict[str, Any]]:
    """SPDX: an identifier, or an expression with AND, OR and WITH. Nothing is packed whose licence is not told."""
    if not isinstance(expression, str):
        raise SystemExit(f"a bundled package has no licence in package-lock.json, but {expression!r}: leave it out")
    return [{"expression": expression}] if " " in expression else [{"license": {"id": expression}}]


def _npm(taken: Mapping[str, list[str]], packages: Mapping[str, Any], packed: str) -> dict[str, dict[str, Any]]:
    """purl -> what is in the bundles, with the hash of the archive that npm checked."""
    found: dict[str, dict[str, Any]] = {}
    for folder in sorted(taken):
        entry = packages[folder]
        algorithm, _, digest = entry["integrity"].partition("-")
        part = _component("npm", _name(folder), entry["version"])
        part = found.setdefault(part["purl"], part | {"scope": "required", "evidence": {"occurrences": []}})
        part["licenses"] = _licences(entry.get("license"))
        part["hashes"] = [{"alg": algorithm.upper().replace("SHA", "SHA-"), "content": base64.b64decode(digest).hex()}]
        places = part["evidence"]["occurrences"]
        places += [{"location": f"{packed}/{bundle}"} for bundle in taken[folder]]
    return found


def _python(core: Any, development: Collection[str]) -> dict[str, dict[str, Any]]:
    """purl -> what the package asks for. Which version that becomes is known where it is installed: none is said here,
    but the range. CycloneDX calls ``excluded`` what is not there when the program runs."""
    asked = [(text, "required") for text in core.dependencies]
    for extra, texts in core.optional_dependencies.items():
        scope = "excluded" if extra in development else "optional"
        asked += [(f'{text} ; extra == "{extra}"', scope) for text in texts]
    found: dict[str, dict[str, Any]] = {}
    for scope in ("required", "optional", "excluded"):
        for text in sorted(text for text, its_scope in asked if its_scope == scope):
            name = canonicalize_name(Requirement(text).name)
            if name != canonicalize_name(core.name):  # an extra that brings another one
                part = _component("pypi", name)
                part = found.setdefault(part["purl"], part | {"scope": scope, "properties": []})
                part["properties"].append({"name": "python:requirement", "value": text})
    return dict(sorted(found.items()))


def _name(folder: str) -> str:
    return folder.rpartition("node_modules/")[2]


def _reference(packages: Mapping[str, Any], folder: str) -> str:
    return str(_component("npm", _name(folder), packages[folder]["version"])["bom-ref"])


def _needs(packages: Mapping[str, Any], folder: str) -> list[str]:
    """The folders of what a package depends on, looked for as node does: its own node_modules, then those above."""
    return [found for name in packages[folder].get("dependencies", {}) if (found := _resolve(packages, folder, name))]


def _resolve(packages: Mapping[str, Any], folder: str, name: str) -> str | None:
    while f"{folder}/node_modules/{name}".lstrip("/") not in packages:
        if not folder:
            return None
        folder = folder.rpartition("node_modules/")[0].rstrip("/")
    return f"{folder}/node_modules/{name}".lstrip("/")
