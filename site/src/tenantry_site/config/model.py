"""SiteConfig: the site configuration file, typed (SPEC 2.2).

Attributes are the file's fields in Python's spelling (``topbar_links``); ``model_dump(by_alias=True)`` gives the file's
own. A model that was read never holds a value that the file was wrong about: the reader reports it and leaves the
default. The reader and the JSON Schemas are made from this model: the kinds say what a string means, ``shorthand``
names the fields that a single string stands for.
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
"""The six of SPEC 2.2 and the newer ones that real files use."""

Plain = Annotated[str, StringKind.PLAIN]
Label = Annotated[str, StringKind.LABEL]
Link = Annotated[str, StringKind.LINK]
Prefix = Annotated[str, StringKind.PREFIX]
Image = Annotated[str, StringKind.IMAGE]
Hex = Annotated[str, StringKind.COLOR]
Icon = Annotated[str, StringKind.ICON]
VersionName = Annotated[str, StringKind.VERSION]

PRIMARY = "#2f5bd8"
"""The accent of a site that names none (``--accent`` of tokens.css)."""


class _Model(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, alias_generator=to_camel, populate_by_name=True, extra="forbid"
    )
    shorthand: ClassVar[tuple[str, ...]] = ()


class Group(_Model):
    """A group of the navigation. ``pages`` are paths as they were written, and groups within the group."""

    group: Annotated[str, StringKind.TITLE] = Field(description="Name of the group; empty: no heading.")
    pages: tuple[Annotated[str, StringKind.PAGE] | Group, ...] = Field(
        description="Paths of pages, without a suffix, and groups within the group."
    )
    icon: Icon | None = Field(default=None, description="Name of an icon.")
    icon_type: IconType | None = Field(default=None, description="Style of the icon.")
    version: VersionName | None = Field(default=None, description="The version of the docs that the group belongs to.")


class Logo(_Model):
    """The logo of each mode: a single path in the file stands for both."""

    shorthand: ClassVar[tuple[str, ...]] = ("light", "dark")
    light: Image | None = Field(default=None, description="Path of the logo in light mode.")
    dark: Image | None = Field(default=None, description="Path of the logo in dark mode.")
    href: Link = Field(default="/", description="Where a click on the logo leads.")


class Gradient(_Model):
    """Two or three hex colours. SPEC has ``from`` and ``to``; ``via`` is a field of real files."""

    from_: Hex = Field(alias="from", description="Colour at the beginning.")
    via: Hex | None = Field(default=None, description="Colour in the middle.")
    to: Hex = Field(description="Colour at the end.")


class Background(_Model):
    """The page's ground in each mode; SPEC requires both, and real files often give one."""

    light: Hex | None = Field(default=None, description="Ground in light mode.")
    dark: Hex | None = Field(default=None, description="Ground in dark mode.")


class Colors(_Model):
    """Hex colours: ``primary`` in light mode, ``light`` in dark mode, ``dark`` for important buttons."""

    primary: Hex = Field(default=PRIMARY, description="Main colour in light mode.")
    light: Hex | None = Field(default=None, description="Main colour in dark mode.")
    dark: Hex | None = Field(default=None, description="Colour of important buttons.")
    background: Background | None = Field(default=None, description="Ground of the page in both modes.")
    anchors: Hex | Gradient | None = Field(default=None, description="Ground of the icons of all anchors.")


class TopbarLink(_Model):
    """A link of the top bar."""

    name: Label = Field(description="Text of the link.")
    url: Link = Field(description="Where it leads.")


class CallToAction(_Model):
    """The call to action of the top bar. ``github`` is the code-host value."""

    type: Literal["link", "github"] = Field(default="link", description="A button, or facts of the repository at url.")
    url: Link = Field(description="Where the button leads, or the repository.")
    name: Label | None = Field(default=None, description="Text of the button; required for the type link.")


class Version(_Model):
    """A version of the docs: a name, and an address where it lives elsewhere."""

    shorthand: ClassVar[tuple[str, ...]] = ("name",)
    name: Annotated[str, StringKind.NEW_VERSION] = Field(description="Name of the version.")
    url: Link | None = Field(default=None, description="Where the version lives, if it is another site.")


class Anchor(_Model):
    """An anchor: a part of the site by the beginning of its pages' paths, or a link to elsewhere.

    ``openapi`` is a field of real files that SPEC does not have.
    """

    icon: Icon | None = Field(default=None, description="Name of an icon.")
    name: Label = Field(description="Text of the anchor.")
    url: Prefix = Field(description="Beginning of the paths of its pages, generally a folder; or an address.")
    color: Hex | Gradient | None = Field(default=None, description="Ground of the icon: a colour, or a gradient.")
    version: VersionName | None = Field(default=None, description="The version in which alone the anchor is shown.")
    is_default_hidden: bool = Field(default=False, description="Shown only on the pages inside it.")
    icon_type: IconType = Field(default="duotone", description="Style of the icon.")
    openapi: tuple[Annotated[str, StringKind.OPENAPI], ...] = Field(
        default=(), description="OpenAPI files of its pages.", json_schema_extra={"single": True}
    )


class TopAnchor(_Model):
    """The home anchor: the pages that are in no other."""

    name: Label = Field(default="Documentation", description="Text of the anchor.")
    icon: Icon = Field(default="book-open", description="Name of an icon.")
    icon_type: IconType = Field(default="duotone", description="Style of the icon.")


