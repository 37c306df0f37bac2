"""How the build hook packs the icons."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from tenantry_site.icons import lookup

ROOT = Path(__file__).parents[3]


@pytest.fixture
def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build_of_icons", ROOT / "site" / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def package(folder: Path) -> Path:
    """A package of three icons in the form of the real one."""
    (folder / "metadata").mkdir(parents=True)

    def icon(aliases: list[str], **styles: str) -> dict[str, object]:
        drawn = {style: {"path": path, "width": 10 * len(path)} for style, path in styles.items()}
        return {"aliases": {"names": aliases}, "svgs": {"classic": drawn}}

    families = {
        "star": icon(["favourite", "bell"], solid="M1", regular="M2z2"),
        "bell": icon([], solid="M333"),
        "git": icon([], brands="M4"),
    }
    shims = "old-star:\n  prefix: far\n  name: favourite\nring:\n  name: bell\nonly-prefix:\n  prefix: fab\n"
    (folder / "metadata" / "icon-families.json").write_text(json.dumps(families))
    (folder / "metadata" / "shims.yml").write_text(shims)
    (folder / "package.json").write_text(json.dumps({"name": "icons", "version": "1", "license": "CC-BY-4.0"}))
    (folder / "LICENSE.txt").write_text("Icons: share them")
    return folder


def test_names_old_names_and_outlines_survive_the_packing(
    hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was packed is read back. Red when the offsets forget a style."""
    hook.bundle_icons(package(tmp_path / "package"), tmp_path)
    monkeypatch.setattr(lookup, "BUNDLE", tmp_path / "icons.txt")
    lookup.read_index.cache_clear()
    try:
        assert lookup.bundled_names() == ["bell", "favourite", "git", "old-star", "ring", "star"]
        assert lookup.bundled_name("old-star") == lookup.bundled_name("favourite") == "star"
        assert lookup.bundled_name("ring") == "bell"
        assert lookup.bundled_name("bell") == "bell"  # an icon's name is never another's old one
        assert lookup.bundled_name("sta") is None
        assert lookup.outlines("star") == {"solid": (20, "M1"), "regular": (40, "M2z2")}
        assert lookup.outlines("bell") == {"solid": (40, "M333")}
        assert lookup.outlines("git") == {"brands": (20, "M4")}
        assert lookup.outlines("favourite") == lookup.outlines("nothing") == {}
    finally:
        lookup.read_index.cache_clear()
    assert "Icons: share them" in (tmp_path / "icons.licenses.txt").read_text()


def test_a_package_without_a_licence_is_not_packed(hook: ModuleType, tmp_path: Path) -> None:
    """CC BY wants its text to travel with the icons."""
    folder = package(tmp_path / "package")
    (folder / "LICENSE.txt").unlink()
    with pytest.raises(SystemExit, match="icons has no licence file"):
        hook.bundle_icons(folder, tmp_path)
