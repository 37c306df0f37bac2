from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, TypeAlias

from tenantry.errors import InvalidSettings
from tenantry.groups import Record, UserGroup
from tenantry.http import user_group, variables
from tenantry.middleware.carriers import AnyCarriers, Carriers, read_carriers
from tenantry.middleware.middleware import UserGroupMiddleware

try:
    from fastapi import Depends, FastAPI, routing
except ModuleNotFoundError as error:
    if error.name != "fastapi":
        raise
    raise ModuleNotFoundError("tenantry.fastapi needs FastAPI: pip install fastapi", name="fastapi") from error

CurrentGroup: TypeAlias = Annotated[UserGroup, Depends(user_group)]
"""Annotation of a route parameter for the request's user group. A request without a token gets a 401."""

CurrentVariables: TypeAlias = Annotated[Record, Depends(variables)]
"""Annotation of a route parameter for ``variables(request)``. A request without a token gets a 401."""

_OURS: Final = frozenset({user_group, variables})

Document = dict[str, Any]
Schemes = dict[str, dict[str, str]]


def add_security_schemes(app: FastAPI, carriers: AnyCarriers = None) -> None:
    """Describe the user group token in the app's OpenAPI document, at each operation that uses the token or, if the
    middleware has ``required=True``, at all operations. Call this after ``app.add_middleware``. If the middleware is
    outside the app, pass the middleware's carriers. Raises InvalidSettings if ``carriers`` is None and the app has no
    UserGroupMiddleware."""
    everywhere = False
    if carriers is None:
        options = _options(app)
        carriers, everywhere = options.get("carriers"), bool(options.get("required"))
    schemes = security_schemes(read_carriers(carriers))
    generate = app.openapi
    last: tuple[Document, Document] | None = None

    def openapi() -> Document:
        nonlocal last
        document = generate()  # the same object until a route is added
        if last is None or last[0] is not document:
            last = document, _with_schemes(document, schemes, None if everywhere else set(_operations(app)))
        return last[1]

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI documents this assignment


def security_schemes(carriers: Carriers) -> Schemes:
    """Return the OpenAPI 3.1 security schemes. A query parameter is included only if there is neither a header nor a
    cookie. Paths and custom carriers are never included."""
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
        elif not bare:  # use apiKey: Swagger UI supports only the ``http`` schemes Basic, Bearer and Digest
            text = f"`{scheme}`, a space and the user group token."
            schemes["UserGroupAuthorization"] = _api_key("header", "Authorization", text)
    for name in carriers.cookies[:1]:
        text = "The user group token, in a cookie that the browser has. A page cannot set it for a single request."
        schemes["UserGroupCookie"] = _api_key("cookie", name, text)
    if not schemes:
        for name in carriers.queries[:1]:
            text = "The user group token. Browser histories and proxy logs keep it: prefer a header."
            schemes["UserGroupQuery"] = _api_key("query", name, text)
    return schemes


def _api_key(where: str, name: str, description: str) -> dict[str, str]:
    return {"type": "apiKey", "in": where, "name": name, "description": description}


def _options(app: FastAPI) -> Mapping[str, Any]:
    for middleware in app.user_middleware:
        cls: object = middleware.cls
        if isinstance(cls, type) and issubclass(cls, UserGroupMiddleware):
            return middleware.kwargs
    raise InvalidSettings(
        "add_security_schemes(app): the app has no UserGroupMiddleware. Call it after "
        "app.add_middleware(UserGroupMiddleware, resolver=…), or pass the carriers of a middleware outside the app: "
        "add_security_schemes(app, carriers=DEFAULT_CARRIERS)"
    )


def _operations(app: FastAPI) -> Iterable[tuple[str, str]]:
    # Newer FastAPI releases represent an included router as one route. Flatten it, as FastAPI does for its document.
    flat: Any = getattr(routing, "iter_route_contexts", iter)
    for route in flat(app.routes):
        dependant = getattr(route, "dependant", None)
        if dependant is not None and _depends(dependant):
            for method in getattr(route, "methods", None) or ():  # a websocket route has no methods
                yield route.path_format, method.lower()


def _depends(dependant: Any) -> bool:
    return dependant.call in _OURS or any(_depends(each) for each in dependant.dependencies)


def _with_schemes(document: Document, schemes: Schemes, operations: set[tuple[str, str]] | None) -> Document:
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
