"""The software bill of materials: valid CycloneDX, whole, and true of the bundles beside it."""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import requires
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.distributions import DISTRIBUTIONS, package

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "frontend"))
from sbom import Sbom, note_taken  # type: ignore[import-not-found]  # noqa: E402  # beside the build hooks

LOCKS = {"tenantry": ROOT / "frontend", "tenantry-site": ROOT / "site" / "frontend"}
"""Distributions with bundles of npm packages. A distribution without them holds only our Python."""
BUNDLES = {name: DISTRIBUTIONS[name] / "src" / package(name) / "static" / "bundles" for name in LOCKS}
DEVELOPMENT = ("test", "clients", "bench")


def document(name: str) -> dict[str, Any]:
    """As the build hook makes it."""
    core = ProjectMetadata(str(DISTRIBUTIONS[name]), PluginManager()).core
    made = Sbom(BUNDLES[name], LOCKS[name] / "package-lock.json", f"{name}/bundles", DEVELOPMENT).document(core)
    assert isinstance(made, dict)
    return made


@pytest.fixture(params=[*LOCKS])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_it_is_valid_and_hangs_together(name: str) -> None:
    """By the schema, licences by SPDX's list; every reference leads somewhere, and every part is reached from the
    package. Red with a licence that SPDX does not know, and when the needs of nested npm packages are not found."""
    from cyclonedx.schema import SchemaVersion  # both take a second, and every process of the tests loads this file
    from cyclonedx.validation.json import JsonStrictValidator

    made = document(name)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(made)) is None
    known = {part["bom-ref"] for part in made["components"]}
    needs = {entry["ref"]: entry["dependsOn"] for entry in made["dependencies"]}
    reached, open_ = set(), [made["metadata"]["component"]["bom-ref"]]
    while open_:
        if (each := open_.pop()) not in reached:
            reached.add(each)
            open_ += needs.get(each, [])
    assert reached - {made["metadata"]["component"]["bom-ref"]} == known
    assert len(known) == len(made["components"])


def test_it_holds_what_is_in_the_bundles(name: str) -> None:
    """Each package whose licence travels with a bundle, in that version, and no other; the hash is the one that npm
    checks. Red when packages.json is written from package.json, which lacks what the packages bring themselves."""
    made = document(name)
    bundled = [part for part in made["components"] if part["purl"].startswith("pkg:npm/")]
    heads = re.compile(r"^(\S+) (\d\S*) \((.+)\)\n=+$", re.MULTILINE)
    licensed = {
        found.groups()
        for path in BUNDLES[name].glob("*.licenses.txt")
        for found in heads.finditer(path.read_text("utf-8"))
    }
    assert licensed
    assert {(_full_name(part), part["version"], _licence(part)) for part in bundled} == licensed
    for part in bundled:
        (digest,) = part["hashes"]
        assert (digest["alg"], len(digest["content"])) == ("SHA-512", 128)
        for place in part["evidence"]["occurrences"]:
            assert (BUNDLES[name] / Path(place["location"]).name).is_file()


def _full_name(part: dict[str, Any]) -> str:
    return "/".join(each for each in (part.get("group"), part["name"]) if each)


def _licence(part: dict[str, Any]) -> str:
    (entry,) = part["licenses"]
    return str(entry.get("expression") or entry["license"]["id"])


def test_it_holds_what_python_packages_are_asked_for(name: str) -> None:
    """With the ranges of the metadata; those of the tests alone are said not to run. Red when an extra is left out."""
    made = document(name)
    python = {part["name"]: part for part in made["components"] if part["purl"].startswith("pkg:pypi/")}
    declared: dict[str, set[str]] = {}
    for text in requires(name) or []:
        declared.setdefault(canonicalize_name(Requirement(text).name), set()).add(_plain(text))
    declared.pop(name, None)
    said = {each: {_plain(entry["value"]) for entry in part["properties"]} for each, part in python.items()}
    assert said == declared
    assert python["starlette"]["scope"] == "required"
    if name == "tenantry":
        assert (python["redis"]["scope"], python["pytest"]["scope"]) == ("optional", "excluded")
        assert python["cryptography"]["scope"] == "optional"  # through the extra `server`, whose own extra it is


def _plain(text: str) -> str:
    return str(Requirement(text))


def test_the_same_package_in_two_versions(tmp_path: Path) -> None:
    """As npm lays them: each with its own version, found as node finds them. Red when all are sought at the top."""
    entry = {"version": "1.0.0", "license": "MIT", "integrity": "sha512-AAAA"}
    packages = {
        "": {"dependencies": {"@a/b": "1", "c": "1"}},
        "node_modules/@a/b": entry | {"dependencies": {"c": "2"}},
        "node_modules/@a/b/node_modules/c": entry | {"version": "2.0.0"},
        "node_modules/c": entry,
    }
    lock = tmp_path / "package-lock.json"
    lock.write_text(json.dumps({"packages": packages}))
    note_taken(tmp_path, {folder: ["x.js"] for folder in packages if folder})
    core: Any = SimpleNamespace(
        name="p", version="1", description="", license_expression="MIT", dependencies=[], optional_dependencies={}
    )
    needs = {each["ref"]: each["dependsOn"] for each in Sbom(tmp_path, lock, "p").document(core)["dependencies"]}
    assert needs["pkg:pypi/p@1"] == ["pkg:npm/%40a/b@1.0.0", "pkg:npm/c@1.0.0"]
    assert needs["pkg:npm/%40a/b@1.0.0"] == ["pkg:npm/c@2.0.0"]
    del packages["node_modules/c"]["license"]
    lock.write_text(json.dumps({"packages": packages | {"node_modules/c": {"version": "1", "integrity": "sha512-AA"}}}))
    with pytest.raises(SystemExit, match="has no licence in package-lock"):
        Sbom(tmp_path, lock, "p").document(core)
