"""SiteConfig: the site configuration file, typed (SPEC 2.2).

Attributes are the file's fields in snake case (``topbar_links``); ``model_dump(by_alias=True)`` writes them in the
file's camel case. A model from the reader has no invalid value: where the file has one, the reader reports an error and
keeps the default. Validators and JSON Schemas are generated from this model. A ``StringKind`` says what a string means.
``shorthand``: the fields that are set if the file has a string instead of the object.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from tenantry_site.config.string_kinds import StringKind

IconType = Literal[
    "brands", "duotone", "light", "sharp-solid", "solid", "thin",
    "regular", "sharp-duotone-solid", "sharp-light", "sharp-regular", "sharp-thin",
]  # fmt: skip
"""The six styles of SPEC 2.2, then newer ones that real files use."""

Plain = Annotated[str, StringKind.PLAIN]
Label = Annotated[str, StringKind.LABEL]
Link = Annotated[str, StringKind.LINK]
Prefix = Annotated[str, StringKind.PREFIX]
Image = Annotated[str, StringKind.IMAGE]
Hex = Annotated[str, StringKind.COLOR]
Icon = Annotated[str, StringKind.ICON]
VersionName = Annotated[str, StringKind.VERSION]

PRIMARY = "#2f5bd8"
"""The accent colour of a site without ``colors.primary``; the same as ``--accent`` in tokens.css."""


class _Model(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, alias_generator=to_camel, populate_by_name=True, extra="forbid"
    )
    shorthand: ClassVar[tuple[str, ...]] = ()


class Group(_Model):
    """A group of pages in the sidebar."""

    group: Annotated[str, StringKind.TITLE] = Field(description="Heading of the group; if empty, no heading is shown.")
    pages: tuple[Annotated[str, StringKind.PAGE] | Group, ...] = Field(
        description="Pages, each by its path without a suffix, and nested groups."
    )
    icon: Icon | None = Field(default=None, description="Name of the icon before the heading.")
    icon_type: IconType | None = Field(default=None, description="Style of the icon.")
    version: VersionName | None = Field(
        default=None, description="Show the group only in this version of the docs, one of the names in versions."
    )


class Logo(_Model):
    """The logo. If the file has a path instead of the object, it is the logo for both modes."""

    shorthand: ClassVar[tuple[str, ...]] = ("light", "dark")
    light: Image | None = Field(default=None, description="Path of the logo for light mode.")
    dark: Image | None = Field(default=None, description="Path of the logo for dark mode.")
    href: Link = Field(default="/", description="Page or address that the logo links to.")


class Gradient(_Model):
    """A gradient of two or three hex colours.

    ``via`` is not in SPEC 2.2, but real files have it.
    """

    from_: Hex = Field(alias="from", description="First colour of the gradient.")
    via: Hex | None = Field(default=None, description="Middle colour of the gradient.")
    to: Hex = Field(description="Last colour of the gradient.")


class Background(_Model):
    """The page's background colours in light and dark mode.

    SPEC 2.2 requires both colours. A file with only one gets a warning, not an error, because many real files have only
    one.
    """

    light: Hex | None = Field(default=None, description="Background colour of the page in light mode.")
    dark: Hex | None = Field(default=None, description="Background colour of the page in dark mode.")


class Colors(_Model):
    """The colours of the site, in hexadecimal."""

    primary: Hex = Field(default=PRIMARY, description="Main colour in light mode.")
    light: Hex | None = Field(default=None, description="Main colour in dark mode.")
    dark: Hex | None = Field(default=None, description="Colour of important buttons.")
    background: Background | None = Field(
        default=None, description="Background colours of the page in light and dark mode."
    )
    anchors: Hex | Gradient | None = Field(
        default=None, description="Background of the icons of all anchors: a colour or a gradient."
    )


class TopbarLink(_Model):
    """A link in the top bar."""

    name: Label = Field(description="Text of the link.")
    url: Link = Field(description="Page or address that the link leads to.")


class CallToAction(_Model):
    """The call to action in the top bar: a button, or a link to a code repository."""

    type: Literal["link", "github"] = Field(
        default="link", description='"link": a button; "github": a link to the repository at url, with its facts.'
    )
    url: Link = Field(description="Page or address that the button leads to, or the address of the repository.")
    name: Label | None = Field(default=None, description='Text of the button; required for the type "link".')


class Version(_Model):
    """A version of the docs. If the file has a string instead of the object, it is the version's name."""

    shorthand: ClassVar[tuple[str, ...]] = ("name",)
    name: Annotated[str, StringKind.NEW_VERSION] = Field(description="Name of the version.")
    url: Link | None = Field(default=None, description="Address of the version, if it is on another site.")


