"""schemathesis reads the 3.2 document and attacks the app with it: bodies of GET and QUERY included, all its checks.

What JSON Schema cannot say of the limits (it is said in words there) is left out of the bodies that must be accepted.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from functools import cache
from typing import Any

import anyio
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.pytest.lazy import get_all_tests
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from engines.hypothesis_profile import examples
from engines.json_schema import validator
from tenantry.backends.memory.store import MemoryStore
from tenantry.errors import InvalidBody
from tenantry.groups import Scope, Tag
from tenantry.provisioning.http import openapi_document
from tenantry.provisioning.limits import check_properties
from tests.provisioning.http.conftest import make_app, make_caller, make_keys

EXAMPLES = examples(100)
LINES = {"/api/users/bulk": "BulkLine", "/api/users/rotate": "RotationLine"}


@schemathesis.check
def always_success_and_never_a_server_error(context: Any, response: Any, case: Any) -> None:
    """Never a 5xx, and ``success`` in every body; of an introspection that succeeds, ``active``."""
    assert response.status_code < 500
    if case.path == "/oauth/introspect" and response.status_code == 200:
        assert json.loads(response.content) == {"active": False}  # nobody guesses a token
    elif case.path in LINES and response.status_code == 200:
        for line in response.content.rstrip(b"\n").split(b"\n"):
            _line(LINES[case.path]).validate(json.loads(line))
    elif case.method != "HEAD" and response.status_code != 204:
        assert json.loads(response.content)["success"] == int(response.status_code == 200)


@schemathesis.serializer("application/x-ndjson")
def as_it_is(context: Any, value: Any) -> bytes:
    """A body of lines: whatever bytes are made. A line that says nothing is added, for an empty body is refused."""
    return (value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n{}\n"


@cache
def _line(schema: str) -> Any:
    components = openapi_document("3.2")["components"]
    return validator({"$ref": f"#/components/schemas/{schema}", "components": components})


def _new_app() -> tuple[Any, str]:
    """An app on an empty store, and the header of a caller who may do everything."""
    store = MemoryStore()

    async def caller() -> str:
        # Mappings of an environment with external data sources are not looked up.
        environment = await store.environments.create("production", Tag.CUSTOMER, external_data_sources=True)
        return await make_caller(store, environment, *Scope)

    secret = anyio.run(caller)
    return make_app(store, make_keys()), f"Token {secret}"


@cache
def load_schema() -> tuple[Any, str]:
    """The document as schemathesis reads it, and the header of a caller."""
    app, authorization = _new_app()
    loaded = schemathesis.openapi.from_asgi("/openapi-3.2.json", app)
    loaded.hook("filter_body")(_is_within_what_words_say)
    loaded.hook("filter_query")(_travels_whole)
    return loaded, authorization


def _is_within_what_words_say(context: Any, body: Any) -> bool:
    """Size, depth, names in all levels, |integer| and NUL of the properties, which are free JSON to the schema; and no
    second way to send the API token, which comes in a header here."""
    if isinstance(body, dict) and body.get("client_secret"):
        return False
    properties = body.get("properties") if isinstance(body, dict) else None
    if not isinstance(properties, dict):
        return True
    try:
        check_properties(properties)
    except InvalidBody:
        return False
    return True


def _travels_whole(context: Any, query: Any) -> bool:
    """A parameter that is null, or an empty list or object, is in no address: the request would be a valid one."""
    return query is None or all(value not in (None, [], {}) for value in query.values())


def _headers(case: Any, authorization: str) -> dict[str, str]:
    """The caller's own; and a fresh Idempotency-Key for a good one: one key with two bodies is refused, rightly."""
    headers = {"Authorization": authorization}
    key = (case.headers or {}).get("Idempotency-Key")
    if isinstance(key, str) and 1 <= len(key) <= 255 and key.isascii() and key.isprintable() and " " not in key:
        headers["Idempotency-Key"] = secrets.token_hex(8)
    return headers


BEYOND_SCHEMAS = {
    "POST /api/user/passes",
    "POST /api/user/viewers/revoke",
    "POST /api/users/rotate",
    "POST /api/data-sources",
    "PATCH /api/data-sources",
}
"""No schema can say which characters are printable, nor that a JSON object is at most so deep. Nor which signing key is
active, and that a request names either a key or all groups. Nor which declarations of tables and which hosts a service
accepts."""

SETTINGS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def attacks() -> list[tuple[str, Callable[[], None]]]:
    """The label of each operation, and what attacks it."""
    tests = get_all_tests(schema=load_schema()[0], test_func=_attack, settings=SETTINGS, given_kwargs=None)
    return [(operation.label, attack) for operation, attack in [each.ok() for each in tests]]


def _attack(case: Any) -> None:
    looser = [positive_data_acceptance] if case.operation.label in BEYOND_SCHEMAS else []
    case.call_and_validate(headers=_headers(case, load_schema()[1]), excluded_checks=looser)


def workflow() -> Any:
    """A state machine that follows the links of the document: a group is created, changed, given a pass, rotated,
    listed and deleted. What one step answers, the next one sends."""

    schema = load_schema.__wrapped__()[0]  # of its own, because each run replaces the app

    class Workflow(schema.as_state_machine()):  # type: ignore[misc]  # made at run time
        def setup(self) -> None:  # each run has an empty store, so that hypothesis can repeat it
            schema.app, self.authorization = _new_app()

        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"headers": _headers(case, self.authorization)}

        def validate_response(self, response: Any, case: Any, **options: Any) -> None:
            looser = [positive_data_acceptance] if case.operation.label in BEYOND_SCHEMAS else []
            # A wrong body that a link replaces is right.
            excluded = [negative_data_rejection, *looser]
            case.validate_response(response, excluded_checks=excluded, transport_kwargs=options)

    return Workflow


WORKFLOW_SETTINGS = settings(
    max_examples=examples(40),
    stateful_step_count=8,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
