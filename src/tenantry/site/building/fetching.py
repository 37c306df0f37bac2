"""Fetching: the OpenAPI documents that a configuration names by a web address, read once before a site is built.

Only when somebody asks for it: a build by itself talks to nobody.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from http.client import HTTPException
from typing import Final
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from tenantry.site.building.reading import DOCUMENT_LIMIT, SiteFiles
from tenantry.site.building.scanning import scan
from tenantry.site.config import loads
from tenantry.site.rendering import configuration_file

SECONDS: Final = 10.0
"""How long a host may be silent."""


def fetch_documents(folder: str | os.PathLike[str], tell: Callable[[str], None]) -> dict[str, bytes]:
    """The documents by the addresses that the configuration of ``folder`` names, as ``SiteOptions.documents`` takes
    them. One that cannot be had is missing, and ``tell`` hears why: the build then says where it is named."""
    files = SiteFiles(scan(folder))
    path = configuration_file(files)
    config = None if path is None else loads(files[path])[0]
    found = {}
    for address in () if config is None else config.openapi:
        if urlsplit(address).scheme.lower() in {"http", "https"}:
            try:
                found[address] = _fetch(address)
            except (OSError, HTTPException, ValueError) as error:
                tell(f"{address} was not fetched: {_reason(error)}")
    return found


def _fetch(address: str) -> bytes:
    asked = Request(address, headers={"Accept": "application/json, application/yaml;q=0.9, */*;q=0.1"})  # noqa: S310
    with urlopen(asked, timeout=SECONDS) as answer:  # noqa: S310  # its scheme was looked at
        content: bytes = answer.read(DOCUMENT_LIMIT + 1)
    if len(content) > DOCUMENT_LIMIT:
        raise ValueError(f"it is larger than {DOCUMENT_LIMIT // 2**20} MiB")
    return content


def _reason(error: Exception) -> str:
    return str(error.reason if isinstance(error, URLError) else error) or type(error).__name__