class Anchor(_Model):
    """An anchor above the sidebar: a section of the site, or a link to another site.

    ``openapi`` is not in SPEC 2.2, but real files have it.
    """

    icon: Icon | None = Field(default=None, description="Name of the icon of the anchor.")
    name: Label = Field(description="Text of the anchor.")
    url: Prefix = Field(
        description="Path prefix of the pages in the section, usually their folder; or the address of another site."
    )
    color: Hex | Gradient | None = Field(
        default=None, description="Background of the icon: a colour or a gradient; default: colors.anchors."
    )
    version: VersionName | None = Field(
        default=None, description="Show the anchor only in this version of the docs, one of the names in versions."
    )
    is_default_hidden: bool = Field(default=False, description="Show the anchor only on the pages of its section.")
    icon_type: IconType = Field(default="duotone", description="Style of the icon.")
    openapi: tuple[Annotated[str, StringKind.OPENAPI], ...] = Field(
        default=(),
        description="OpenAPI file, or list of them, for the pages of the section.",
        json_schema_extra={"single": True},
    )


class TopAnchor(_Model):
    """The first anchor. It leads to the pages that belong to no other anchor."""

    name: Label = Field(default="Documentation", description="Text of the anchor.")
    icon: Icon = Field(default="book-open", description="Name of the icon of the anchor.")
    icon_type: IconType = Field(default="duotone", description="Style of the icon.")


class Tab(_Model):
    """A tab: a section of the site with its own sidebar, or a link to another site.

    ``openapi`` is not in SPEC 2.2, but real files have it.
    """

    name: Label = Field(description="Text of the tab.")
    url: Prefix = Field(
        description="Path prefix of the pages in the tab, usually their folder; or the address of another site."
    )
    openapi: tuple[Annotated[str, StringKind.OPENAPI], ...] = Field(
        default=(),
        description="OpenAPI file, or list of them, for the pages of the tab.",
        json_schema_extra={"single": True},
    )


class ApiAuth(_Model):
    """How the playground authenticates its requests."""

    method: Literal["bearer", "basic", "key"] | None = Field(
        default=None, description="Authentication method of all endpoints."
    )
    name: Annotated[str, StringKind.PAIR] | None = Field(
        default=None,
        description='Name of the parameter for the credential; for the method "basic", two names: user:password.',
    )
    input_prefix: Plain | None = Field(
        default=None,
        description="Text that the playground shows before the credential field and sends before its value.",
    )


class ApiPlayground(_Model):
    """The playground of an API page, which sends requests."""

    mode: Literal["show", "simple", "hide"] = Field(
        default="show",
        description='"show": a form that sends requests; "simple": the full address; "hide": only method and path.',
    )


class Api(_Model):
    """Settings of the API pages."""

    base_url: tuple[Annotated[str, StringKind.BASE], ...] = Field(
        default=(),
        description="Base URL of the API, or a list of URLs from which the reader chooses.",
        json_schema_extra={"single": True},
    )
    auth: ApiAuth = Field(default=ApiAuth(), description="How the playground authenticates its requests.")
    playground: ApiPlayground = Field(
        default=ApiPlayground(), description="The playground, which sends requests from an API page."
    )
    maintain_order: bool = Field(
        default=False,
        description="Show parameters and fields in the order of the OpenAPI file, not required ones first.",
    )


