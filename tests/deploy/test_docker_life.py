"""The life of a service by the page on Docker: its commands, with the users and mounts of its files."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.postgres import Postgres
from engines.postgres_programs import installed_programs
from tests.deploy.lives import Service, commands, page
from tests.deploy.machine import Machine, booted

PAGE = page("docker")

pytestmark = pytest.mark.slow


@pytest.fixture
def machine() -> Iterator[Machine]:
    with booted() as made:
        yield made


def programs() -> Path:
    """Of a PostgreSQL server as new as that of the tests, with those that make backups."""
    installed = installed_programs()
    return installed if (installed / "pg_dump").exists() else Path(str(shutil.which("pg_dump"))).parent


def test_the_life_of_a_service(machine: Machine, postgres: Postgres) -> None:
    """Keys and tokens, a password, a backup that is restored, a new version.

    Red with the key file as a mounted file, which `keys rotate` cannot replace, and of which containers would keep the
    old one; and with a folder of keys that the service may write to."""
    database = postgres.create_database()
    more = {"LIFE_POSTGRES": database, "LIFE_PROGRAMS": str(programs())}
    service = Service(machine, "docker compose run --rm command", "/var/log/tenantry.log")
    machine.run(
        f"sed -i 's#postgresql://tenantry@postgres/tenantry#{database}#; /TENANTRY_REDIS/d' compose.yaml\n"
        f"sed -i 's/_HOST=0.0.0.0/_HOST=127.0.0.1/; s/_PORT=8000/_PORT={service.port}/' Dockerfile"
    )
    (set_up,) = commands(PAGE, "Compose")
    service.set_up(set_up.replace("cd examples/deploy && ", ""), **more)
    machine.run("""sed -i 's/_WORKERS: "2"/_WORKERS: "1"/' compose.yaml""")  # half of each start that follows
    keys_and_tokens, password, backup, restore, upgrade = commands(PAGE, "Day by day")
    old = service.token()
    source = postgres.create_database().replace("//postgres@", "//postgres:first@")
    machine.run("docker compose run --rm command data-source create warehouse --url -", given=f"{source}\n", **more)

    machine.run(keys_and_tokens, **more)
    assert service.keys() == [("k2", 1, 1)]
    assert service.token().startswith("ugtc_k2_")
    assert service.refuses(old)
    assert machine.run("stat --format '%a %u' tokens.ndjson secrets/keys/tenantry.keys") == "600 0\n600 10001\n"
    assert '"user_group_id": "acme"' in machine.run("cat tokens.ndjson")
    mounted = "cat /proc/$(cat /run/docker/tenantry)/mounts"
    (keys,) = [line for line in machine.run(mounted).splitlines() if " /etc/tenantry/keys " in line]
    assert keys.split()[3].startswith("ro,")

    machine.run(password, given="second\n", **more)
    machine.run(backup, **more)
    kept = service.token()
    machine.run(
        "docker compose run --rm command group rotate acme; docker compose run --rm command keys rotate", **more
    )
    assert service.token() != kept
    machine.run(restore, **more)
    service.wait()
    assert service.token() == kept
    assert service.keys() == [("k2", 1, 1)]
    machine.run(upgrade, **more)
    assert service.token() == kept
