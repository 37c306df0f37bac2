"""Reads the parameters and credentials of operations, and the names of all request headers of a site."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from tenantry_site.config.model import ApiAuth, SiteConfig
from tenantry_site.reference.json_ref import DocumentDiagnostics, JsonRef
from tenantry_site.reference.operation import Authorization, Credential, In, Operation, Parameter
from tenantry_site.reference.operation_lookup import Reference
from tenantry_site.reference.schemas import Schemas
from tenantry_site.suggestions import nearest

AUTH_METHODS: Final = ("bearer", "basic", "key", "none")
"""The values of ``authMethod`` in the front matter of a page."""

_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def configured_authorization(method: str, auth: ApiAuth, declared: Iterable[Credential] = ()) -> Authorization:
    """How to authenticate with ``method``, which a page or the configuration sets. ``declared``: the document's
    credentials. They say which header, query parameter or cookie has the key."""
    if method == "none":
        return ()
    prefix = auth.input_prefix or ""
    if method == "basic":
        user, _, password = (auth.name or "").partition(":")
        labels = (user.strip() or "Username", password.strip() or "Password")
        return ((Credential("basic", labels=labels, prefix=prefix),),)
    name = auth.name if auth.name and _HEADER.fullmatch(auth.name) else None
    label = (auth.name or "Token",)
    if method == "bearer":
        return ((Credential("bearer", name=name or "Authorization", labels=label, prefix=prefix),),)
    known = next((one for one in declared if one.kind == "key" and (name is None or one.name == name)), None)
    location: In = known.location if known else "header"
    header = name or (known.name if known else "X-API-Key")
    return ((Credential("key", location, header, (auth.name or header,), prefix),),)


def declared_authorization(requirements: JsonRef, schemes: JsonRef) -> Authorization:
    """The ways to authenticate that ``requirements`` (an operation or a document) lists in ``security``. ``schemes``:
    the document's ``securitySchemes``."""
    ways = []
    for item in requirements.items("security"):
        needed = item.as_object()
        if needed:
            found = [_credential(name, needed, schemes) for name in needed.value]
            ways.append(tuple(one for one in found if one is not None))
    return tuple(dict.fromkeys(ways)) if any(ways) else ()


def all_schemes(schemes: JsonRef) -> Iterator[Credential]:
    """The credentials of all security schemes of a document."""
    for name in schemes.value if isinstance(schemes.value, dict) else ():
        scheme = schemes.object(name)
        credential = _scheme(scheme) if scheme else None
        if credential is not None:
            yield credential


def _credential(name: str, needed: JsonRef, schemes: JsonRef) -> Credential | None:
    scheme = schemes.object(name)
    if not scheme:
        known = nearest(name, schemes.value if isinstance(schemes.value, dict) else ())
        fix = f"write {known!r}" if known else "add it to components.securitySchemes"
        needed.at(name).report("API014", f"there is no security scheme {name!r}", fix)
        return None
    return _scheme(scheme)


def _scheme(scheme: JsonRef) -> Credential | None:
    kind, about = scheme.text("type").lower(), scheme.text("description")
    if kind == "apikey":
        location = scheme.text("in")
        name = scheme.text("name")
        if location not in ("header", "query", "cookie") or not name:
            scheme.report(
                "API005", "an apiKey needs `in` and `name`", "write `in: header`, and the header's name as `name`"
            )
            return None
        return Credential("key", location, name, (name,), description=about)  # type: ignore[arg-type]  # one of the three
    if kind == "http" and scheme.text("scheme").lower() == "basic":
        return Credential("basic", labels=("Username", "Password"), description=about)
    if kind in ("http", "oauth2", "openidconnect"):
        return Credential("bearer", description=about or _FLOWS.get(kind, ""))
    if kind != "mutualtls":
        scheme.report("API005", f"{kind[:40]!r} is not a type of a security scheme", "write http, apiKey or oauth2")
    return None


_FLOWS: Final = {
    "oauth2": "An access token of OAuth 2.",
    "openidconnect": "An access token of OpenID Connect.",
}


LOCATIONS: Final[tuple[In, ...]] = ("path", "query", "header", "cookie")
_MOST: Final = 200
_STYLES: Final[dict[str, str]] = {"path": "simple", "query": "form", "header": "simple", "cookie": "form"}
_BRACED: Final = re.compile(r"\{([^{}]+)\}")
_NOT_PARAMETERS: Final = frozenset({"accept", "content-type", "authorization"})
"""Headers that OpenAPI says to ignore as parameters, because other parts of a document describe them."""