class Feedback(_Model):
    """The feedback buttons."""

    suggest_edit: bool = Field(default=False, description="Show a button to suggest an edit of the page.")
    raise_issue: bool = Field(default=False, description="Show a button to raise an issue about the page.")


class ModeToggle(_Model):
    """The toggle between light and dark mode."""

    default: Literal["light", "dark"] | None = Field(
        default=None, description="Mode for new readers. If absent, the mode of their system."
    )
    is_hidden: bool = Field(
        default=False, description="Hide the toggle. If default is set too, all readers see that mode."
    )


class Redirect(_Model):
    """A redirect from an old path."""

    source: Annotated[str, StringKind.SOURCE] = Field(description="The old path.")
    destination: Link = Field(description="Path or address that replaces the old path.")


class PrimaryTab(_Model):
    """The first tab. It holds the pages that belong to no other tab."""

    name: Label = Field(description="Text of the tab.")


class NamedDocument(NamedTuple):
    """A reference to an OpenAPI file.

    ``written``: the path or address in the configuration file. ``url``: the ``url`` of the tab or anchor that names the
    file; None for the top-level field. ``pointer``: JSON pointer of the field.
    """

    written: str
    url: str | None
    pointer: str


class SiteConfig(_Model):
    """The configuration of a docs site."""

    name: Label = Field(description="Name of the project.")
    navigation: tuple[Group, ...] = Field(description="The groups of pages, in the order of the sidebar.")
    logo: Logo | None = Field(
        default=None, description="Path of the logo, or an object with one for light and one for dark mode."
    )
    favicon: Annotated[str, StringKind.FAVICON] | None = Field(default=None, description="Path of the favicon.")
    colors: Colors | None = Field(default=None, description="Colours of the site.")
    topbar_links: tuple[TopbarLink, ...] = Field(default=(), description="Links in the top bar.")
    topbar_cta_button: CallToAction | None = Field(default=None, description="Call to action in the top bar.")
    versions: tuple[Version, ...] = Field(
        default=(), description="Versions of the docs, in the order of the version menu."
    )
    anchors: tuple[Anchor, ...] = Field(
        default=(), description="Anchors above the sidebar: sections of the site, or links to other sites."
    )
    top_anchor: TopAnchor = Field(
        default=TopAnchor(), description="The first anchor, for the pages that belong to no other anchor."
    )
    tabs: tuple[Tab, ...] = Field(default=(), description="Tabs: sections of the site, or links to other sites.")
    primary_tab: PrimaryTab | None = Field(
        default=None, description="The first tab, for the pages that belong to no other tab."
    )
    api: Api = Field(default=Api(), description="Settings of the API pages.")
    openapi: tuple[Annotated[str, StringKind.OPENAPI], ...] = Field(
        default=(),
        description="Path or address of an OpenAPI file, or a list of them.",
        json_schema_extra={"single": True},
    )
    footer_socials: dict[str, Annotated[str, StringKind.ACCOUNT]] = Field(
        default={}, description="Accounts to link in the footer: the platform's name, and the address of the account."
    )
    feedback: Feedback = Field(default=Feedback(), description="Feedback buttons on every page.")
    mode_toggle: ModeToggle = Field(default=ModeToggle(), description="The toggle between light and dark mode.")
    background_image: Image | None = Field(default=None, description="Path of a background image for every page.")
    redirects: tuple[Redirect, ...] = Field(default=(), description="Redirects from old paths to new ones.")

    @property
    def documents(self) -> tuple[NamedDocument, ...]:
        """All references to OpenAPI files: in the top-level field, then in tabs, then in anchors."""
        parts: list[tuple[str, tuple[str, ...], str | None]] = [("/openapi", self.openapi, None)]
        parts += [(f"/tabs/{at}/openapi", tab.openapi, tab.url) for at, tab in enumerate(self.tabs)]
        parts += [(f"/anchors/{at}/openapi", anchor.openapi, anchor.url) for at, anchor in enumerate(self.anchors)]
        return tuple(NamedDocument(written, url, pointer) for pointer, files, url in parts for written in files)
