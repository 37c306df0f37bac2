"""Real configuration files, and what another program that reads them says of each."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from engines.corpus import CORPUS


@dataclass(frozen=True)
class Real:
    """One file: whether the newest version of the other program takes it, and the pointers that it complains about."""

    name: str
    data: bytes
    parses: bool
    accepted: bool
    pointers: tuple[str, ...]


def real_files() -> list[Real]:
    """All files of both folders; none where the corpus is absent."""
    return [
        _real(CORPUS / folder / row["file"], row)
        for folder in ("site_config", "site_config_broken")
        if CORPUS.is_dir()
        for row in csv.DictReader((CORPUS / folder / "oracle.tsv").read_text("utf-8").splitlines(), delimiter="\t")
    ]


def _real(path: Path, row: dict[str, str]) -> Real:
    named = re.findall(r"(?:^|\| )#\.(\S+): ", row["messages_0.1.878"])
    pointers = tuple("/" + name.replace("[", "/").replace("]", "").replace(".", "/") for name in named)
    return Real(path.name, path.read_bytes(), row["json"] == "ok", row["v0.1.878"] == "valid", pointers)


REAL = real_files()
each_real = pytest.mark.parametrize("real", REAL, ids=[real.name for real in REAL])
