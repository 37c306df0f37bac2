"""The demo: sixteen airlines look at one dashboard, and each sees its own flights only.

prepare_demo is everything of Tenantry in one process, on a folder that is made when it is not there. The docs are
served beside it, with a playground that calls the demo itself.
"""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount
from starlette.types import ASGIApp

from tenantry.app import compose
from tenantry.backends.sql import SQLStore
from tenantry.dashboards.mount import mount_dashboards
from tenantry.datasources import DataSources
from tenantry.demo.app import demo_app
from tenantry.demo.sources import AIRLINES, SHOWN, airline, prepare
from tenantry.groups import Author, Environment, GroupChanges, Record, Tag
from tenantry.keys import SigningKeys, create_key_file
from tenantry.migrations import migrate
from tenantry.ports import Store
from tenantry.provisioning import Provisioner, issue_api_token
from tenantry.resolver import Resolver
from tenantry.tokens import KeyRing, draft_token

if TYPE_CHECKING:
    from starlette.types import Message


PACKED = Path(__file__).parent / "docs"
"""Where a wheel has them."""

CLONE = Path(__file__).parents[3] / "docs"
"""Where a clone has them."""

DASHBOARDS = Path(__file__).parent / "dashboards"
"""The dashboards as files; their queries are in ``queries``, beside it."""

_LOOPBACK = frozenset({"127.0.0.1", "localhost"})
_EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104  # what a demo may listen on


def handbook(url: str) -> ASGIApp | None:
    """The docs as an app to be mounted; None where they, or what shows them, are not installed.

    ``url`` is where the demo is served. The relay of the playground reaches that and nothing else, and serves only who
    came by the same name.
    """
    folder = next((place for place in (PACKED, CLONE) if (place / "site.json").is_file()), None)
    if folder is None or find_spec("tenantry_site") is None:
        return None
    from tenantry_site import site_app
    from tenantry_site.relay import Relay

    own = origins(url)
    relay = Relay([], own, hosts={_bracketed(urlsplit(origin).hostname or "") for origin in own})
    return site_app(folder, relay=relay)


def origins(url: str) -> list[str]:
    """The demo's origin, and its other name on this machine; of a demo for everywhere only those on this machine."""
    parts = urlsplit(url)
    names = sorted(_LOOPBACK) if parts.hostname in _LOOPBACK | _EVERYWHERE else [_bracketed(parts.hostname or "")]
    return [f"{parts.scheme}://{name}:{parts.port or 80}" for name in names]


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


_SEE_OTHER = 303


async def open_page(app: ASGIApp, url: str) -> int:
    """GET, as a browser does it: a redirect is followed with the cookie that came with it. Returns the last status."""
    status, headers = await _get(app, url, [])
    if status != _SEE_OTHER:
        return status
    cookie = headers.get(b"set-cookie", b"").partition(b";")[0]
    status, _ = await _get(app, headers[b"location"].decode(), [(b"cookie", cookie)])
    return status


async def _get(app: ASGIApp, url: str, headers: list[tuple[bytes, bytes]]) -> tuple[int, dict[bytes, bytes]]:
    """Status and headers of one answer; its body is thrown away."""
    parts = urlsplit(url)
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": parts.scheme or "http",
        "path": parts.path,
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "headers": [(b"host", (parts.netloc or "127.0.0.1").encode()), *headers],
        "client": None,
        "server": None,
    }
    start: dict[str, Any] = {}
    messages: asyncio.Queue[Message] = asyncio.Queue()
    messages.put_nowait(
        {"type": "http.request", "body": b"", "more_body": False}
    )  # and then it stays, as a reader does

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            start.update(message)

    await app(scope, messages.get, send)
    return start["status"], dict(start["headers"])


ENVIRONMENT = "demo"
LABEL = "tenantry demo"
_AUTHOR = Author(LABEL)


