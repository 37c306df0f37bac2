"""Typed clients of ``/api/user`` and ``/api/users``, for threads and asyncio (extra ``http``).

with Client("https://tenantry.example.com", api_token=...) as client:
    token = client.get_or_create("acme", properties={"region": "eu"}).token
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from tenantry.client.answers import CreatedPass, ListedGroup, ListedSource, ProvisionedGroup, Reply
from tenantry.client.async_client import AsyncClient
from tenantry.client.bulk import BulkReport, LineBatches, read_reports
from tenantry.client.calls import ApiCalls, Call, GetMethod, NoReply, RetryLimits, Send, Sleep
from tenantry.client.rotations import RotationReport, read_rotations, rotate_part
from tenantry.groups import UNCHANGED, Unchanged
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

T = TypeVar("T")


class Client:
    """Calls the provisioning API at ``base_url``. Thread-safe.

    ``timeout``: seconds for each request. ``attempts``: maximum number of times that a request is sent if the service
    is unreachable or busy, or a response has the status 429 or a Retry-After. ``max_wait``: maximum seconds that a call
    waits because of Retry-After. If a response asks for more, the call raises that response's error at once.
    ``get_method``: the HTTP method of get-or-create, for proxies that drop the body of GET. All methods raise the
    service's TenantryError, TooManyRequests, ApiUnreachable or UnexpectedAnswer. A call with ``dry_run`` writes
    nothing. Raises ValueError."""

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

    def get_or_create(
        self,
        user_group_id: str,
        *,
        name: str | None = None,
        properties: Mapping[str, Any] | None = None,
        mapping: Mapping[str, str] | None = None,
        dry_run: bool = False,
    ) -> ProvisionedGroup:
        """Get the group, or create it. An existing group is not changed."""
        return self._run(
            self._calls.get_or_create(user_group_id, name=name, properties=properties, mapping=mapping, dry_run=dry_run)
        )

    def update(
        self,
        user_group_id: str,
        *,
        name: str | Unchanged = UNCHANGED,
        properties: Mapping[str, Any] | Unchanged | None = UNCHANGED,
        mapping: Mapping[str, str] | Unchanged | None = UNCHANGED,
        dry_run: bool = False,
    ) -> ProvisionedGroup:
        """Replace each given field completely. None clears ``properties`` or ``mapping``. Raises UnknownGroup."""
        return self._run(
            self._calls.update(user_group_id, name=name, properties=properties, mapping=mapping, dry_run=dry_run)
        )

    def merge(
        self,
        user_group_id: str,
        *,
        name: str | Unchanged = UNCHANGED,
        properties: Mapping[str, Any] | Unchanged | None = UNCHANGED,
        mapping: Mapping[str, str | None] | Unchanged | None = UNCHANGED,
        expires_at: datetime | Unchanged | None = UNCHANGED,
        suspended: bool | Unchanged = UNCHANGED,
        dry_run: bool = False,
    ) -> ProvisionedGroup:
        """Merge the given members into the group's ``properties`` and ``mapping`` (RFC 7396). None removes a member.

        ``expires_at``: the time, with a time zone, from which the group's token is refused. None removes the end date.
        ``suspended``: True refuses the group's token and passes until you set it to False. Raises UnknownGroup, and
        ValueError if ``expires_at`` has no time zone.
        """
        return self._run(
            self._calls.merge(
                user_group_id,
                name=name,
                properties=properties,
                mapping=mapping,
                expires_at=expires_at,
                suspended=suspended,
                dry_run=dry_run,
            )
        )

    def delete(self, user_group_id: str, *, dry_run: bool = False) -> ListedGroup | None:
        """Delete the group and return it, or None if a retry after a lost reply does not find the group. Raises
        UnknownGroup."""
        return self._run(self._calls.delete(user_group_id, dry_run=dry_run))

    def rotate(
        self, current_token: str, *, idempotency_key: str | None = None, dry_run: bool = False
    ) -> ProvisionedGroup:
        """Replace the group's token. Retries are safe, because all attempts send the same idempotency key, which is
        random by default. Raises UnknownToken, TokenAlreadyRotated."""
        return self._run(self._calls.rotate(current_token, idempotency_key, dry_run=dry_run))

    def create_pass(
        self,
        user_group_id: str,
        viewer_id: str | None = None,
        viewer: Mapping[str, Any] | None = None,
        *,
        seconds: int | None = None,
        scope: str | None = None,
    ) -> CreatedPass:
        """Make a pass for one viewer, with the arguments of ``tenantry.mint_pass``. The API token needs the scope
        ``passes``. Raises UnknownGroup, GroupSuspended, GroupExpired."""
        return self._run(
            self._calls.create_pass(user_group_id, viewer_id=viewer_id, viewer=viewer, seconds=seconds, scope=scope)
        )

    def revoke_viewer(self, user_group_id: str, viewer_id: str) -> datetime:
        """Refuse all passes that were issued to this viewer until now. Returns the time (aware, UTC) from which new
        passes are accepted. Raises UnknownGroup, TooManyRevokedViewers."""
        return self._run(self._calls.revoke_viewer(user_group_id, viewer_id))

    def find(self, user_group_id: str) -> ListedGroup | None:
        """Return the group without its token, or None."""
        found = self._run(self._calls.find(user_group_id)).groups
        return found[0] if found else None

    def groups(self, *, match: str = "", after: int = 0, page_size: int = 100) -> Iterator[ListedGroup]:
        """Yield the groups with ``team_id > after``, ordered by ``team_id``. ``match``: only groups whose id starts
        with this string, or whose name contains it. ``page_size``: groups per request, at most 500."""
        following: int | None = after
        while following is not None:
            page = self._run(self._calls.page(after=following, limit=page_size, match=match))
            yield from page.groups
            following = page.next

    def data_source(self, name: str) -> ListedSource | None:
        """Return the data source with this name or id, or None."""
        found = self._run(self._calls.sources(name=name)).sources
        return found[0] if found else None

    def data_sources(self, *, page_size: int = 100) -> Iterator[ListedSource]:
        """Yield all data sources of the environment, ordered by name."""
        following: str | None = ""
        while following is not None:
            page = self._run(self._calls.sources(after=following, limit=page_size))
            yield from page.sources
            following = page.next

    def create_data_source(
        self,
        name: str,
        url: str,
        *,
        password: str | None = None,
        session: Mapping[str, str] | None = None,
        tables: Mapping[str, Any] | None = None,
        test: bool = True,
        dry_run: bool = False,
    ) -> ListedSource:
        """Register a data source. If ``test`` is true, the service connects to the source first. Raises InvalidSource,
        SourceTestFailed, and AlreadyExists, which you also get if an earlier attempt succeeded but its reply was
        lost."""
        fields = {"url": url, "password": password, "session": session, "tables": tables, "test": test}
        return self._run(self._calls.write_source("POST", name, dry_run=dry_run, **fields))

    def update_data_source(
        self,
        name: str,
        *,
        new_name: str | Unchanged = UNCHANGED,
        url: str | Unchanged = UNCHANGED,
        password: str | Unchanged = UNCHANGED,
        session: Mapping[str, str] | Unchanged | None = UNCHANGED,
        tables: Mapping[str, Any] | Unchanged | None = UNCHANGED,
        test: bool = True,
        dry_run: bool = False,
    ) -> ListedSource:
        """Replace each given field, and keep the other fields. None removes the session variables (``session``) or the
        declaration of guarded tables (``tables``). If ``test`` is true, the service connects to the changed source
        first. Raises DataSourceNotFound, InvalidSource, SourceTestFailed. For ``new_name``, also raises AlreadyExists,
        and SourceInUse if groups are mapped to the old name."""
        fields = {"new_name": new_name, "url": url, "password": password, "session": session, "tables": tables}
        return self._run(self._calls.write_source("PATCH", name, dry_run=dry_run, test=test, **fields))

    def delete_data_source(self, name: str, *, force: bool = False, dry_run: bool = False) -> ListedSource | None:
        """Delete the data source and return it, or None if a retry does not find it. Raises DataSourceNotFound, and
        SourceInUse if user groups map to the source, unless ``force`` is true."""
        return self._run(self._calls.delete_source(name, force=force, dry_run=dry_run))

    def bulk(
        self, groups: Iterable[Mapping[str, Any]], *, replace: bool = False, dry_run: bool = False
    ) -> Iterator[BulkReport]:
        """Create many groups, or merge changes into existing ones. An item of ``groups`` looks like
        ``{"user_group_id": "acme", "properties": {"plan": "pro"}}``.

        Yields a report for each group, in the order of the input. If a report has an ``error``, the other groups are
        still written. With ``replace``, properties and mapping are replaced instead of merged. Groups are sent in
        batches, each when you ask for its first report. If the request for a batch fails, its error is raised; you can
        then safely send all groups again.
        """
        batches = LineBatches(self._calls.limits, replace=replace, dry_run=dry_run)
        for group in groups:
            batches.add(group)
            if batches.full:
                yield from read_reports(self._run(batches.send()))
        if not batches.empty:
            yield from read_reports(self._run(batches.send()))

    def rotate_many(self, *, signed_by: str | None, after: int = 0, dry_run: bool = False) -> Iterator[RotationReport]:
        """Give many groups new tokens, and yield a report for each. ``signed_by``: the id of an inactive signing key.
        Only groups whose token this key signed get new tokens. None: all groups of the environment. ``after``: only
        groups with a greater ``team_id``.

        An ``error`` in a report concerns only the group of that report. If a request fails, its error is raised, and
        some groups of that request may have new tokens. To continue, call this again; if ``signed_by`` is None, give
        the ``team_id`` of the last report as ``after``."""
        following: int | None = after
        while following is not None:
            answer = self._run(rotate_part(self._calls.limits, signed_by, following, dry_run=dry_run))
            yield from read_rotations(answer)
            following = answer.next

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
