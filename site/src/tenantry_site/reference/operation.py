"""An endpoint from an OpenAPI document or a page's front matter, ready to render."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from tenantry_site.reference.json_ref import JsonRef
from tenantry_site.reference.schemas import ABSENT, ANY, Shape

In = Literal["path", "query", "header", "cookie"]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation's identity; a Reader's ``detail`` reads the rest when the page is rendered.

    ``method``: in capitals (``WEBHOOK`` for a webhook); ``path``: as in the document, or the webhook's name;
    ``file``: the document's path within the site.
    """

    method: str
    path: str
    file: str
    ref: JsonRef = field(repr=False, compare=False)
    around: JsonRef = field(repr=False, compare=False)
    """The path item, whose parameters and servers hold for all of its operations."""

    @property
    def title(self) -> str:
        """The summary, else the id, else method and path."""
        named = self.ref.text("summary").strip() or self.around.text("summary").strip()
        return named or self.ref.text("operationId") or f"{self.method} {self.path}"

    @property
    def description(self) -> str:
        """Untrusted Markdown."""
        return self.ref.text("description") or self.around.text("description")

    @property
    def tags(self) -> tuple[str, ...]:
        """The names of its groups."""
        return tuple(tag.value for tag in self.ref.items("tags") if isinstance(tag.value, str))

    @property
    def is_webhook(self) -> bool:
        """Whether the API itself sends this request, so that readers cannot."""
        return self.method == "WEBHOOK"

    @property
    def spec(self) -> str:
        """The ``openapi`` value of a page that names this operation."""
        method = "webhook" if self.is_webhook else self.method
        return f"{self.file} {method} {self.path}"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A request value outside the body, or a response header.

    ``style`` and ``explode``: as in OpenAPI. ``example``: from the document only. ``json``: the value is written as
    JSON.
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
    """A body in one content type. ``form``: its input fields."""

    type: str
    form: Form
    shape: Shape
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True, slots=True)
class Body:
    """A request body, in the accepted content types."""

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
    """A part of a server's address that the reader chooses."""

    name: str
    default: str
    enum: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class Server:
    """An API server. ``url``: absolute, or a path on the docs' host; no trailing slash."""

    url: str
    description: str = ""
    variables: tuple[Variable, ...] = ()

    @property
    def filled(self) -> str:
        """The address with the variables' defaults."""
        url = self.url
        for variable in self.variables:
            url = url.replace(f"{{{variable.name}}}", variable.default)
        return url


@dataclass(frozen=True, slots=True)
class Credential:
    """One credential.

    ``prefix`` is sent before the input. For ``basic``, ``labels`` names both fields; otherwise there is one field.
    """

    kind: Literal["bearer", "basic", "key"]
    location: In = "header"
    name: str = "Authorization"
    labels: tuple[str, ...] = ("Token",)
    prefix: str = ""
    description: str = ""

    @property
    def words(self) -> str:
        """A description as text."""
        if self.kind == "basic":
            return "User name and password"
        where = {"header": "header", "query": "query parameter", "cookie": "cookie"}.get(self.location, "header")
        kind = "Bearer token in the" if self.kind == "bearer" else "Key in the"
        return f"{kind} {where} {self.name}"


Authorization = tuple[tuple[Credential, ...], ...]
"""The ways to sign in, of which one is enough; each needs all of its credentials, and one may need none."""


@dataclass(frozen=True, slots=True)
class Callback:
    """A request that the API sends: its name and target."""

    name: str
    expression: str
    operation: Operation


@dataclass(frozen=True, slots=True)
class Endpoint:
    """All data of an operation's page.

    ``documented``: the page lists the parameters itself. ``path_methods``: methods of the same path. ``known``: it is
    in a document, not only on an ``api`` page.
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
        """The names of the headers that its request may carry: of parameters and credentials."""
        signing = (one.name for way in self.authorization for one in way if one.location == "header")
        return frozenset((*signing, *(one.name for one in self.parameters if one.location == "header")))
