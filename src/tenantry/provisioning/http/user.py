from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeAlias

from starlette.responses import Response

from tenantry.errors import BadJson, BadRequest, IdempotencyInFlight, TenantryError
from tenantry.groups import ApiToken, Author, Environment, IdempotencyKey
from tenantry.provisioning import NOT_LOADED, Deadline, Provisioner
from tenantry.provisioning.http.dry_run import DryRunProvisioner
from tenantry.provisioning.http.endpoint import ApiContext, Endpoint, digest_of, json_response, require_scope
from tenantry.provisioning.http.operations import LoadedGroup, Operation, OperationCall, OperationParser
from tenantry.provisioning.http.request import ApiRequest, read_text
from tenantry.provisioning.http.strict_json import decode_json
from tenantry.tokens import KeyRing

KeyAndBody: TypeAlias = tuple[str, dict[str, Any]]
"""An Idempotency-Key, and the body of the request that had it."""

_REPLAYED = ((b"idempotency-replayed", b"true"),)
_DRY_RUN = ((b"dry-run", b"true"),)

_JSON = ("application/json",)
_MEDIA_TYPES = {"PATCH": ("application/json", "application/merge-patch+json")}

_BODY_DROPPED = (
    "the body is empty. Many HTTP clients and proxies drop the body of a GET: send the same JSON object with QUERY or "
    'POST, which do the same for a body such as {"user_group_id": "acme"}'
)


class UserGroupEndpoint(Endpoint):
    """``/api/user`` (SPEC section 4), ``/api/user/rotate``, ``/api/user/passes`` and ``/api/user/viewers/revoke``. With
    ``?dry_run=true``, the endpoint writes nothing.

    All endpoints of a service must share ``in_flight``."""

    def __init__(
        self, context: ApiContext, operations: Mapping[str, OperationParser], example: str, in_flight: KeysInFlight
    ) -> None:
        super().__init__(*operations, observer=context.observer)
        self._context = context
        self._operations = operations
        self._example = example
        self._in_flight = in_flight

    async def respond(self, request: ApiRequest) -> Response:
        context = self._context
        # The deadline counts the time of store calls, not the time in which the body arrives.
        deadline = Deadline(context.store_seconds, lambda: context.store.settling)
        digest = digest_of(request.api_token())  # 400, 401
        operation, keyed, caller, loaded = await self._read(request, digest, deadline)
        request.set_operation(operation.operation)
        if not caller.allows(operation.needed_scope):
            operation.check()  # 422 comes before the 403
        require_scope(caller, operation.needed_scope)
        dry_run = request.dry_run("user_group_id") if request.method == "DELETE" else request.dry_run()
        kind = DryRunProvisioner if dry_run else Provisioner
        provisioner = kind(context.store, context.keys, deadline=deadline, contract=context.contract)
        author = Author.of_request(caller, request.id)
        call = OperationCall(provisioner, caller.environment, author, loaded=loaded)
        if keyed is None:
            result = await operation.run(call)
        else:
            operation.check()  # 422 comes before 409 idempotency_in_flight; too deeply nested JSON cannot be hashed
            once = idempotency_key(*keyed, context.keys)
            with self._in_flight.claim(caller.environment, once):
                result = await operation.run(replace(call, once=once))
        headers = _DRY_RUN if dry_run else _REPLAYED if result.replayed else ()
        return json_response(operation.document(result, request.method), headers=headers)

    async def _read(
        self, request: ApiRequest, digest: bytes, deadline: Deadline
    ) -> tuple[Operation, KeyAndBody | None, ApiToken, LoadedGroup]:
        # If the body is small, one store call reads both the API token and the group.
        small = request.has_small_body()
        if not small:
            await self._context.authenticate(digest, deadline)
        try:
            operation, keyed = await self._parse(request)
        except TenantryError:
            if small:
                await self._context.authenticate(digest, deadline)  # a 401 comes before errors of the body
            raise
        provided_id = operation.group_to_load
        if provided_id is None or keyed is not None:
            return operation, keyed, await self._context.authenticate(digest, deadline), NOT_LOADED
        found = await self._context.authenticate_with_group(digest, provided_id, deadline)
        return operation, keyed, found.api_token, found.issued

    async def _parse(self, request: ApiRequest) -> tuple[Operation, KeyAndBody | None]:
        if request.method == "DELETE":
            return self._parse_delete(request), None
        raw = await request.read_body(self._context.body_seconds)  # 400, 413, 408
        if raw or request.has_media_type:
            request.require_media_type(*_MEDIA_TYPES.get(request.method, _JSON))  # 415
        if not raw:
            needed = f"the body is empty: send a JSON object, such as {self._example}"
            raise BadJson(_BODY_DROPPED if request.method == "GET" else needed)
        key = request.idempotency_key() if request.method == "POST" else None  # 400
        if request.dry_run():  # 400
            key = None  # a dry run ignores it
        body = decode_json(raw)  # 400
        operation = self._operations[request.method](body)  # 422
        return operation, None if key is None or not operation.takes_key else (key, body)

    def _parse_delete(self, request: ApiRequest) -> Operation:
        wanted = request.query("user_group_id", "dry_run")  # 400
        request.dry_run("user_group_id")  # 400
        provided_id = read_text(wanted, "user_group_id")  # 400
        if provided_id is None:
            raise BadRequest("name the group in the address, percent-encoded: DELETE /api/user?user_group_id=acme")
        return self._operations["DELETE"]({"user_group_id": provided_id})


# --- Idempotency-Key --------------------------------------------------------------------------------------------------


def idempotency_key(key: str, body: dict[str, Any], keys: KeyRing) -> IdempotencyKey:
    canonical = json.dumps(body, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return IdempotencyKey(key, keys.body_hashes(canonical.encode("ascii")))


class KeysInFlight:
    """The Idempotency-Keys of the requests running in this process."""

    # Between processes, the transactions of the store ensure that a key is used once.
    def __init__(self) -> None:
        self._claimed: set[tuple[int, str]] = set()

    @contextmanager
    def claim(self, environment: Environment, once: IdempotencyKey) -> Iterator[None]:
        """Hold the key until the context ends. Raises IdempotencyInFlight if another request holds it."""
        claimed = (environment.id, once.key)
        if claimed in self._claimed:
            raise IdempotencyInFlight("the first request with this Idempotency-Key is still running: try again shortly")
        self._claimed.add(claimed)
        try:
            yield
        finally:
            self._claimed.discard(claimed)
