"""SiteConfig: the site configuration file, typed (SPEC 2.2).

Attributes are the file's fields in Python's spelling (``topbar_links``); ``model_dump(by_alias=True)`` gives the
file's own. A model never holds a value that the file was wrong about: the reader says so and leaves the default.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

IconType = Literal[
    "brands", "duotone", "light", "sharp-solid", "solid", "thin",
    "regular", "sharp-duotone-solid", "sharp-light", "sharp-regular", "sharp-thin",
]  # fmt: skip
"""The six of SPEC 2.2 and the newer ones that real files use."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True, extra="forbid")


class Group(_Part):
    """A group of the navigation. ``pages`` are paths as they were written, and groups within the group."""

    group: str
    pages: tuple[str | Group, ...]
    icon: str | None = None
    icon_type: IconType | None = None
    version: str | None = None


class Logo(_Part):
    """The logo of each mode: a single path in the file stands for both."""

    light: str | None = None
    dark: str | None = None
    href: str = "/"


class Gradient(_Part):
    """Two or three hex colours. SPEC has ``from`` and ``to``; ``via`` is a field of real files."""

    from_: str = Field(alias="from")
    via: str | None = None
    to: str


class Background(_Part):
    """The page's ground in each mode; SPEC requires both, and real files often give one."""

    light: str | None = None
    dark: str | None = None


class Colors(_Part):
    """Hex colours: ``primary`` in light mode, ``light`` in dark mode, ``dark`` for important buttons."""

    primary: str
    light: str | None = None
    dark: str | None = None
    background: Background | None = None
    anchors: str | Gradient | None = None


class TopbarLink(_Part):
    """A link of the top bar."""

    name: str
    url: str


class CallToAction(_Part):
    """The call to action of the top bar. ``github`` is the code-host value."""

    type: Literal["link", "github"] = "link"
    url: str
    name: str | None = None


class Version(_Part):
    """A version of the docs: a name, and an address where it lives elsewhere."""

    name: str
    url: str | None = None


class Anchor(_Part):
    """An anchor: a part of the site by the beginning of its pages' paths, or a link to elsewhere."""

    icon: str | None = None
    name: str
    url: str
    color: str | Gradient | None = None
    version: str | None = None
    is_default_hidden: bool = False
    icon_type: IconType = "duotone"


class TopAnchor(_Part):
    """The home anchor: the pages that are in no other."""

    name: str = "Documentation"
    icon: str = "book-open"
    icon_type: IconType = "duotone"


class Tab(_Part):
    """A tab: a part of the site by the beginning of its pages' paths, or a link to elsewhere."""

    name: str
    url: str


class ApiAuth(_Part):
    """How the playground signs in. For basic, ``name`` is ``usernameName:passwordName``."""

    method: Literal["bearer", "basic", "key"] | None = None
    name: str | None = None
    input_prefix: str | None = None


class ApiPlayground(_Part):
    """``show`` it, ``hide`` it, or ``simple``: the endpoint alone."""

    mode: Literal["show", "simple", "hide"] = "show"


class Api(_Part):
    """Settings of the API pages. Several base URLs are for the reader to choose from."""

    base_url: tuple[str, ...] = ()
    auth: ApiAuth = ApiAuth()
    playground: ApiPlayground = ApiPlayground()
    maintain_order: bool = False


class Feedback(_Part):
    """The feedback buttons."""

    suggest_edit: bool = False
    raise_issue: bool = False


class ModeToggle(_Part):
    """The dark mode toggle. Unset, the mode follows the reader's system."""

    default: Literal["light", "dark"] | None = None
    is_hidden: bool = False


class Redirect(_Part):
    """An old path and where it leads now."""

    source: str
    destination: str


class PrimaryTab(_Part):
    """The label of the first tab, which holds what no other tab does."""

    name: str


class SiteConfig(_Part):
    """The site configuration file."""

    name: str
    navigation: tuple[Group, ...]
    logo: Logo | None = None
    favicon: str | None = None
    colors: Colors | None = None
    topbar_links: tuple[TopbarLink, ...] = ()
    topbar_cta_button: CallToAction | None = None
    versions: tuple[Version, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    top_anchor: TopAnchor = TopAnchor()
    tabs: tuple[Tab, ...] = ()
    primary_tab: PrimaryTab | None = None
    api: Api = Api()
    openapi: tuple[str, ...] = ()
    footer_socials: dict[str, str] = {}
    feedback: Feedback = Feedback()
    mode_toggle: ModeToggle = ModeToggle()
    background_image: str | None = None
    redirects: tuple[Redirect, ...] = ()
