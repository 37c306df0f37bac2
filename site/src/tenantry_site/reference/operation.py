"""The data of an endpoint, from an OpenAPI document or a page's front matter, in the form that the renderers need."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from tenantry_site.reference.json_ref import JsonRef
from tenantry_site.reference.schemas import ABSENT, ANY, Shape

In = Literal["path", "query", "header", "cookie"]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of an OpenAPI document. ``Endpoints.read`` reads its details when its page is rendered.

    ``method``: in upper case (``WEBHOOK`` for a webhook). ``path``: as in the document, or the webhook's name.
    ``file``: the document's path within the site, or its web address.
    """

    method: str
    path: str
    file: str
    ref: JsonRef = field(repr=False, compare=False)
    around: JsonRef = field(repr=False, compare=False)
    """The path item, whose parameters and servers apply to all its operations."""

    @property
    def title(self) -> str:
        """The summary, else the ``operationId``, else method and path."""
        named = self.ref.text("summary").strip() or self.around.text("summary").strip()
        return named or self.ref.text("operationId") or f"{self.method} {self.path}"

    @property
    def description(self) -> str:
        """The description, which is untrusted Markdown."""
        return self.ref.text("description") or self.around.text("description")

    @property
    def tags(self) -> tuple[str, ...]:
        """The operation's tags, the names of its groups."""
        return tuple(tag.value for tag in self.ref.items("tags") if isinstance(tag.value, str))

    @property
    def is_webhook(self) -> bool:
        """Whether this is a request that the API sends."""
        return self.method == "WEBHOOK"

    @property
    def spec(self) -> str:
        """The value of ``openapi`` in the front matter of a page that names this operation."""
        method = "webhook" if self.is_webhook else self.method
        return f"{self.file} {method} {self.path}"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a request, or a header of a response.

    ``style`` and ``explode``: as in OpenAPI. ``json``: the value is written as JSON. ``example``: from the document,
    not made from the schema. ``placeholder``: example text for the input.
    """

    name: str
    location: In
    description: str = ""
    required: bool = False
    deprecated: bool = False
    shape: Shape = ANY
    style: str = "form"
    explode: bool = True
    json: bool = False
    example: Any = ABSENT
    placeholder: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """An example of a body. ``text``: as sent or received; ``generated``: made from the schema."""

    name: str
    text: str
    summary: str = ""
    description: str = ""
    generated: bool = False


Form = Literal["json", "form", "multipart", "text", "binary"]


@dataclass(frozen=True, slots=True)
class Media:
    """A body in one content type. ``form``: the kind of input in which the playground edits it."""

    type: str
    form: Form
    shape: Shape
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True, slots=True)
class Body:
    """A request body. ``media``: one for each content type that the API accepts."""

    media: tuple[Media, ...]
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class Response:
    """A response: ``status`` is ``200``, ``2XX`` or ``default``."""

    status: str
    description: str = ""
    headers: tuple[Parameter, ...] = ()
    media: tuple[Media, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable in a server's address, whose value the reader chooses."""

    name: str
    default: str
    enum: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class Server:
    """A server of an API. ``url``: an absolute address or a path on the docs' host, without a final slash."""

    url: str
    description: str = ""
    variables: tuple[Variable, ...] = ()

    @property
    def filled(self) -> str:
        """The address with the default values of its variables."""
        url = self.url
        for variable in self.variables:
            url = url.replace(f"{{{variable.name}}}", variable.default)
        return url


@dataclass(frozen=True, slots=True)
class Credential:
    """A credential of a request."""

    kind: Literal["bearer", "basic", "key"]
    location: In = "header"
    name: str = "Authorization"
    """The name of the header, query parameter or cookie."""
    labels: tuple[str, ...] = ("Token",)
    """The labels of the input fields: two for ``basic``, else one."""
    prefix: str = ""
    """The string to send before the reader's input."""
    description: str = ""

    @property
    def words(self) -> str:
        """The credential in words: ``Bearer token in the header Authorization``."""
        if self.kind == "basic":
            return "User name and password"
        where = {"header": "header", "query": "query parameter", "cookie": "cookie"}.get(self.location, "header")
        kind = "Bearer token in the" if self.kind == "bearer" else "Key in the"
        return f"{kind} {where} {self.name}"


Authorization = tuple[tuple[Credential, ...], ...]
"""Alternative ways to authenticate. Each lists the credentials that are needed together; an empty list needs none."""


@dataclass(frozen=True, slots=True)
class Callback:
    """A request that the API sends back to a client. ``expression``: the target address, with runtime expressions."""

    name: str
    expression: str
    operation: Operation


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint with everything on its page.

    ``documented``: the author's page describes the parameters itself. ``path_methods``: the methods of all operations
    with the same path.
    """

    method: str
    path: str
    servers: tuple[Server, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    body: Body | None = None
    responses: tuple[Response, ...] = ()
    authorization: Authorization = ()
    callbacks: tuple[Callback, ...] = ()
    path_methods: tuple[str, ...] = ()
    description: str = ""
    deprecated: bool = False
    documented: bool = False

    @property
    def callable(self) -> bool:
        """Whether readers can send this request, that is, whether it is not a webhook."""
        return self.method != "WEBHOOK"

    @property
    def request_headers(self) -> frozenset[str]:
        """The names of the request headers that the playground may send, for parameters and credentials."""
        signing = (one.name for way in self.authorization for one in way if one.location == "header")
        return frozenset((*signing, *(one.name for one in self.parameters if one.location == "header")))