def parameters(operation: Operation, schemas: Schemas, *, ordered: bool) -> tuple[Parameter, ...]:
    """The parameters of an operation and of its path item; a parameter of the operation replaces one of the path item
    with the same name and location. ``ordered``: keep the document's order."""
    found: dict[tuple[str, str], Parameter] = {}
    for ref in (operation.around, operation.ref):
        for item in list(ref.items("parameters"))[:_MOST]:
            parameter = _parameter(item.followed().as_object(), schemas)
            if parameter is not None:
                found[parameter.location, parameter.name] = parameter
    if not operation.is_webhook:
        _check(operation, found)
    chosen = list(found.values())
    if not ordered:
        chosen.sort(key=lambda one: (not one.required, one.name.casefold(), one.name))
    return tuple(sorted(chosen, key=lambda one: LOCATIONS.index(one.location)))


def _check(operation: Operation, found: dict[tuple[str, str], Parameter]) -> None:
    """Report and fix differences between the path and the declared path parameters: add each undeclared ``{name}``, and
    remove parameters that are not in the path."""
    names = dict.fromkeys(_BRACED.findall(operation.path))
    for name in names:
        if ("path", name) not in found:
            message = f"{operation.path}: the parameter {name!r} is not declared"
            operation.ref.report("API013", message, f"add a parameter with `name: {name}` and `in: path`")
            found["path", name] = Parameter(name, "path", required=True, style="simple", explode=False)
    for (location, name), parameter in list(found.items()):
        if location == "path" and name not in names:
            message = f"the path parameter {name!r} is not in {operation.path}"
            operation.ref.report("API013", message, f"add {{{name}}} to the path, or remove the parameter")
            del found[location, parameter.name]


def _parameter(ref: JsonRef, schemas: Schemas) -> Parameter | None:
    if not ref:
        return None
    name, where = ref.text("name"), ref.text("in")
    if not name or where not in LOCATIONS:
        ref.report(
            "API005", "a parameter needs `name` and `in`", "write a `name`, and as `in` path, query, header or cookie"
        )
        return None
    if where == "header" and name.lower() in _NOT_PARAMETERS:
        return None
    return _read(ref, schemas, name, where)


def _read(ref: JsonRef, schemas: Schemas, name: str, where: In) -> Parameter:
    schema, as_json = ref.at("schema"), False
    if not schema and ref.has("content"):
        for kind, media in ref.entries("content"):
            schema, as_json = media.as_object().at("schema"), "json" in kind
            break
    shape = schemas.shape(schema)
    style = ref.text("style") or _STYLES[where]
    return Parameter(
        name=name,
        location=where,
        description=ref.text("description") or shape.description,
        required=ref.flag("required") or where == "path",
        deprecated=ref.flag("deprecated") or shape.deprecated,
        shape=shape,
        style=style,
        explode=ref.flag("explode") if ref.has("explode") else style in ("form", "deepObject"),
        json=as_json,
        example=_example(ref, shape.example),
    )


def _example(ref: JsonRef, otherwise: Any) -> Any:
    if ref.has("example"):
        return ref.value["example"]
    for _, item in ref.entries("examples"):
        example = item.followed().as_object()
        if example.has("value"):
            return example.value["value"]
    return otherwise


def headers(response: JsonRef, schemas: Schemas) -> Iterator[Parameter]:
    for name, item in list(response.entries("headers"))[:_MOST]:
        header = item.followed().as_object()
        if header and name.lower() != "content-type":
            yield _read(header, schemas, name, "header")


def request_headers(config: SiteConfig, reference: Reference) -> frozenset[str]:
    """The names of the request headers that a site's API pages may need: ``api.auth.name``, the header parameters of
    all operations, and the headers of security schemes."""
    names = {config.api.auth.name} if config.api.auth.name and config.api.auth.method != "basic" else set()
    return frozenset((*names, *_parameters(reference), *_keys(reference)))


def _parameters(reference: Reference) -> Iterator[str]:
    diagnostics = DocumentDiagnostics()  # not shown: the operation's page reports its problems
    for operation in reference.operations:
        for ref in (operation.around, operation.ref):
            for item in replace(ref, diagnostics=diagnostics).items("parameters"):
                parameter = item.followed().as_object()
                if parameter.text("in") == "header":
                    yield parameter.text("name")


def _keys(reference: Reference) -> Iterator[str]:
    diagnostics = DocumentDiagnostics()
    for operation in {operation.file: operation for operation in reference.operations}.values():
        ref = replace(operation.ref, diagnostics=diagnostics)
        root = replace(ref, value=ref.loader.value(operation.file, diagnostics), path=operation.file, pointer="")
        schemes = root.object("components").object("securitySchemes")
        yield from (one.name for one in all_schemes(schemes) if one.location == "header")
