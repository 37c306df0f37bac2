"""The life of a service by the page on systemd: its commands, as its users, from the set-up to an upgrade."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator

import pytest

from benchmarks.acceptance.faults.postgres import PostgresServer
from engines.postgres import Postgres
from engines.postgres_programs import installed_programs
from tenantry.database.migrations import HEAD
from tests.deploy.lives import Service, commands, page
from tests.deploy.machine import ROOT, Machine, booted
from tests.deploy.versions import NEXT, VERSION

PAGE = page("systemd")
STORE = "/var/lib/tenantry/tenantry.db"
KEYS = "/etc/tenantry/keys/tenantry.keys"


@pytest.fixture
def machine() -> Iterator[Machine]:
    with booted() as made:
        yield made


def set_up(machine: Machine, named: str, as_owner: Callable[[str], str] = lambda _: "") -> Service:
    """``named``: replaces the database in the configuration, as ``sed`` does. ``as_owner``: returns what to run of the
    commands for PostgreSQL's roles. The service starts with two workers, as configured, and later with one, which is
    half of each start."""
    service = Service(machine, "sudo tenantry", "/var/log/tenantry.log")
    machine.run(f"sed -i '{named}; s/^port = .*/port = {service.port}/' tenantry.toml")
    install, tables, start = commands(PAGE)
    service.set_up(f"{install}{as_owner(tables)}{start}")
    set_workers(machine, 1)
    return service


def set_workers(machine: Machine, number: int) -> None:
    machine.run(f"sed -i 's/^workers = .*/workers = {number}/' /etc/tenantry/tenantry.toml")


def owned(database: str) -> str:
    """The configuration with a database whose tables the service owns."""
    return f's#^database = .*#database = "{database}"#'


@pytest.mark.slow
def test_the_life_of_a_service(machine: Machine, postgres: Postgres) -> None:
    """With SQLite: keys and tokens, a password, a backup that is restored, an upgrade to the wheel of a later version
    with other tables, restarts.

    Red with the key file in a folder of root's, or with commands as root: no key can be rotated. Red without
    ``migrate``: the tables are those of before."""
    service = set_up(machine, owned(f"sqlite:///{STORE}"))
    keys_and_tokens, password, backup, restore, upgrade = commands(PAGE, "Day by day")
    old = service.token()
    source = postgres.create_database().replace("//postgres@", "//postgres:first@")
    machine.run("sudo tenantry data-source create warehouse --url -", given=f"{source}\n")

    machine.run(keys_and_tokens)
    assert service.keys() == [("k2", 1, 1)]
    assert service.token().startswith("ugtc_k2_")
    assert service.refuses(old)
    # Red when the script drops whom sudo names: two administrators are one.
    assert re.search(r"command line tenantry@\S+ \(sudo by ann\)", machine.run("sudo tenantry audit --json"))
    private = f"stat --format '%a %U' /var/lib/tenantry/tokens.ndjson {KEYS}"
    assert machine.run(private) == "600 tenantry\n600 tenantry\n"

    url = f"sqlite3 {STORE} 'select url from data_sources'"
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

    machine.run(f"cd {ROOT} && {sys.executable} -m tests.deploy.versions /opt/wheels")
    *install_and_migrate, restart = upgrade.splitlines()
    for command in install_and_migrate:  # the old processes serve on
        machine.run(command)
        assert service.token() == kept
    (asked,) = re.findall(r"^```sql\n(.*)\n```$", page("upgrades"), re.MULTILINE)
    assert machine.run(f"sqlite3 {STORE} '{asked}'") == f"{NEXT}|{HEAD} {NEXT}\n"
    set_workers(machine, 2)  # for the reload
    machine.run(restart)
    service.wait()
    assert machine.run("sudo tenantry --version") == f"tenantry, version {VERSION}\n"
    assert service.token() == kept
    machine.run("sudo tenantry group rotate acme")
    rotated = service.token()
    assert rotated != kept
    machine.run("sudo systemctl reload tenantry")
    service.wait()
    assert service.token() == rotated
    assert service.keys() == [("k2", 1, 1)]


PROGRAM = f"""
import asyncio, sys
from tenantry import Resolver
from tenantry.backends.sql import SQLStore
from tenantry.groups import GroupChanges
from tenantry.tokens.keys import SigningKeys

async def main(url, token):
    keys = SigningKeys.from_file("{KEYS}")
    store = SQLStore(url, keys=keys)
    resolver = Resolver(store, keys=keys)
    group = await resolver.resolve(token)
    await store.groups.update(group.environment, group.provided_id, GroupChanges(name="renamed"))
    print((await resolver.resolve(token)).name)
    await resolver.aclose()
    await store.aclose()

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.slow
def test_the_life_of_a_service_with_roles_of_postgresql(machine: Machine) -> None:
    """The configuration as it is, with a role that may not alter tables: the set-up, an app of another user, keys, and
    an upgrade to the wheel of a later version. The app reads the keys, and writes through the run folder of the group,
    before a rotation of the keys and after it.

    Red when the tables are not made as their owner: ``permission denied for schema public``. Red when a key file that
    its group may read is refused, or when a rotation takes that right away."""
    with PostgresServer() as server:
        address = f"127.0.0.1:{server.port}"

        def here(script: str) -> str:
            return script.replace("db.internal", address)

        machine.run(f"ln -s {installed_programs()}/psql /usr/local/bin/")
        machine.run(f"psql --quiet --file postgresql/roles.sql postgresql://postgres@{address}/postgres")
        service = set_up(machine, f"s/db.internal/{address}/", here)
        old = service.token()

        machine.run("sudo useradd --system shop")
        (block,) = commands(PAGE, "Apps of other users")
        (drop_in,) = re.findall(r'^```ini title="(\S+group.conf)"\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)
        machine.run(f"install -d $(dirname {drop_in[0]}); cat > {drop_in[0]}", given=drop_in[1])
        machine.run(block)
        service.wait()
        machine.run("cat > /tmp/app.py", given=PROGRAM)
        app = (
            "sudo -u shop env TENANTRY_RUN_DIR=/run/tenantry TENANTRY_RUN_GROUP=dashboards "
            "$(sed -n 's/^exec \\(.*\\) -m.*/\\1/p' /opt/tenantry/bin/tenantry) "
            f"/tmp/app.py postgresql://tenantry_serve@{address}/tenantry"
        )
        assert machine.run(f"{app} {old}") == "renamed\n"

        keys_and_tokens, *_, upgrade = commands(PAGE, "Day by day")
        machine.run(keys_and_tokens)
        assert service.keys() == [("k2", 1, 0)]
        assert service.refuses(old)
        assert machine.run(f"stat --format '%a %U %G' {KEYS}") == "640 tenantry dashboards\n"
        kept = service.token()
        assert machine.run(f"{app} {kept}") == "renamed\n"

        machine.run(f"cd {ROOT} && {sys.executable} -m tests.deploy.versions /opt/wheels")
        install, migrate, restart = upgrade.splitlines()
        machine.run(install)
        assert "must be owner of table" in machine.run(migrate, fails=3)
        _, as_owner, _ = commands(PAGE)
        machine.run(here(as_owner))
        assert service.token() == kept  # of the old processes
        machine.run(restart)
        service.wait()
        machine.run("sudo tenantry group rotate acme && sudo tenantry migrate --check")
        assert service.token() != kept
