from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, Final, Generic, TypeVar

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tenantry.clock import utc_now
from tenantry.dashboards import StrictBody, read_request
from tenantry.dashboards.preview import assumed_viewer
from tenantry.editor.authors import EditorAuthor, FindAuthor, Right
from tenantry.editor.workbench import Workbench
from tenantry.errors import (
    InvalidBody,
    NoAuthor,
    RightMissing,
    StoreUnavailable,
    TemplateError,
    TenantryError,
    UnknownGroup,
)
from tenantry.groups import LONGEST_PASS, Environment, Issued, UserGroup
from tenantry.middleware import OriginCheck

Body = TypeVar("Body", bound=StrictBody)

MAX_BODY: Final = 64 * 1024
"""Maximum bytes of a request body, unless an endpoint allows more."""
MAX_BODY_OF_TEXTS: Final = 2 * 1024 * 1024
"""Maximum bytes of a request body with the texts of files."""

HEADER = "X-Tenantry-Editor"
"""Request header that the page sends. A form of another site cannot set it."""


class NoBody(StrictBody):
    """An empty JSON object."""


class GroupBody(StrictBody):
    environment: Annotated[str, Field(max_length=255)]
    group: Annotated[str, Field(max_length=255)]
    """The group's ``provided_id``."""
    viewer: Annotated[dict[str, Any], Field(max_length=100)] | None = None
    """The values of ``viewer.*``, including ``id``; None: no viewer."""


class DraftsBody(StrictBody):
    drafts: Annotated[dict[str, str], Field(max_length=20)] = {}
    """The unsaved texts of files, by path."""


class TextBody(DraftsBody):
    path: Annotated[str, Field(max_length=1_000)]
    """The file's path in the workspace, for example ``queries/by_day.sql``."""
    text: str


class TypedBody(TextBody):
    schema_: Annotated[str, Field(max_length=255, alias="schema")] = "main"
    """The key of the group's mapping that names the data source."""
    dashboard: Annotated[str, Field(max_length=1_000)] | None = None
    """The name of a dashboard. Its controls supply the parameters that the query does not declare. By default, the
    first dashboard that uses the query."""


@dataclass(frozen=True, slots=True)
class EditorRequest(Generic[Body]):
    """A request whose author has the right that its endpoint needs."""

    request: Request
    author: EditorAuthor
    body: Body
    find_author: Callable[[Request], Awaitable[EditorAuthor]]

    async def is_still_allowed(self) -> bool:
        """Whether the request still has the same author with the same rights. True if the store does not answer."""
        try:
            return await self.find_author(self.request) == self.author
        except StoreUnavailable:
            return True  # the query itself ends if the store does not answer for longer
        except Exception:  # noqa: BLE001  # the function of the host program may raise its own error for a log-out
            return False


Handler = Callable[[EditorRequest[Body]], Awaitable[Response]]


class EditorEndpoints:
    """Makes routes whose handlers get an author and a checked body. ``links``: whether authors open one-time links."""

    def __init__(self, workbench: Workbench, find_author: FindAuthor, *, links: bool) -> None:
        self.workbench = workbench
        self._find_author = find_author
        self._no_author = NoAuthor.MESSAGE if links else NoAuthor.SIGN_IN
        self._origins = OriginCheck(advice="open the editor there")

    def post(
        self,
        path: str,
        model: type[Body],
        handler: Handler[Body],
        *,
        right: Right = Right.VIEW,
        max_bytes: int = MAX_BODY,
    ) -> Route:
        """Return a route for POST requests with a JSON body. Its error responses are:
        - 401: there is no author.
        - 403: the author lacks ``view`` or ``right``, or a page on another site sent the request.
        - 413: the body has more than ``max_bytes``.
        - 422: the body is invalid."""

        async def respond(request: Request) -> Response:
            author = await self.author(request)
            for needed in (Right.VIEW, right):  # responses to a conflict, a run or a preview also show files
                require_right(author, needed)
            body = await read_request(request, model, max_bytes=max_bytes)
            return await handler(EditorRequest(request, author, body, self.author))

        return Route(path, respond, methods=["POST"])

    def get(self, path: str, handler: Callable[[Request, EditorAuthor], Awaitable[Response]]) -> Route:
        """Return a route that responds 401 if there is no author, and 403 without the right to view files."""

        async def respond(request: Request) -> Response:
            author = await self.author(request)
            require_right(author, Right.VIEW)
            return await handler(request, author)

        return Route(path, respond, methods=["GET"])

    async def author(self, request: Request) -> EditorAuthor:
        """Return the author of a request. Raises NoAuthor, and the errors of ``require_page``."""
        self.require_page(request)
        return await self._author(request)

    async def author_in_frame(self, request: Request) -> EditorAuthor:
        """Like ``author``, but does not require HEADER: a page in a frame of the editor does not send it."""
        self._origins.require(request.scope)
        return await self._author(request)

    async def _author(self, request: Request) -> EditorAuthor:
        found = self._find_author(request)
        author = await found if inspect.isawaitable(found) else found
        if author is None:
            raise NoAuthor(self._no_author)
        return author

    def require_page(self, request: Request) -> None:
        """Check which page sent the request. Raises OriginNotAllowed if a page on another site may have sent it, and
        InvalidBody if a request other than GET or HEAD has no header HEADER."""
        self._origins.require(request.scope)
        if request.method not in {"GET", "HEAD"} and HEADER not in request.headers:
            raise InvalidBody(f"send the header `{HEADER}: 1`")


def require_right(author: EditorAuthor, right: Right) -> None:
    """Raise RightMissing if the author lacks the right."""
    if right not in author.rights:
        raise RightMissing(f"you lack the right {right.value!r}: ask the operator of this editor for it")


async def find_group(workbench: Workbench, author: EditorAuthor, environment: str, provided_id: str) -> Issued:
    """Find a group. Raises UnknownGroup, and RightMissing for an environment that the author may not use."""
    found = await workbench.store.groups.get(await find_environment(workbench, author, environment), provided_id)
    if found is None:
        raise UnknownGroup(f"there is no user group {provided_id!r} in {environment}", field="/group")
    return found


async def find_environment(workbench: Workbench, author: EditorAuthor, name: str) -> Environment:
    environment = await workbench.store.environments.get(name) if author.may_use(name) else None
    if environment is None:
        raise RightMissing(f"you may not use the environment {name!r}", field="/environment")
    return environment


def status_for_author(error: TenantryError) -> int:
    # A broken template gets 422, because the request contains it.
    return HTTPStatus.UNPROCESSABLE_ENTITY if isinstance(error, TemplateError) else error.status


async def find_viewed_group(workbench: Workbench, author: EditorAuthor, body: GroupBody) -> UserGroup:
    """Return the group of a request, with the viewer's values if the request has any. The group may be suspended or
    expired. Raises UnknownGroup, RightMissing, and InvalidBody for values that no viewer can have."""
    found = await find_group(workbench, author, body.environment, body.group)
    return as_viewer(found.group, body.viewer)


def as_viewer(group: UserGroup, values: Mapping[str, Any] | None) -> UserGroup:
    """Return the group with a viewer that has these values (``viewer.*``). None: return it without a viewer. Raises
    InvalidBody."""
    if values is None:
        return group
    return group.with_viewer(assumed_viewer(values, group, utc_now(), LONGEST_PASS, field="/viewer"))
