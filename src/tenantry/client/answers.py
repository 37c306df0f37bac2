from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import ceil
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from tenantry.clock import utc_now
from tenantry.errors import TenantryError, TooManyRequests, UnexpectedAnswer
from tenantry.groups import Tag, read_moment

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ProvisionedGroup:
    """A user group (SPEC section 2.1).

    A field is None if the call that returned the group does not report it. A group that a ``dry_run`` would create has
    a ``team_id`` of 0 and an empty token.
    """

    team_id: int
    token: str = field(repr=False)
    """A secret, so it is not in ``repr``."""
    name: str
    provided_id: str
    properties: dict[str, Any] | None = field(default=None, repr=False)
    api_environment_tag: Tag | None = None
    created: bool | None = None
    replayed: bool = False
    dry_run: bool = False
    expires_at: datetime | None = None
    suspended: bool = False


@dataclass(frozen=True, slots=True)
class ListedGroup:
    """A group without its token."""

    team_id: int
    name: str
    provided_id: str
    properties: dict[str, Any] | None = field(default=None, repr=False)
    mapping: dict[str, str] | None = None
    api_environment_tag: Tag | None = None
    expires_at: datetime | None = None
    """The time from which the token is refused (aware, UTC)."""
    suspended: bool = False


@dataclass(frozen=True, slots=True)
class CreatedPass:
    """The result of ``create_pass``."""

    token: str = field(repr=False)
    """The pass, a secret."""
    expires_at: datetime
    """When the pass ends (aware, UTC)."""


@dataclass(frozen=True, slots=True)
class GroupPage:
    groups: tuple[ListedGroup, ...]
    next: int | None
    """The value of ``after`` that requests the next page; None on the last page."""


@dataclass(frozen=True, slots=True)
class ListedSource:
    """A data source."""

    id: str
    name: str
    environment: str
    engine: str
    url: str
    """Secrets in the URL are masked."""
    secrets: str | None
    """How the secrets in the URL are stored: ``plain``, ``encrypted`` or ``reference``. None if it has no secrets."""
    trusted: bool
    session: dict[str, str]
    groups: int
    """How many user groups map to the source."""
    tables: dict[str, Any] | None = field(default=None, repr=False)
    """The declaration of guarded tables; None if the source has no declaration."""


@dataclass(frozen=True, slots=True)
class SourcePage:
    sources: tuple[ListedSource, ...]
    next: str | None
    """The value of ``after`` that requests the next page; None on the last page."""


@dataclass(frozen=True, slots=True)
class Reports(Generic[T]):
    reports: list[T]
    error: TenantryError | None = None
    """The error that ended the request. If there is one, reports may be missing."""

    def __iter__(self) -> Iterator[T]:
        """Yields the reports, then raises ``error``."""
        yield from self.reports
        if self.error is not None:
            raise self.error


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    content: bytes = field(repr=False)
    retry_after: str | None = None
    replayed: bool = False
    dry_run: bool = False
    request_id: str = ""

    @classmethod
    def of(cls, response: httpx2.Response) -> Reply:
        replayed, dry_run = (response.headers.get(name) == "true" for name in ("idempotency-replayed", "dry-run"))
        headers = response.headers
        return cls(
            response.status_code,
            response.content,
            headers.get("retry-after"),
            replayed,
            dry_run,
            headers.get("x-request-id", ""),
        )


def read_group(document: Any, reply: Reply) -> ProvisionedGroup:
    group = document["user_group"]
    tag = group.get("api_environment_tag")
    return ProvisionedGroup(
        team_id=group["team_id"],
        token=_text(group["token"]),
        name=_text(group["name"]),
        provided_id=_text(group["provided_id"]),
        properties=group.get("properties"),
        api_environment_tag=None if tag is None else Tag(tag),
        created=document.get("new_user_group"),
        replayed=reply.replayed,
        dry_run=reply.dry_run,
        expires_at=_end_date(group),
        suspended=group.get("suspended", False),
    )


