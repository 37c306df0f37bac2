"""S14: secrets in any output. Every secret is a canary, everything fails, and all that was printed is searched."""

from __future__ import annotations

import base64
import os
import secrets
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import quote

from benchmarks.acceptance.check import Check, Effort, Measured
from benchmarks.acceptance.fleet.child import ROOT, Child, free_port
from benchmarks.acceptance.fleet.host import Host
from benchmarks.acceptance.fleet.line import Line, Lost, status
from benchmarks.acceptance.fleet.site import Site

_PROPERTY: Final = "canary-property-9Q4ZT7"
_PASSWORD: Final = "canary-password-8W3XK5"

_ROUTES: Final = (
    "/rows/main", "/rows/main?since=x", "/rows/main?number=1", "/rows/far?since=x", "/rows/none",
    "/page", "/crash", "/missing?x=y",
)  # fmt: skip
"""A missing parameter, good rows, an unbindable value, a server that is away, an unmapped schema, and so on."""


@dataclass
class _Output:
    """All that was printed, answered and written, by who printed it."""

    printed: dict[str, str] = field(default_factory=dict)

    def add(self, who: str, text: str) -> None:
        self.printed[who] = self.printed.get(who, "") + text + "\n"

    def holding(self, canaries: Mapping[str, str]) -> list[str]:
        """``who: what`` for each secret that is shown, as it is or encoded."""
        return [f"{who}: {name}" for who, text in self.printed.items() for name, secret in canaries.items()
                if any(spelling in text for spelling in _spellings(secret))]  # fmt: skip


def _spellings(secret: str) -> Iterator[str]:
    yield secret
    yield quote(secret, safe="")
    yield base64.b64encode(secret.encode()).decode().rstrip("=")
    yield secret.encode().hex()


def search(effort: Effort) -> Measured:
    """Every secret in everything that the server, an app, the command line and their answers say."""
    os.environ.update(TENANTRY_METRICS="true", TENANTRY_LOG_FORMAT="json")  # the server says all that it can
    output, control = _Output(), _Output()
    with Site() as site:
        host = site.host()
        operator = site.operator(host)
        commands = _Commands(site, host)
        _register(commands, site.folder)
        canaries = {
            "property": _PROPERTY, "data source password": _PASSWORD,
            "API token": operator.secret, "wrong API token": f"{operator.secret[:5]}{secrets.token_hex(24)}0",
            "idempotency key": secrets.token_hex(16), **_signing_keys(site.keys),
        }  # fmt: skip
        effort.say("provisioning, well and badly")
        token = _provision(host, site, canaries, output)
        canaries["user group token"], canaries["rotated token"] = token
        effort.say("an app that fails in every way")
        _view(site, host, token, output, control)
        effort.say("the command line")
        for words in _LISTS:
            output.add(f"tenantry {words}", commands.run(*words.split()))
        output.add("server's log", (host.folder / "serve.log").read_text(errors="replace"))
    found = output.holding(canaries)
    caught = control.holding(canaries)
    size = sum(map(len, output.printed.values()))
    seen = "found" if caught else "NOT FOUND"
    figure = f"{len(found)} of {len(canaries)} secrets in {size:,} characters of output (control: {seen})"
    return Measured(
        figure, not found and bool(caught) and size > 10_000, {"found": found, "outputs": sorted(output.printed)}
    )


_LISTS: Final = (
    "group list", "api-token list", "api-token list --json", "data-source list", "data-source list --json", "keys list",
    "audit", "audit --json", "environment list", "group rotate nobody", "group delete nobody", "migrate",
    f"data-source create again --url postgresql://u:{_PASSWORD}@", "data-source create far --url mysql://h/d",
    "data-source test near", "data-source test far",
)  # fmt: skip
"""What prints no secret by its purpose, and some that fail."""


