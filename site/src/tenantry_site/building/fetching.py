"""Fetches the OpenAPI documents that a configuration names by web address, if the operator of a build requests it.

The author of the configuration must not reach the operator's network. So, as in the relay, the host name of the first
address and of each redirect is resolved once, and its IP addresses are checked.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Final
from urllib.parse import urljoin

from tenantry_site.building.site_files import DOCUMENT_LIMIT, SiteFiles, scan
from tenantry_site.config import loads
from tenantry_site.relay import RelayError, dial
from tenantry_site.relay.http1 import UpstreamResponse, send_request
from tenantry_site.relay.request import RelayRequest
from tenantry_site.relay.url import Url, parse_url
from tenantry_site.rendering import configuration_file

SECONDS: Final = 30.0
"""Timeout in seconds for a document, including its redirects."""

MOST_REDIRECTS: Final = 5

_HEADERS: Final = (
    ("Accept", "application/json, application/yaml;q=0.9, */*;q=0.1"),
    ("User-Agent", "tenantry-site"),
)
_HINT: Final = "Add --allow-private to allow it."


def fetch_documents(
    folder: str | os.PathLike[str],
    report: Callable[[str], None],
    *,
    allow_private: bool = False,
    resolve: dial.Resolve = dial.resolve,
) -> dict[str, bytes]:
    """Fetch a site's OpenAPI documents, for ``SiteOptions.documents``: web address -> content.

    A document that cannot be fetched is left out, and ``report`` is called with the reason. ``allow_private``: allow
    loopback, private and carrier-grade NAT addresses; metadata services stay forbidden. ``resolve``: replaces the
    system's resolver. Do not call this in a running event loop.
    """
    files = SiteFiles(scan(folder))
    path = configuration_file(files)
    config = None if path is None else loads(files[path])[0]
    addresses = [] if config is None else [one for one, *_ in config.documents if _is_web(one)]
    return asyncio.run(_Fetcher(allow_private, resolve).fetch(addresses, report)) if addresses else {}


def _is_web(address: str) -> bool:
    return address.lower().startswith(("http:", "https:"))  # fetching reports an invalid address


class _Fetcher:
    def __init__(self, allow_private: bool, resolve: dial.Resolve) -> None:
        self._allow_private = allow_private
        self._resolve = resolve

    async def fetch(self, addresses: list[str], report: Callable[[str], None]) -> dict[str, bytes]:
        found = {}
        for address in dict.fromkeys(addresses):
            try:
                async with asyncio.timeout(SECONDS):
                    found[address] = await self._document(address)
            except TimeoutError:
                report(f"{address} was not fetched: it did not arrive within {SECONDS:g} seconds")
            except RelayError as error:
                report(f"{address} was not fetched: {error.message}")
        return found

    async def _document(self, address: str) -> bytes:
        url = parse_url(address.partition("#")[0])
        for _ in range(MOST_REDIRECTS + 1):
            response = await self._get(url)
            if response.status == 200:
                if response.truncated:
                    raise RelayError("too_large", f"it is larger than {DOCUMENT_LIMIT // 2**20} MiB")
                return response.body
            url = _redirected(url, response)
        raise RelayError("bad_response", f"it redirects more than {MOST_REDIRECTS} times")

    async def _get(self, url: Url) -> UpstreamResponse:
        addresses = await dial.checked_addresses(url, self._resolve, private=self._allow_private, hint=_HINT)
        reader, writer = await dial.connect(addresses, url)
        try:
            return await send_request(reader, writer, RelayRequest("GET", url, _HEADERS, None), limit=DOCUMENT_LIMIT)
        finally:
            writer.transport.abort()


def _redirected(url: Url, response: UpstreamResponse) -> Url:
    """The redirect target. Raises RelayError for a response that is neither a document nor a redirect."""
    location = next((value for name, value in response.headers if name.lower() == "location"), "")
    if response.status not in {301, 302, 303, 307, 308} or not location:
        raise RelayError("bad_response", f"{url.authority} answered with status {response.status}")
    try:
        address = urljoin(f"{url.origin}{url.path}", location).partition("#")[0]
    except ValueError:
        raise RelayError("bad_address", f"{url.authority} redirects to an invalid address") from None
    following = parse_url(address)
    if url.scheme == "https" and following.scheme != "https":
        raise RelayError("bad_response", f"{url.authority} redirects from https to http")
    return following
