"""The life of a service by the page on systemd: its commands, as its users, from the set-up to an upgrade."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from engines.ports import free_port
from engines.postgres import Postgres
from tests.deploy.machine import ROOT, Machine, booted

PAGE = (ROOT / "docs" / "deploy" / "systemd.md").read_text("utf-8")
SECONDS = 120
LEFT_OUT = ("-m venv", "pip install")
"""Commands that need a package registry; tests/packaging installs the wheel."""


def commands(section: str = "") -> list[str]:
    """Each indented block under this heading, or above the first heading."""
    parts = re.split(r"^## (.*)\n", PAGE, flags=re.MULTILINE)
    text = dict(zip(parts[1::2], parts[2::2], strict=True))[section] if section else parts[0]
    blocks = re.findall(r"(?:^    .*\n)+", text, flags=re.MULTILINE)
    return [
        "".join(line[4:] for line in each.splitlines(True) if not any(word in line for word in LEFT_OUT))
        for each in blocks
    ]


class Service:
    """The service of the page, which listens on a port that is free, and how to ask it."""

    def __init__(self, machine: Machine, database: str) -> None:
        self.machine = machine
        self.port = free_port()
        settings = f"sed -i 's#^database = .*#database = \"{database}\"#; s/^port = .*/port = {self.port}/'"
        machine.run(f"{settings} tenantry.toml")
        (setup,) = commands()
        self.printed = machine.run(setup)
        (self._secret,) = re.findall(r"^\S{40,}$", self.printed.replace("/etc", " /etc"), re.MULTILINE)
        self.wait()

    def wait(self) -> None:
        deadline = time.monotonic() + SECONDS
        while not self._is_ready():
            assert time.monotonic() < deadline, self.machine.read("/var/log/tenantry.log")
            time.sleep(0.1)

    def _is_ready(self) -> bool:
        try:
            return httpx2.get(f"http://127.0.0.1:{self.port}/readyz", timeout=SECONDS).status_code == 200
        except httpx2.TransportError:
            return False

    def ask(self, method: str, path: str = "/api/user", **body: Any) -> httpx2.Response:
        headers = {"Authorization": f"Token {self._secret}"}
        return httpx2.request(
            method, f"http://127.0.0.1:{self.port}{path}", json=body, headers=headers, timeout=SECONDS
        )

    def token(self, group: str = "acme") -> str:
        answer = self.ask("GET", user_group_id=group)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["user_group"]["token"])

    def keys(self) -> list[tuple[str, int, int]]:
        listed = json.loads(self.machine.run("sudo tenantry keys list --json"))
        return [(each["id"], each["groups"], each["sources"]) for each in listed]


@pytest.fixture
def machine() -> Iterator[Machine]:
    with booted() as made:
        yield made


def test_the_life_of_a_service(machine: Machine, postgres: Postgres) -> None:
    """With SQLite: keys and tokens, a password, a backup that is restored, an upgrade, restarts.

    Red with the key file in a folder of root's, or with commands as root: no key can be rotated."""
    service = Service(machine, "sqlite:////var/lib/tenantry/tenantry.db")
    keys_and_tokens, password, backup, restore, upgrade = commands("Day by day")
    old = service.token()
    source = postgres.create_database().replace("//postgres@", "//postgres:first@")
    machine.run("sudo tenantry data-source create warehouse --url -", given=f"{source}\n")

    machine.run(keys_and_tokens)
    assert service.keys() == [("k2", 1, 1)]
    assert service.token().startswith("ugtc_k2_")
    assert service.ask("POST", "/api/user/rotate", current_token=old).json()["error"]["code"] == "unknown_token"
    assert machine.run("stat --format '%a %U' /var/lib/tenantry/tokens.ndjson /etc/tenantry/keys/tenantry.keys") == (
        "600 tenantry\n600 tenantry\n"
    )

    url = "sqlite3 /var/lib/tenantry/tenantry.db 'select url from data_sources'"
    before = machine.run(url)
    machine.run(password, given="second\n")
    service.wait()
    assert machine.run(url) != before
    assert "second" not in machine.run(url)

    machine.run(backup)
    kept = service.token()
    machine.run("sudo tenantry group rotate acme; sudo tenantry keys rotate")
    assert service.token() != kept
    machine.run(restore)
    service.wait()
    assert service.token() == kept
    assert service.keys() == [("k2", 1, 1)]

    machine.run(upgrade)
    service.wait()
    machine.run("sudo systemctl reload tenantry")
    assert service.token() == kept


PROGRAM = """
import asyncio, sys
from tenantry import Resolver
from tenantry.backends.sql import SQLStore
from tenantry.groups import GroupChanges
from tenantry.tokens.keys import SigningKeys

async def main(url, token):
    keys = SigningKeys.from_file("/etc/tenantry/keys/tenantry.keys")
    store = SQLStore(url, keys=keys)
    resolver = Resolver(store, keys=keys)
    group = await resolver.resolve(token)
    await store.groups.update(group.environment, group.provided_id, GroupChanges(name="renamed"))
    print((await resolver.resolve(token)).name)
    await resolver.aclose()
    await store.aclose()

asyncio.run(main(*sys.argv[1:]))
"""


def test_an_app_of_another_user(machine: Machine, postgres: Postgres) -> None:
    """It reads the keys, and writes through the run folder of the group, before a rotation of the keys and after it.

    Red when a key file that its group may read is refused, or when a rotation takes that right away."""
    database = postgres.create_database()
    service = Service(machine, database)
    service.token()
    machine.run("sudo useradd --system shop")
    (block,) = commands("Apps of other users")
    (drop_in,) = re.findall(r'^```ini title="(\S+group.conf)"\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)
    machine.run(f"install -d $(dirname {drop_in[0]}); cat > {drop_in[0]}", given=drop_in[1])
    machine.run(block)
    service.wait()
    machine.run("cat > /tmp/app.py", given=PROGRAM)
    app = (
        "sudo -u shop env TENANTRY_RUN_DIR=/run/tenantry TENANTRY_RUN_GROUP=dashboards "
        f"$(sed -n 's/^exec \\(.*\\) -m.*/\\1/p' /opt/tenantry/bin/tenantry) /tmp/app.py {database}"
    )
    assert machine.run(f"{app} {service.token()}") == "renamed\n"
    machine.run("sudo tenantry keys rotate; sudo tenantry group rotate --all --yes")
    assert machine.run("stat --format '%a %U %G' /etc/tenantry/keys/tenantry.keys") == "640 tenantry dashboards\n"
    assert machine.run(f"{app} {service.token()}") == "renamed\n"