@dataclass(frozen=True, slots=True)
class Demo:
    """The demo's app, and the secrets that its addresses are made of."""

    app: Starlette
    tokens: dict[str, str] = field(repr=False)
    unknown_token: str = field(repr=False)
    api_token: str = field(repr=False)
    has_docs: bool

    def addresses(self, url: str) -> str:
        """What to open, for people on a terminal."""
        names = {carrier: airline(carrier).name for carrier in SHOWN}
        width = max(len(name) for name in names.values())
        lines = ["", "One dashboard, three customers. Open each of these:", ""]
        lines += [f"  {name:<{width}}  {self.opened(url, self.tokens[carrier])}" for carrier, name in names.items()]
        lines += [
            "",
            "A token that was never given out is refused:",
            "",
            f"  {'nobody':<{width}}  {self.opened(url, self.unknown_token)}",
            "",
            f"The API: {url}/api/user (OpenAPI: {url}/openapi.json). This creates a group and shows its token:",
            "",
            f"  curl -X GET {url}/api/user -H 'Content-Type: application/json' \\",
            f"    -H 'Authorization: Token {self.api_token}' -d '{{\"user_group_id\": \"acme\"}}'",
            "",
        ]
        if self.has_docs:
            lines += [
                f"The documentation: {url}/docs/",
                "",
                f"  {url}/docs/api/get-or-create calls this server. It asks for the API token:",
                f"  {self.api_token}",
            ]
        else:
            lines += ["The documentation is not installed: pip install 'tenantry[site]'"]
        lines += ["", "Ctrl-C stops it."]
        return "\n".join(lines)

    def opened(self, url: str, token: str) -> str:
        """The address that opens the dashboard with a token."""
        return f"{url}/?USER_GROUP_TOKEN={token}"

    async def open_pages(self, url: str) -> None:
        """Opens each page of ``addresses`` once: the documentation is rendered, both data sources have answered."""
        pages = [self.opened(url, self.tokens[carrier]) for carrier in SHOWN]
        for page in [*pages, *([f"{url}/docs/"] if self.has_docs else [])]:
            with suppress(Exception):  # it is seen by whoever opens that page, and the others are there
                await open_page(self.app, page)


def prepare_demo(folder: str | Path, url: str) -> Demo:
    """Makes the data, the keys and the store in ``folder`` (a second the first time), and one group per airline.

    ``url`` is where the app will be served.
    """
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    key_file, database = folder / "tenantry.keys", f"sqlite:///{folder / 'tenantry.db'}"
    if not key_file.exists():
        create_key_file(key_file)
    migrate(database)
    keys = SigningKeys.from_file(key_file)
    tokens, api_token = asyncio.run(_provision(database, keys, folder))
    store = SQLStore(database)
    sources = DataSources(store)
    # The resolver asks again after every write on this host, so a rotation shows at once.
    resolver = Resolver(store, keys=keys)
    dashboards = demo_app(resolver, sources)
    mount_dashboards(dashboards, DASHBOARDS, resolver, sources)
    docs = handbook(url)
    routes: list[BaseRoute] = [Mount("/", dashboards)]
    if docs is not None:
        from tenantry_site import site_routes  # a distribution that may not be installed

        routes = [*site_routes("/docs", docs), *routes]
    app = compose(store, keys, routes=routes, closing=[sources.aclose])
    unknown = keys.mint(draft_token(Tag.CUSTOMER, keys.active_id, secrets.token_bytes))
    return Demo(app, tokens, unknown, api_token, has_docs=docs is not None)


async def _provision(database: str, keys: KeyRing, folder: Path) -> tuple[dict[str, str], str]:
    store = SQLStore(database)
    try:
        environment = await store.environment(ENVIRONMENT) or await store.create_environment(
            ENVIRONMENT, Tag.CUSTOMER, author=_AUTHOR
        )
        for name, url in (await prepare(folder)).items():
            known = await store.data_source(environment, name)
            if known is not None and known.url != url:
                await store.delete_data_source(environment, name, author=_AUTHOR)
                known = None
            if known is None:
                new_id = f"ds_{secrets.token_hex(8)}"
                await store.create_data_source(environment, source_id=new_id, provided_id=name, url=url, author=_AUTHOR)
        provisioner = Provisioner(store, keys)
        tokens = {}
        for each in AIRLINES:
            made = await provisioner.get_or_create(environment, each.draft(), author=_AUTHOR)
            wanted = (each.name, Record(each.properties), Record(each.mapping))
            if (made.group.name, made.group.properties, made.group.mapping) != wanted:
                changes = GroupChanges(each.name, each.properties, each.mapping)
                await provisioner.update(environment, each.carrier, changes, author=_AUTHOR)
            tokens[each.carrier] = made.token
        return tokens, await _api_token(store, environment)
    finally:
        await store.aclose()


async def _api_token(store: Store, environment: Environment) -> str:
    """A new one for each start; those of earlier starts die."""
    for old in await store.api_tokens(environment):
        if old.label == LABEL and old.revoked_at is None:
            await store.revoke_api_token(environment, old.id, author=_AUTHOR)
    secret, _ = await issue_api_token(store, environment, label=LABEL, author=_AUTHOR)
    return secret
