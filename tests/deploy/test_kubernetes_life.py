"""The life of a service by the page on Kubernetes: its commands, with the users and volumes of its manifests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engines.postgres import Postgres
from tests.deploy.lives import Service, commands, page
from tests.deploy.machine import Machine, booted

PAGE = page("kubernetes")
KEYS = "/run/secrets/tenantry/tenantry.keys"
pytestmark = pytest.mark.slow


@pytest.fixture
def machine() -> Iterator[Machine]:
    with booted() as made:
        yield made


def test_the_life_of_a_service(machine: Machine, postgres: Postgres) -> None:
    """Keys and tokens, a password, restarts, an older key file that is brought back.

    Red when a command writes to the mounted secret, or when the copy in the pod is one that it may not write to."""
    database = postgres.create_database()
    service = Service(machine, "kubectl exec deployment/tenantry -- tenantry", "/var/log/tenantry.log")
    more = {"LIFE_PORT": str(service.port)}
    (set_up,) = commands(PAGE)
    manifests = "".join(line for line in set_up.splitlines(True) if not line.startswith("psql "))  # test_postgresql.py
    tokens = (
        "kubectl exec deployment/tenantry -- tenantry environment create production --tag Customer\n"
        "kubectl exec deployment/tenantry -- tenantry api-token create --environment production\n"
    )
    machine.run("ln -s /opt/tenantry/bin/tenantry /usr/local/bin/tenantry")
    service.set_up(f"{manifests}{tokens}", given=3 * f"{database}\n", **more)
    keys_and_tokens, password, restore = commands(PAGE, "Day by day")
    old = service.token()
    source = postgres.create_database().replace("//postgres@", "//postgres:first@")
    create = "kubectl exec --stdin deployment/tenantry -- tenantry data-source create warehouse --url -"
    machine.run(create, given=f"{source}\n", **more)

    machine.run(keys_and_tokens, **more)
    assert service.keys() == [("k2", 1, 1)]
    assert service.token().startswith("ugtc_k2_")
    assert service.refuses(old)
    assert machine.run("stat --format %a tokens.ndjson tenantry.keys") == "600\n600\n"
    assert "tenantry.keys" not in machine.run("kubectl exec deployment/tenantry -- ls /tmp")
    assert (
        machine.run(f"kubectl exec deployment/tenantry -- stat --dereference --format '%a %u %g' {KEYS}")
        == "440 0 10001\n"
    )

    machine.run(password, given="second\n", **more)
    kept = service.token()
    machine.run("cp --preserve tenantry.keys kept.keys; sh kubernetes/change-keys rotate", **more)
    machine.run("mv kept.keys tenantry.keys")
    machine.run(restore, **more)
    assert service.token() == kept
    assert service.keys() == [("k2", 1, 1)]
