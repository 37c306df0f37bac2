"""Apache and nginx ask the endpoint, with the very configurations of docs/introspection.md, from Debian's packages.

They are unpacked without root (engines/debian_packages.py). What a deployment would set itself is put into the
blocks: addresses, and the API token.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import anyio
import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from engines.certificates import self_signed
from engines.debian_packages import environment, require
from engines.ports import free_port
from tests.backends.introspection.conftest import listening, make_issued, rotate
from tests.provisioning.http.conftest import Service

DOCS = (Path(__file__).parents[3] / "docs" / "introspection.md").read_text("utf-8")
ADDRESS = "http://127.0.0.1:8000/oauth/introspect"
SECONDS = 60.0


def block(name: str) -> str:
    """A block of the page, by the text after its backticks."""
    found = re.search(rf"```{name}\n(.*?)```", DOCS, re.DOTALL)
    assert found is not None, name
    return found[1]


@dataclass(frozen=True)
class Asked:
    """The introspection endpoint and the app behind the web server."""

    endpoint: str
    app: str
    api_token: str

    def put_in(self, text: str) -> str:
        for written, meant in (
            (ADDRESS, self.endpoint),
            ("https://tenantry.example.com/oauth/introspect", self.endpoint),
            ("http://127.0.0.1:3000", self.app),
            ("<API_TOKEN>", self.api_token),
            ("<A LONG RANDOM TEXT>", "0123456789" * 4),
        ):
            text = text.replace(written, meant)
        assert "<A" not in text
        return text


APACHE = ("apache2-bin", "libapache2-mod-auth-openidc", "libapache2-mod-oauth2")
APACHE_MODULES = ("mpm_event", "authn_core", "authz_core", "authz_user", "headers", "proxy", "proxy_http")


def apache(module: str, *lines: str) -> Callable[[Path, Asked, int], list[str]]:
    """The command of an Apache with this module and its block of the page."""

    def command(folder: Path, asked: Asked, port: int) -> list[str]:
        root = require(*APACHE)
        modules = root / "usr/lib/apache2/modules"
        loaded = [(f"{name}_module", f"mod_{name}.so") for name in APACHE_MODULES]
        loaded.append(("oauth2_module" if module == "mod_oauth2" else "auth_openidc_module", f"{module}.so"))
        config = "\n".join(
            [
                f'ServerRoot "{folder}"',
                f'PidFile "{folder}/apache.pid"',
                f'ErrorLog "{folder}/error.log"',
                f'DefaultRuntimeDir "{folder}"',
                f"Listen 127.0.0.1:{port}",
                "ServerName localhost",
                "User nobody\nGroup nogroup",
                *(f'LoadModule {name} "{modules / file}"' for name, file in loaded),
                *lines,
                asked.put_in(block(f"apache {module}")),
                f"ProxyPass /dashboards {asked.app}/dashboards",
            ]
        )
        (folder / "apache.conf").write_text(config, "utf-8")
        return [str(root / "usr/sbin/apache2"), "-f", str(folder / "apache.conf"), "-D", "FOREGROUND"]

    return command


def nginx(folder: Path, asked: Asked, port: int) -> list[str]:
    """The command of an nginx with njs and the two blocks of the page."""
    root = require("nginx", "libnginx-mod-http-js")
    (folder / "tenantry.js").write_text(block("js njs"), "utf-8")
    kept = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    config = f"""
        load_module {root}/usr/lib/nginx/modules/ngx_http_js_module.so;
        pid {folder}/nginx.pid;
        error_log {folder}/error.log info;
        daemon off;
        events {{}}
        http {{
          access_log off;
          {"".join(f"{name}_temp_path {folder}/{name};" for name in kept)}
          js_import tenantry from {folder}/tenantry.js;
          server {{
            listen 127.0.0.1:{port};
            {asked.put_in(block("nginx njs"))}
          }}
        }}
    """
    (folder / "nginx.conf").write_text(config, "utf-8")
    return [str(root / "usr/sbin/nginx"), "-p", str(folder), "-c", str(folder / "nginx.conf")]


@asynccontextmanager
async def web_server(command: list[str], folder: Path, port: int) -> AsyncIterator[str]:
    """Runs until the end of the block. The root folder of the packages is the second above the program."""
    root = Path(command[0]).parents[2]
    log = (folder / "output.log").open("wb")
    process = subprocess.Popen(command, env=environment(root), stdout=log, stderr=log)
    try:
        await until_connected(port, process, folder)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await anyio.to_thread.run_sync(process.wait, SECONDS)
        log.close()


async def until_connected(port: int, process: subprocess.Popen[bytes], folder: Path) -> None:
    async with asyncio.timeout(SECONDS):
        while True:
            assert process.poll() is None, logs_of(folder)
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except ConnectionRefusedError:
                await asyncio.sleep(0.05)
                continue
            writer.close()
            return


def logs_of(folder: Path) -> str:
    return "\n".join(path.read_text("utf-8", "replace") for path in sorted(folder.glob("*.log")))


async def dashboards(request: Request) -> PlainTextResponse:
    """The app behind the web server: it believes the header, and shows all that came of that name and after it."""
    groups = request.headers.getlist("x-user-group") or ["nobody"]
    return PlainTextResponse("|".join([*groups, *request.headers.getlist("x-injected")]))


APP = Starlette(routes=[Route("/dashboards/{rest:path}", dashboards), Route("/dashboards", dashboards)])

HOSTILE = ("é 東", "acme ", " acme", "x\r\nX-Injected: y", "x\nX-User-Group: acme", "acme\r\n", "acme\n", "a%62c")
"""Ids that a header cannot hold as they are."""

BEARER = "Authorization", "Bearer {}"
HEADER = "User-Group-Token", "{}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "carrier", "tls"),
    [
        pytest.param(apache("mod_oauth2"), BEARER, False, id="mod_oauth2"),
        pytest.param(apache("mod_auth_openidc", "OIDCSSLValidateServer Off", "OIDCOAuthSSLValidateServer Off"),
                     BEARER, True, id="mod_auth_openidc"),
        pytest.param(nginx, HEADER, False, id="nginx njs"),
    ],
)  # fmt: skip
async def test_a_web_server_asks(
    command: Callable[[Path, Asked, int], list[str]],
    carrier: tuple[str, str],
    tls: bool,
    service: Service,
    tmp_path: Path,
) -> None:
    """A live token passes and the app learns whose it is, whatever the viewer claims; none, a wrong one and a
    rotated one do not pass. Whatever an id holds, the app reads this id and no other header of it.

    Red for mod_oauth2 and mod_auth_openidc when the endpoint reads no Basic: 401 for everybody; and with the claim put
    into the header as it is: the group "acme " was "acme", and a line break began a header of its own.
    """
    name, form = carrier
    issued, token = await make_issued(service)
    port = free_port()
    server = service.http._transport.app  # type: ignore[attr-defined]
    async with (
        listening(server, certificate=self_signed(tmp_path) if tls else None) as endpoint,
        listening(APP) as app,
    ):
        asked = Asked(endpoint, app.removesuffix("/oauth/introspect"), service.reader)
        async with (
            web_server(command(tmp_path, asked, port), tmp_path, port) as url,
            httpx2.AsyncClient(base_url=url, trust_env=False, timeout=SECONDS) as http,
        ):

            async def get(*headers: tuple[str, str]) -> httpx2.Response:
                return await http.get("/dashboards/sales", headers=list(headers))

            good = await get((name, form.format(token)), ("X-User-Group", "another"))
            assert (good.status_code, good.text) == (200, "acme"), logs_of(tmp_path)
            assert (await get(("X-User-Group", "another"))).status_code == 401
            assert (await get((name, form.format("x")))).status_code == 401
            for id_ in HOSTILE:  # one header, and nothing that the id itself holds
                _, hostile = await make_issued(service, provided_id=id_)
                answer = await get((name, form.format(hostile)))
                assert (answer.status_code, unquote(answer.text)) == (200, id_)
            _, new = await rotate(service, issued)
            async with asyncio.timeout(SECONDS):  # the cache that the page gives them: some seconds
                while (await get((name, form.format(token)))).status_code != 401:
                    await asyncio.sleep(0.2)
            assert (await get((name, form.format(new)))).text == "acme"
