"""Loads a configuration file from disk, and checks that the files it names exist in its folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tenantry_site.config import SiteConfig, loads
from tenantry_site.config.source import clip
from tenantry_site.diagnostic import Diagnostic, Severity

LARGEST = 32 * 1024 * 1024
"""Maximum bytes of a configuration file. The largest real one has 2.6 million."""
MOST_FILES = 20_000
"""With more files than this in the site's folder, missing files are not reported."""
_SKIPPED = frozenset({"node_modules", "__pycache__"})


def load(path: str | os.PathLike[str]) -> tuple[SiteConfig | None, tuple[Diagnostic, ...]]:
    """Read a configuration file from disk into the model, with diagnostics. Never raises for a bad file.

    Pages, images and OpenAPI files that are missing from the file's folder are reported. The ``path`` of diagnostics is
    the file's name. An unreadable file gives the diagnostic CFG001 and no model.
    """
    file_path = Path(path)
    try:
        if file_path.is_dir():
            return None, (_unreadable(file_path, "is a folder", "name the configuration file in it"),)
        if file_path.exists() and not file_path.is_file():
            return None, (_unreadable(file_path, "is not a plain file", "name the configuration file"),)
        with file_path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        return None, (_unreadable(file_path, "does not exist", "is the path right? A new site starts with site.json"),)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is not a valid path"
        return None, (_unreadable(file_path, f"cannot be read: {reason}", "allow this user to read it"),)
    if len(data) > LARGEST:
        return None, (too_large(file_path),)
    config, diagnostics = loads(data, files=files_of(file_path.parent))
    return config, tuple(replace(one, path=file_path.name) for one in diagnostics)


def files_of(folder: Path) -> frozenset[str] | None:
    """The relative paths, with ``/``, of all files in a folder and its subfolders; None if there are more than
    ``MOST_FILES``. Hidden files, ``node_modules`` and ``__pycache__`` are skipped; links to folders are not
    followed."""
    found: set[str] = set()
    for path in _list_files(folder):
        found.add(path)
        if len(found) > MOST_FILES:
            return None
    return frozenset(found)


def _list_files(folder: Path) -> Iterator[str]:
    top = str(folder)
    for here, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.startswith("."))
        inner = os.path.relpath(here, top).replace(os.sep, "/")
        prefix = "" if inner == "." else f"{inner}/"
        yield from (prefix + name for name in names if not name.startswith("."))


def too_large(file_path: Path) -> Diagnostic:
    return _unreadable(file_path, "is larger than 32 MiB", "is it the right file?")


def _unreadable(file_path: Path, what: str, fix: str) -> Diagnostic:
    return Diagnostic(Severity.ERROR, "CFG001", f"{clip(str(file_path), 120)} {what}", fix, path=file_path.name)
