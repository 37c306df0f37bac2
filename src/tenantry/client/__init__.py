"""Typed clients of ``/api/user`` and ``/api/users``, for threads and asyncio (extra ``http``).

with Client("https://tenantry.example.com", api_token=...) as client:
    token = client.get_or_create("acme", properties={"region": "eu"}).token
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from tenantry.client.answers import CreatedPass, ListedGroup, ListedSource, ProvisionedGroup, Reply
from tenantry.client.async_client import AsyncClient
from tenantry.client.bulk import BulkReport, LineBatches
from tenantry.client.calls import Call, GetMethod, NoReply, RetryLimits, Send, Sleep
from tenantry.client.methods import ApiCalls, documented_as
from tenantry.client.rotations import RotationReport, rotate_part
from tenantry.tracing import HttpClientSpan

if TYPE_CHECKING:
    import httpx2

__all__ = [
    "AsyncClient",
    "BulkReport",
    "Client",
    "CreatedPass",
    "ListedGroup",
    "ListedSource",
    "ProvisionedGroup",
    "RotationReport",
]

P = ParamSpec("P")
T = TypeVar("T")


def _sending(call: Callable[Concatenate[ApiCalls, P], Call[T]]) -> Callable[Concatenate[Client, P], T]:
    @documented_as(call)
    def send(client: Client, /, *args: P.args, **fields: P.kwargs) -> T:
        return client._run(call(client._calls, *args, **fields))

    return send


class Client:
    """Calls the provisioning API at ``base_url``. Thread-safe.

    - ``timeout``: seconds per request.
    - ``attempts``: maximum number of times that a request is sent. A request is sent again if the service is
      unreachable or busy, or if the response has the status 429 or a Retry-After header. ``rotate_many`` sends a
      request again only after a 429.
    - ``max_wait``: maximum total seconds that a call waits because of Retry-After headers. If a response asks for a
      longer wait, the call raises the response's error at once.
    - ``get_method``: the HTTP method of ``get_or_create``. If a proxy drops the body of GET, pass QUERY or POST.

    All methods may raise TooManyRequests, ApiUnreachable, UnexpectedAnswer, or the TenantryError that the service
    reports. A call with ``dry_run`` writes nothing. The constructor raises ValueError for an invalid argument."""

    def __init__(
        self,
        base_url: str,
        api_token: str,
        *,
        timeout: float = 10.0,
        attempts: int = 3,
        max_wait: float = 30.0,
        get_method: GetMethod = "GET",
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self._calls = ApiCalls(base_url, api_token, limits=RetryLimits(attempts, max_wait), get_method=get_method)
        self._http = self._calls.library().Client(
            timeout=timeout, transport=transport, headers=self._calls.headers, follow_redirects=False
        )

    get_or_create = _sending(ApiCalls.get_or_create)
    update = _sending(ApiCalls.update)
    merge = _sending(ApiCalls.merge)
    delete = _sending(ApiCalls.delete)
    rotate = _sending(ApiCalls.rotate)
    create_pass = _sending(ApiCalls.create_pass)
    revoke_viewer = _sending(ApiCalls.revoke_viewer)
    find = _sending(ApiCalls.find)
    data_source = _sending(ApiCalls.data_source)
    create_data_source = _sending(ApiCalls.create_data_source)
    update_data_source = _sending(ApiCalls.update_data_source)
    delete_data_source = _sending(ApiCalls.delete_data_source)

    def groups(self, *, match: str = "", after: int = 0, page_size: int = 100) -> Iterator[ListedGroup]:
        """Yield the groups with ``team_id > after``, ordered by ``team_id``. ``match``: only groups whose id starts
        with this string, or whose name contains it. ``page_size``: groups per request, at most 500."""
        following: int | None = after
        while following is not None:
            page = self._run(self._calls.page(after=following, limit=page_size, match=match))
            yield from page.groups
            following = page.next

    def data_sources(self, *, page_size: int = 100) -> Iterator[ListedSource]:
        """Yield all data sources of the environment, ordered by name."""
        following: str | None = ""
        while following is not None:
            page = self._run(self._calls.sources(after=following, limit=page_size))
            yield from page.sources
            following = page.next

    def bulk(
        self, groups: Iterable[Mapping[str, Any]], *, replace: bool = False, dry_run: bool = False
    ) -> Iterator[BulkReport]:
        """Create many groups, or merge changes into existing ones. An item of ``groups`` looks like
        ``{"user_group_id": "acme", "properties": {"plan": "pro"}}``.

        Yields a report for each group, in the order of the input. If a report has an ``error``, the other groups are
        still written. With ``replace``, properties and mapping are replaced instead of merged. Groups are sent in
        batches while you iterate. If the request for a batch fails, its error is raised. You can then safely send all
        groups again.
        """
        batches = LineBatches(self._calls.limits, replace=replace, dry_run=dry_run)
        for group in groups:
            batches.add(group)
            if batches.full:
                yield from self._run(batches.send())
        if not batches.empty:
            yield from self._run(batches.send())

    def rotate_many(self, *, signed_by: str | None, after: int = 0, dry_run: bool = False) -> Iterator[RotationReport]:
        """Give many groups new tokens, and yield a report for each. ``signed_by``: the id of an inactive signing key.
        Only groups whose token was signed with it get new tokens. If ``signed_by`` is None, all groups of the
        environment get new tokens. ``after``: only groups with a greater ``team_id``.

        An ``error`` in a report concerns only that report's group. If a request fails, its error is raised. Some groups
        without a report may then already have new tokens. To continue, call this method again. If ``signed_by`` is
        None, pass the ``team_id`` of the last report as ``after``."""
        following: int | None = after
        while following is not None:
            reports = self._run(rotate_part(self._calls.limits, signed_by, following, dry_run=dry_run))
            yield from reports
            following = reports.next

    def _run(self, call: Call[T]) -> T:
        reply: Reply | NoReply | None = None
        attempt = 0
        while True:
            try:
                step = call.send(reply)
            except StopIteration as done:
                result: T = done.value
                return result
            if isinstance(step, Sleep):
                time.sleep(step.seconds)
                reply = None
            else:
                reply = self._send(step, attempt)
                attempt += 1

    def _send(self, request: Send, attempt: int) -> Reply | NoReply:
        url = self._calls.url + request.target
        with HttpClientSpan(request.method, url, attempt) as span:
            try:
                headers = span.inject(request.headers)
                response = self._http.request(request.method, url, content=request.body, headers=headers)
            except self._calls.library().TransportError as error:
                span.set_error(type(error).__name__)
                return NoReply(type(error).__name__)
            span.set_response(response.status_code)
        return Reply.of(response)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
