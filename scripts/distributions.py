"""The distributions of this repository: the core, the docs site, and each folder of ``contrib/``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]


def project(folder: Path) -> dict[str, Any]:
    """Return the table ``project`` of the ``pyproject.toml`` in a folder."""
    found: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    return found


def distributions(root: Path = ROOT) -> dict[str, Path]:
    """Return the folder of each distribution by its name, the core first."""
    contrib = sorted(file.parent for file in root.glob("contrib/*/pyproject.toml"))
    return {project(folder)["name"]: folder for folder in (root, root / "site", *contrib)}


def package(name: str) -> str:
    """Return the import package of a distribution: ``tenantry-site`` -> ``tenantry_site``."""
    return name.replace("-", "_")


DISTRIBUTIONS: Final = distributions()
