"""``/api/user`` (SPEC section 4) and ``/api/user/rotate``: one request, in the order of checks of docs/http-api.md."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

from starlette.types import Receive

from tenantry.api.body import decode_json, read_body
from tenantry.api.context import ApiContext, ApiTokenCredential, RequestRecorder
from tenantry.api.headers import RequestHeaders
from tenantry.api.operations import LoadedGroup, Operation, OperationParser, ProvisioningCall
from tenantry.api.responses import ApiResponse, success_response
from tenantry.errors import BadJson, IdempotencyInFlight, MissingScope, TenantryError
from tenantry.groups import ApiToken, Author, Environment, IdempotencyKey, Scope
from tenantry.provisioning import NOT_LOADED, Deadline, Provisioned, Provisioner
from tenantry.tokens import KeyRing

KeyAndBody: TypeAlias = tuple[str, dict[str, Any]]
"""An Idempotency-Key and the body that came with it."""

_REPLAYED = ((b"idempotency-replayed", b"true"),)

_BODY_DROPPED = (
    "the body is empty. Many HTTP clients and proxies drop the body of a GET: send the same JSON object with QUERY or "
    'POST, which do the same for a body such as {"user_group_id": "acme"}'
)


class UserGroupEndpoint:
    """Gets, creates, updates and rotates user groups for callers with an API token. ``operations``: what each method
    makes of a body; ``example``: a valid body, for the error of an empty one; ``in_flight`` is shared by all endpoints
    of one service."""

    def __init__(
        self, context: ApiContext, operations: Mapping[str, OperationParser], example: str, in_flight: KeysInFlight
    ) -> None:
        self.methods: tuple[str, ...] = tuple(operations)
        self._context = context
        self._operations = operations
        self._example = example
        self._in_flight = in_flight

    async def respond(self, method: str, headers: RequestHeaders, receive: Receive) -> ApiResponse:
        """200 with the group. Raises the errors of docs/http-api.md, in its order."""
        context = self._context
        with RequestRecorder(context.observer) as recorder:
            # The time that the body takes is not the store's.
            deadline = Deadline(context.store_seconds, lambda: context.store.settling)
            credential = ApiTokenCredential(headers.api_token(), context.store, deadline, recorder)  # 400, 401
            operation, keyed = await self._read_operation(method, headers, receive, credential)
            caller, loaded = await _authenticate(credential, operation, keyed)
            recorder.set_operation(operation.name)
            if Scope.PROVISION not in caller.scopes:
                operation.check()  # 422
                raise MissingScope("this API token may not provision: create one with --scope provision")
            provisioner = Provisioner(context.store, context.keys, deadline=deadline)
            author = Author(f"api token {caller.id} ({caller.label})", headers.request_id)
            call = ProvisioningCall(provisioner, caller.environment, author, loaded=loaded)
            result = await (operation.run(call) if keyed is None else self._run_once(operation, call, keyed))
            return success_response(operation.document(result), _REPLAYED if result.replayed else ())

    async def _read_operation(
        self, method: str, headers: RequestHeaders, receive: Receive, credential: ApiTokenCredential
    ) -> tuple[Operation, KeyAndBody | None]:
        """What is asked for, and its Idempotency-Key. A small body is read before the caller is authenticated, so that
        the API token and the group can be one read; a larger body of an unknown caller is never waited for."""
        small = headers.is_small_body()
        if not small:
            await credential.authenticate()
        try:
            return await self._parse(method, headers, receive)
        except TenantryError:
            if small:
                await credential.authenticate()  # 401 comes before all that is wrong with a body
            raise

    async def _parse(
        self, method: str, headers: RequestHeaders, receive: Receive
    ) -> tuple[Operation, KeyAndBody | None]:
        raw = await read_body(receive, headers.content_length(), seconds=self._context.body_seconds)  # 400, 413, 408
        if raw or headers.has_media_type:
            headers.require_json()  # 415
        if not raw:
            needed = f"the body is empty: a JSON object is needed, such as {self._example}"
            raise BadJson(_BODY_DROPPED if method == "GET" else needed)
        key = headers.idempotency_key() if method == "POST" else None  # 400
        body = decode_json(raw)  # 400
        operation = self._operations[method](body)  # 422
        return operation, None if key is None else (key, body)

    async def _run_once(self, operation: Operation, call: ProvisioningCall, keyed: KeyAndBody) -> Provisioned:
        operation.check()  # 422 comes before the 409 of a key in flight; and what is nested too deep cannot be hashed
        once = idempotency_key(*keyed, self._context.keys)
        with self._in_flight.claim(call.environment, once):
            return await operation.run(call._replace(once=once))


async def _authenticate(
    credential: ApiTokenCredential, operation: Operation, keyed: KeyAndBody | None
) -> tuple[ApiToken, LoadedGroup]:
    """The caller, and the group that the operation is about, unless the store itself reads something else first."""
    if operation.provided_id is None or keyed is not None:
        return await credential.authenticate(), NOT_LOADED
    found = await credential.authenticate_with_group(operation.provided_id)
    return found.api_token, found.issued


# --- Idempotency-Key --------------------------------------------------------------------------------------------------


def idempotency_key(key: str, body: dict[str, Any], keys: KeyRing) -> IdempotencyKey:
    """The key with keyed hashes of the body: white space and the order of names make no difference."""
    canonical = json.dumps(body, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return IdempotencyKey(key, keys.body_hashes(canonical.encode("ascii")))


class KeysInFlight:
    """The keys of this process whose first request has not been answered yet. The store has the answers; between
    processes its transaction decides."""

    def __init__(self) -> None:
        self._claimed: set[tuple[int, str]] = set()

    @contextmanager
    def claim(self, environment: Environment, once: IdempotencyKey) -> Iterator[None]:
        """Holds the key while the block runs. Raises IdempotencyInFlight if it is held."""
        claimed = (environment.id, once.key)
        if claimed in self._claimed:
            raise IdempotencyInFlight("the first request with this Idempotency-Key is still running: try again shortly")
        self._claimed.add(claimed)
        try:
            yield
        finally:
            self._claimed.discard(claimed)
