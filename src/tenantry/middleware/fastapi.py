"""FastAPI: the user group as typed parameters of a route, and its token in the OpenAPI document of the app.

The one module that needs FastAPI: it is imported by its name, and nothing else of Tenantry imports it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, TypeAlias

from tenantry.errors import InvalidSettings
from tenantry.groups import Record, UserGroup
from tenantry.http import user_group, variables
from tenantry.middleware import Carriers, UserGroupMiddleware
from tenantry.middleware.carriers import AnyCarriers, read_carriers

try:
    from fastapi import Depends, FastAPI, routing
except ModuleNotFoundError as error:
    if error.name != "fastapi":
        raise
    raise ModuleNotFoundError("tenantry.fastapi needs FastAPI: pip install fastapi", name="fastapi") from error

CurrentGroup: TypeAlias = Annotated[UserGroup, Depends(user_group)]
"""The user group of this request or websocket, as the type of a parameter. Without a token the answer is 401."""

CurrentVariables: TypeAlias = Annotated[Record, Depends(variables)]
"""What templates may read of it: ``variables(request)``, as the type of a parameter."""

_OURS: Final = frozenset({user_group, variables})

Document = dict[str, Any]
Schemes = dict[str, dict[str, str]]


def add_security_schemes(app: FastAPI, carriers: AnyCarriers = None) -> None:
    """Shows in the OpenAPI document of ``app`` how a request carries its user group token.

    The operations that depend on ``user_group`` or ``variables``, also by another dependency, name the schemes; with
    ``required=True`` all do. ``carriers`` are those of the UserGroupMiddleware that ``app.add_middleware`` was given,
    so call it after that. Name them where the middleware is around the app (``UserGroupMiddleware(app, …)``), or to
    show some of them only. Raises InvalidSettings where neither is there.
    """
    everywhere = False
    if carriers is None:
        options = _options(app)
        carriers, everywhere = options.get("carriers"), bool(options.get("required"))
    schemes = security_schemes(read_carriers(carriers))
    generate = app.openapi
    last: tuple[Document, Document] | None = None

    def openapi() -> Document:
        nonlocal last
        document = generate()  # FastAPI gives the same one until a route is added
        if last is None or last[0] is not document:
            last = document, _with_schemes(document, schemes, None if everywhere else set(_operations(app)))
        return last[1]

    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI's documentation has it


def security_schemes(carriers: Carriers) -> Schemes:
    """The security schemes of OpenAPI 3.1 for these carriers: each is one way to send the token.

    One for each kind: the first header with the bare token, ``Authorization``, the cookie. Parameters of the query
    would bring tokens into addresses, and so into the logs of proxies: they are shown only where nothing else is read.
    A path and carriers of your own are none of OpenAPI's kinds.
    """
    schemes: Schemes = {}
    bare = [name for name in carriers.headers if name.lower() != "authorization"]
    if bare:
        schemes["UserGroupHeader"] = _api_key("header", bare[0], "The user group token.")
    for scheme in carriers.schemes:
        if scheme.lower() == "bearer":
            schemes["UserGroupBearer"] = {
                "type": "http",
                "scheme": "bearer",
                "description": "The user group token.",
            }
        elif not bare:  # Swagger UI sends what is typed, and knows no scheme but Basic, Bearer and Digest
            text = f"`{scheme}`, a space and the user group token."
            schemes["UserGroupAuthorization"] = _api_key("header", "Authorization", text)
    for name in carriers.cookies[:1]:
        text = "The user group token, in a cookie that the browser has. A page cannot set it for a request."
        schemes["UserGroupCookie"] = _api_key("cookie", name, text)
    if not schemes:
        for name in carriers.queries[:1]:
            text = "The user group token. It stays in histories and in the logs of proxies: prefer a header."
            schemes["UserGroupQuery"] = _api_key("query", name, text)
    return schemes


def _api_key(where: str, name: str, description: str) -> dict[str, str]:
    return {"type": "apiKey", "in": where, "name": name, "description": description}


def _options(app: FastAPI) -> Mapping[str, Any]:
    """What ``app.add_middleware(UserGroupMiddleware, …)`` was given."""
    for middleware in app.user_middleware:
        cls: object = middleware.cls
        if isinstance(cls, type) and issubclass(cls, UserGroupMiddleware):
            return middleware.kwargs
    raise InvalidSettings(
        "add_security_schemes(app): the app has no UserGroupMiddleware. Call it after "
        "app.add_middleware(UserGroupMiddleware, resolver=…), or name the carriers of the one that is around the app: "
        "add_security_schemes(app, carriers=DEFAULT_CARRIERS)"
    )


def _operations(app: FastAPI) -> Iterable[tuple[str, str]]:
    """Path and method of each operation that depends on the user group."""
    # In newer releases an included router is one route. Its own are found as FastAPI's document finds them.
    flat: Any = getattr(routing, "iter_route_contexts", iter)
    for route in flat(app.routes):
        dependant = getattr(route, "dependant", None)
        if dependant is not None and _depends(dependant):
            for method in getattr(route, "methods", None) or ():  # a websocket has none
                yield route.path_format, method.lower()


def _depends(dependant: Any) -> bool:
    """Whether it is one of our accessors, or depends on one."""
    return dependant.call in _OURS or any(_depends(each) for each in dependant.dependencies)


def _with_schemes(document: Document, schemes: Schemes, operations: set[tuple[str, str]] | None) -> Document:
    """A document that has the schemes too, and each operation of these (None: of all) that names them.

    Each is an alternative. What an operation asks for already, it asks for beside it.
    """
    if not schemes:
        return document

    def secured(path: str, method: str, operation: Any) -> Any:
        if not isinstance(operation, dict) or not (operations is None or (path, method) in operations):
            return operation
        others = operation.get("security", document.get("security")) or [{}]
        return {**operation, "security": [{**other, name: []} for other in others for name in schemes]}

    components = document.get("components", {})
    return {
        **document,
        "components": {**components, "securitySchemes": {**components.get("securitySchemes", {}), **schemes}},
        "paths": {
            path: {method: secured(path, method, operation) for method, operation in item.items()}
            for path, item in document.get("paths", {}).items()
        },
    }