class Tab(_Model):
    """A tab: a part of the site by the beginning of its pages' paths, or a link to elsewhere.

    ``openapi`` is a field of real files that SPEC does not have.
    """

    name: Label = Field(description="Text of the tab.")
    url: Prefix = Field(description="Beginning of the paths of its pages, generally a folder; or an address.")
    openapi: tuple[Annotated[str, StringKind.OPENAPI], ...] = Field(
        default=(), description="OpenAPI files of its pages.", json_schema_extra={"single": True}
    )


class ApiAuth(_Model):
    """How the playground signs in. For basic, ``name`` is ``usernameName:passwordName``."""

    method: Literal["bearer", "basic", "key"] | None = Field(
        default=None, description="How all endpoints authenticate."
    )
    name: Annotated[str, StringKind.PAIR] | None = Field(
        default=None, description="Name of the parameter; for basic, usernameName:passwordName."
    )
    input_prefix: Plain | None = Field(default=None, description="What stands in the field before the reader writes.")


class ApiPlayground(_Model):
    """``show`` it, ``hide`` it, or ``simple``: the endpoint alone."""

    mode: Literal["show", "simple", "hide"] = Field(
        default="show", description="Whole playground, endpoint alone, or none."
    )


class Api(_Model):
    """Settings of the API pages. Several base URLs are for the reader to choose from."""

    base_url: tuple[Annotated[str, StringKind.BASE], ...] = Field(
        default=(), description="Address of the API, or several to choose from.", json_schema_extra={"single": True}
    )
    auth: ApiAuth = Field(default=ApiAuth(), description="How the playground signs in.")
    playground: ApiPlayground = Field(default=ApiPlayground(), description="The playground of API pages.")
    maintain_order: bool = Field(default=False, description="Keys in the order of the OpenAPI file.")


class Feedback(_Model):
    """The feedback buttons."""

    suggest_edit: bool = Field(default=False, description="A button to suggest an edit of the page.")
    raise_issue: bool = Field(default=False, description="A button to raise an issue about the page.")


class ModeToggle(_Model):
    """The dark mode toggle. Unset, the mode follows the reader's system."""

    default: Literal["light", "dark"] | None = Field(
        default=None, description="Mode of new readers; unset: their system's."
    )
    is_hidden: bool = Field(default=False, description="No toggle; with default, this mode alone.")


class Redirect(_Model):
    """An old path and where it leads now."""

    source: Annotated[str, StringKind.SOURCE] = Field(description="Path that was.")
    destination: Link = Field(description="Path or address that is.")


class PrimaryTab(_Model):
    """The label of the first tab, which holds what no other tab does."""

    name: Label = Field(description="Text of the tab.")


class NamedDocument(NamedTuple):
    """An OpenAPI file as it is named: ``url`` is that of the tab or anchor that names it, ``pointer`` where it does."""

    written: str
    url: str | None
    pointer: str


class SiteConfig(_Model):
    """The site configuration file."""

    name: Label = Field(description="Name of the project.")
    navigation: tuple[Group, ...] = Field(description="Groups with their pages.")
    logo: Logo | None = Field(default=None, description="Path of the logo, or one for each mode.")
    favicon: Annotated[str, StringKind.FAVICON] | None = Field(default=None, description="Path of the favicon.")
    colors: Colors | None = Field(default=None, description="Colours of the site.")
    topbar_links: tuple[TopbarLink, ...] = Field(default=(), description="Links of the top bar.")
    topbar_cta_button: CallToAction | None = Field(default=None, description="Call to action of the top bar.")
    versions: tuple[Version, ...] = Field(default=(), description="Versions of the docs, for a menu.")
    anchors: tuple[Anchor, ...] = Field(default=(), description="Parts of the site, and links to elsewhere.")
    top_anchor: TopAnchor = Field(default=TopAnchor(), description="The anchor of what is in no other.")
    tabs: tuple[Tab, ...] = Field(default=(), description="Parts of the site, as tabs.")
    primary_tab: PrimaryTab | None = Field(default=None, description="The tab of what is in no other.")
    api: Api = Field(default=Api(), description="Settings of the API pages.")
    openapi: tuple[Annotated[str, StringKind.OPENAPI], ...] = Field(
        default=(), description="Path or address of an OpenAPI file, or of several.", json_schema_extra={"single": True}
    )
    footer_socials: dict[str, Annotated[str, StringKind.ACCOUNT]] = Field(
        default={}, description="Platform to address of the account."
    )
    feedback: Feedback = Field(default=Feedback(), description="Buttons for feedback.")
    mode_toggle: ModeToggle = Field(default=ModeToggle(), description="The toggle of the dark mode.")
    background_image: Image | None = Field(default=None, description="Path of an image behind every page.")
    redirects: tuple[Redirect, ...] = Field(default=(), description="Old paths and where they lead.")

    @property
    def documents(self) -> tuple[NamedDocument, ...]:
        """The OpenAPI files that the file names: its own, then those of tabs and of anchors."""
        parts: list[tuple[str, tuple[str, ...], str | None]] = [("/openapi", self.openapi, None)]
        parts += [(f"/tabs/{at}/openapi", tab.openapi, tab.url) for at, tab in enumerate(self.tabs)]
        parts += [(f"/anchors/{at}/openapi", anchor.openapi, anchor.url) for at, anchor in enumerate(self.anchors)]
        return tuple(NamedDocument(written, url, pointer) for pointer, files, url in parts for written in files)
