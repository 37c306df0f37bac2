"""Operation: one endpoint of an OpenAPI document, or one that a page's front matter describes, ready to be rendered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from tenantry_site.reference.json_ref import JsonRef
from tenantry_site.reference.schemas import ABSENT, ANY, Shape

In = Literal["path", "query", "header", "cookie"]


@dataclass(frozen=True, slots=True)
class Operation:
    """What finds and names an operation; ``detail`` of a Reader has the rest, read when its page is drawn.

    ``method`` in capitals (``WEBHOOK`` for one that the described API calls), ``path`` as it stands in the document
    or the webhook's name; ``file`` is the document's path within the site.
    """

    method: str
    path: str
    file: str
    ref: JsonRef = field(repr=False, compare=False)
    around: JsonRef = field(repr=False, compare=False)
    """The path item, whose parameters and servers hold for all of its operations."""

    @property
    def title(self) -> str:
        """Its summary, else its id, else method and path."""
        named = self.ref.text("summary").strip() or self.around.text("summary").strip()
        return named or self.ref.text("operationId") or f"{self.method} {self.path}"

    @property
    def description(self) -> str:
        """Markdown, from people who are not trusted."""
        return self.ref.text("description") or self.around.text("description")

    @property
    def tags(self) -> tuple[str, ...]:
        """The names of its groups."""
        return tuple(tag.value for tag in self.ref.items("tags") if isinstance(tag.value, str))

    @property
    def is_webhook(self) -> bool:
        """Whether the API calls this itself, so that no reader can."""
        return self.method == "WEBHOOK"

    @property
    def spec(self) -> str:
        """What a page's ``openapi`` says to mean this one."""
        method = "webhook" if self.is_webhook else self.method
        return f"{self.file} {method} {self.path}"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value that a request carries outside of its body; also a header of a response.

    ``style`` and ``explode`` are OpenAPI's. ``example`` is one that the document gives, never made up. ``json``: the
    value is written as JSON.
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
    """An example of a body. ``text`` is what is sent or received; ``generated`` from the schema if so."""

    name: str
    text: str
    summary: str = ""
    description: str = ""
    generated: bool = False


Form = Literal["json", "form", "multipart", "text", "binary"]


@dataclass(frozen=True, slots=True)
class Media:
    """A body in one content type. ``form`` is how it is filled in."""

    type: str
    form: Form
    shape: Shape
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True, slots=True)
class Body:
    """A request's body, in the content types that the endpoint takes."""

    media: tuple[Media, ...]
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class Response:
    """An answer: ``status`` is ``200``, ``2XX`` or ``default``."""

    status: str
    description: str = ""
    headers: tuple[Parameter, ...] = ()
    media: tuple[Media, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """A part of a server's address that the reader chooses."""

    name: str
    default: str
    enum: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class Server:
    """Where the API is. ``url`` has no slash at its end and is absolute, or a path of the host of the docs."""

    url: str
    description: str = ""
    variables: tuple[Variable, ...] = ()

    @property
    def filled(self) -> str:
        """The address with the default of each variable."""
        url = self.url
        for variable in self.variables:
            url = url.replace(f"{{{variable.name}}}", variable.default)
        return url


@dataclass(frozen=True, slots=True)
class Credential:
    """One thing to sign in with. ``prefix`` is sent before what is typed.

    For ``basic``, ``labels`` are the names of the two fields; else it has one.
    """

    kind: Literal["bearer", "basic", "key"]
    location: In = "header"
    name: str = "Authorization"
    labels: tuple[str, ...] = ("Token",)
    prefix: str = ""
    description: str = ""

    @property
    def words(self) -> str:
        """What it is, as text."""
        if self.kind == "basic":
            return "User name and password"
        where = {"header": "header", "query": "query parameter", "cookie": "cookie"}.get(self.location, "header")
        kind = "Bearer token in the" if self.kind == "bearer" else "Key in the"
        return f"{kind} {where} {self.name}"


Authorization = tuple[tuple[Credential, ...], ...]
"""The ways to sign in, of which one is enough; each needs all of its credentials, and one may need none."""


@dataclass(frozen=True, slots=True)
class Callback:
    """A request that the API sends in turn: its name, and where it goes."""

    name: str
    expression: str
    operation: Operation


@dataclass(frozen=True, slots=True)
class Endpoint:
    """All of an operation that its page shows. ``documented``: the page itself lists the parameters.

    ``path_methods`` are the methods of the same path. ``known`` tells an operation of a document from an ``api`` page.
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
        """Whether a reader can send it."""
        return self.method != "WEBHOOK"

    @property
    def request_headers(self) -> frozenset[str]:
        """The names of the headers that a request of it may carry: its parameters' and its credentials'."""
        signing = (one.name for way in self.authorization for one in way if one.location == "header")
        return frozenset((*signing, *(one.name for one in self.parameters if one.location == "header")))