class _Commands:
    """The command line, on the store of one site."""

    def __init__(self, site: Site, host: Host) -> None:
        self._variables = {
            **host.environment, "TENANTRY_DATABASE": site.database, "TENANTRY_KEYS": str(site.keys),
            "TENANTRY_ENVIRONMENT": "production",
        }  # fmt: skip

    def run(self, *words: str) -> str:
        """All that it prints."""
        done = subprocess.run(
            [sys.executable, "-m", "tenantry", *words], cwd=ROOT, env={**os.environ, **self._variables},
            capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        return done.stdout + done.stderr


def _register(commands: _Commands, folder: Path) -> None:
    """A source that answers, and one with a password on a port where nobody listens."""
    sqlite3.connect(folder / "warehouse.db").close()
    away = f"postgresql://analyst:{_PASSWORD}@127.0.0.1:{free_port()}/db"
    for name, url in (("near", f"sqlite:///{folder / 'warehouse.db'}"), ("far", away)):
        commands.run("data-source", "create", name, "--no-check", "--url", url)


def _signing_keys(file: Path) -> dict[str, str]:
    lines = [line.split() for line in file.read_text().splitlines() if line and not line.startswith("#")]
    return {f"signing key {line[0]}": line[-1] for line in lines}


def _provision(host: Host, site: Site, canaries: Mapping[str, str], output: _Output) -> tuple[str, str]:
    """Good and bad calls; gives the live token and the one before it. Good answers hold the token on purpose."""
    server = host.serve(site.database)
    good, bad = ({"authorization": f"Token {canaries[name]}"} for name in ("API token", "wrong API token"))
    group = {"user_group_id": "acme", "mapping": {"main": "near", "far": "far"}, "properties": {"secret": _PROPERTY}}
    with Line(server.port) as line:
        first = line.ask("GET", "/api/user", good, group).json()["user_group"]["token"]
        keyed = {**good, "idempotency-key": canaries["idempotency key"]}
        live = line.ask("POST", "/api/user", keyed, {"current_token": first}).json()["user_group"]["token"]
        refused = [
            ("GET", bad, group), ("PUT", good, {**group, "name": 5}), ("PUT", good, {**group, "nothing": _PROPERTY}),
            ("POST", good, {"current_token": first}), ("POST", keyed, {"current_token": live}),
            ("POST", good, {"current_token": live, "user_group_id": "acme"}), ("GET", good, {"user_group_id": [live]}),
            ("HEAD", good, group),
            ("PUT", good, {"user_group_id": "acme", "properties": {_PROPERTY: float("inf")}}),
        ]  # fmt: skip
        for method, headers, body in refused:
            try:
                answer = line.ask(method, "/api/user", headers, body)
            except Lost:  # an answer to HEAD has no body, whatever its Content-Length says
                continue
            output.add(f"{method} /api/user", f"{answer.status} {answer.headers} {answer.body.decode()}")
            if answer.status < 400:
                raise RuntimeError(f"{method} {body} was to be refused and got {answer.status}")
        for path in ("/metrics", "/healthz", "/readyz", f"/api/user?token={live}", f"/{live}"):
            output.add(f"GET {path[:9]}", line.ask("GET", path).body.decode())
    return live, first


def _view(site: Site, host: Host, tokens: tuple[str, str], output: _Output, control: _Output) -> None:
    """Each failure of the app, with the token in each carrier; then the leak that is to be found."""
    port = free_port()
    where = {"ATTACKED_DATABASE": site.database, "ATTACKED_KEYS": str(site.keys), **host.environment}
    words = [
        "uvicorn",
        "--factory",
        "benchmarks.acceptance.attacks.secrets_app:create",
        "--port",
        str(port),
        "--log-level",
        "debug",
    ]
    app = Child(words, log=host.folder / "app.log", env=where)
    try:
        app.wait_until(lambda: status(port, "/healthz") > 0)
        for path in _ROUTES:
            mark = "&" if "?" in path else "?"
            for token in tokens:
                for asked, headers in (
                    (path, {"x-user-group-token": token}),
                    (path, {"cookie": f"USER_GROUP_TOKEN={token}"}),
                    (f"{path}{mark}USER_GROUP_TOKEN={token}", {}),
                    (f"{path}{mark}USER_GROUP_TOKEN={token[:-1]}", {"x-user-group-token": token}),
                ):
                    with Line(port) as line:
                        answer = line.ask("GET", asked, headers)
                    output.add(f"app's {path.partition('?')[0]}", f"{answer.status} {answer.headers} {answer.body!r}")
        output.add("app's log", app.printed())
        status(port, "/leak", {"x-user-group-token": tokens[0]})
        app.wait_until(lambda: "/leak" in app.printed())
        control.add("app's log", app.printed())
    finally:
        app.stop()


CHECKS = (Check("S14", "Secrets in any output of the whole run", "0; control found", search, (120, 120)),)