def read_pass(document: Any, reply: Reply) -> CreatedPass:
    return CreatedPass(_text(document["pass"]), read_moment(document["expires_at"]))


def read_revocation(document: Any, reply: Reply) -> datetime:
    return read_moment(document["revoked_before"])


def read_page(document: Any, reply: Reply) -> GroupPage:
    return GroupPage(tuple(_listed(each) for each in document["user_groups"]), document["next"])


def read_deleted(document: Any, reply: Reply) -> ListedGroup:
    return _listed(document["user_group"])


def read_source(document: Any, reply: Reply) -> ListedSource:
    return _source(document["data_source"])


def read_sources(document: Any, reply: Reply) -> SourcePage:
    return SourcePage(tuple(_source(each) for each in document["data_sources"]), document["next"])


def _source(source: Any) -> ListedSource:
    return ListedSource(**{name: source[name] for name in _SOURCE_FIELDS})


_SOURCE_FIELDS: Final = tuple(each.name for each in fields(ListedSource))


def _listed(group: Any) -> ListedGroup:
    return ListedGroup(
        team_id=group["team_id"],
        name=_text(group["name"]),
        provided_id=_text(group["provided_id"]),
        properties=group["properties"],
        mapping=group["mapping"],
        api_environment_tag=Tag(group["api_environment_tag"]),
        expires_at=_end_date(group),
        suspended=group.get("suspended", False),
    )


def _end_date(group: Any) -> datetime | None:
    text = group.get("expires_at")
    return None if text is None else read_moment(text)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def read_success(read: Callable[[Any, Reply], T], document: Any, reply: Reply) -> T:
    """Return ``read(document, reply)``. Raises UnexpectedAnswer if the document does not have the expected form."""
    try:
        return read(document, reply)
    except (KeyError, TypeError, ValueError, AttributeError):
        pass
    raise UnexpectedAnswer(
        "the answer is not from /api/user: check whether a proxy or another service is at this address"
    )


def read_error(status: int, document: Any, retry_after: str | None) -> TenantryError:
    """Return the error of an unsuccessful response. An unknown error code gives a plain TenantryError. A document
    without an error gives an UnexpectedAnswer. A 429 gives TooManyRequests."""
    seconds = _seconds(retry_after)
    if status == TooManyRequests.status:
        return TooManyRequests("a proxy in front of /api/user limits the rate of requests", retry_after=seconds)
    try:
        detail = document["error"]
        code, message, request_id = str(detail["code"]), str(detail["message"]), str(document["request_id"])
        pointer = detail.get("field")
    except (KeyError, TypeError, AttributeError):
        return UnexpectedAnswer(
            f"HTTP {status}, but the body is no error of /api/user: check whether a proxy is at this address",
            retry_after=seconds,
        )
    error_class = _CLASSES.get(code, TenantryError)
    message = f"{message} (request {request_id})"
    error = error_class.__new__(error_class, message)  # some constructors need more than a message
    TenantryError.__init__(error, message, field=pointer)
    error.code, error.retry_after = code, seconds
    error.status = error_class.status if status == 200 else status
    return error


_MAX_DIGITS: Final = 12
"""Maximum number of digits of a Retry-After header that are read."""
# Python refuses to convert thousands of digits.


def _seconds(retry_after: str | None) -> int | None:
    # RFC 9110 section 10.2.3; None if the header is malformed
    if retry_after is None:
        return None
    if retry_after.isascii() and retry_after.isdigit():
        return int(retry_after.lstrip("0")[:_MAX_DIGITS] or "0")
    try:
        date = parsedate_to_datetime(retry_after)
    except (ValueError, OverflowError):
        return None
    return max(0, ceil((date.replace(tzinfo=date.tzinfo or UTC) - utc_now()).total_seconds()))


def _subclasses(kind: type[TenantryError]) -> Iterator[type[TenantryError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _subclasses(child)


_CLASSES = {kind.code: kind for kind in reversed(list(_subclasses(TenantryError))) if "code" in vars(kind)}
