"""Finds the SVG of an icon by the name that an author wrote.

The free set has the solid style and, for some icons, the regular style; CSS classes (``components.css``) imitate the
other styles. The bundle file is read in parts: its 90 KB index once, then a few hundred bytes for each icon.
``hatch_build.py`` writes the bundle; in a clone without it, no icon is found.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple, get_args

from tenantry_site import suggestions
from tenantry_site.config.model import IconType
from tenantry_site.icons.synonyms import NAMES
from tenantry_site.templating import render_template

KINDS: tuple[str, ...] = get_args(IconType)
"""The eleven icon types of the configuration file."""

_DEFAULT = "duotone"
_SIDE = 640
"""Side of the square in which each icon is centred, so that icons in a column are aligned."""
_HEIGHT = 512


@lru_cache(maxsize=2048)
def svg(name: str, kind: str = _DEFAULT) -> str | None:
    """The icon as an SVG element, safe to write into a page; None for an unknown name.

    ``kind``: one of ``KINDS``; any other value means ``duotone``. The icon has the size and colour of the text around
    it. Assistive technology ignores it, so always write words next to it.
    """
    icon = resolve(name)
    found = outlines(icon) if icon else {}
    if not found:
        return None
    classes, outline = _choose(found, kind if kind in KINDS else _DEFAULT)
    left, top = (outline.width - _SIDE) // 2, (_HEIGHT - _SIDE) // 2
    view_box = f"{left} {top} {_SIDE} {_SIDE}"
    return str(render_template("components/svg", classes=classes, view_box=view_box, path=outline.path))


def _choose(available: dict[str, GlyphOutline], kind: str) -> tuple[str, GlyphOutline]:
    """The CSS classes and the outline for an icon type. Brand marks are always shown unchanged; the regular types use
    the icon's regular outline if it has one (``icon-drawn``)."""
    if "brands" in available and (kind == "brands" or "solid" not in available):
        return "icon-brands", available["brands"]
    if kind.endswith("regular") and "regular" in available:
        return f"icon-{kind} icon-drawn", available["regular"]
    return f"icon-{'solid' if kind == 'brands' else kind}", available["solid"]


_LONGEST = 60
_SHORTEST_SIMILAR = 3

_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BETWEEN = re.compile(r"[^a-z0-9]+")
_PREFIX = re.compile(r"^(?:fa|fas|far|fab|fad|fal|fat|lucide|lu)-(?=.)")
_NUMBER = re.compile(r"-?\d+$")
_STYLES = frozenset(
    {"fa", "fas", "far", "fab", "fad", "fal", "fat"}
    | {f"fa-{style}" for style in ("solid", "regular", "brands", "duotone", "light", "thin", "sharp")}
)


def normalize_name(name: str) -> str:
    """The name in lower case with single hyphens: ``faBookOpen``, ``fa-solid fa-book-open``, ``lucide:book-open`` and
    ``book_open`` give ``book-open``. Empty for text that is not an icon name, such as an image path.
    """
    if len(name) > _LONGEST or "/" in name:
        return ""
    words = [word for word in name.split() if word not in _STYLES] or name.split()
    if not words:
        return ""
    bare = "-".join(words).rpartition(":")[2]
    return _PREFIX.sub("", _BETWEEN.sub("-", _HUMPS.sub("-", bare).lower()).strip("-"))


def _exact(name: str) -> str | None:
    for candidate in (name, _NUMBER.sub("", name)):
        found = bundled_name(candidate) or NAMES.get(candidate)
        if found:
            return found
    return None


def resolve(name: str) -> str | None:
    """The bundled icon for a name that an author wrote, or None.

    If no icon has that name (it may be in the paid set), more general names are tried: first without the last words,
    then without the first words (``chart-line-up`` -> ``chart-line``).
    """
    wanted = normalize_name(name)
    found = _exact(wanted) if wanted else None
    if found:
        return found
    words = wanted.split("-")
    shorter = ["-".join(words[:end]) for end in range(len(words) - 1, 0, -1)]
    shorter += ["-".join(words[start:]) for start in range(1, len(words))]
    return next((similar for each in shorter if len(each) >= _SHORTEST_SIMILAR and (similar := _exact(each))), None)


@lru_cache(maxsize=256)
def nearest(name: str) -> str | None:
    """The most similar bundled name, for a suggestion in a message; None if none is similar enough."""
    return suggestions.nearest(normalize_name(name), bundled_names())


BUNDLE = files("tenantry_site") / "static" / "bundles" / "icons.txt"


class GlyphOutline(NamedTuple):
    """An icon's outline. ``path``: the ``d`` attribute of an SVG path, in a box ``width`` wide and 512 high."""

    width: int
    path: str


class _Index(NamedTuple):
    """The index of the bundle. ``lines``: one for each name; ``start``: file offset of the outlines."""

    lines: bytes
    start: int


@lru_cache(maxsize=1)
def read_index() -> _Index:
    """The index of the bundle, read once; empty if there is no bundle file."""
    try:
        with BUNDLE.open("rb") as file:
            head = file.readline()
            lines = file.read(int(head.split()[2]))
            return _Index(b"\n" + lines, len(head) + len(lines))
    except FileNotFoundError:
        return _Index(b"\n", 0)


def bundled_names() -> list[str]:
    return sorted(line.split(b" ", 1)[0].decode("ascii") for line in read_index().lines.split(b"\n") if line)


def bundled_name(name: str) -> str | None:
    """The current name of an icon, given that name or an alias; None for an unknown name."""
    entry = _entry(name)
    return entry[1:] if entry.startswith("=") else (name if entry else None)


def outlines(name: str) -> dict[str, GlyphOutline]:
    """The outlines of an icon by style (solid, regular, brands); empty for an unknown name."""
    entry = _entry(name)
    if not entry or entry.startswith("="):
        return {}
    found = {}
    with BUNDLE.open("rb") as file:
        for glyph in entry.split(" "):
            style, offset, size, width = glyph.split(":")
            file.seek(read_index().start + int(offset))
            found[style] = GlyphOutline(int(width), file.read(int(size)).decode("ascii"))
    return found


def _entry(name: str) -> str:
    key = b"\n%s " % name.encode("ascii", "replace")
    lines = read_index().lines
    at = lines.find(key)
    if at < 0:
        return ""
    return lines[at + len(key) : lines.index(b"\n", at + 1)].decode("ascii")


class Social(NamedTuple):
    """How the link to a social account is shown. ``icon``, ``kind``: arguments of ``svg``. ``label``: the link's
    accessible name."""

    icon: str
    kind: str
    label: str


def _brand(icon: str, label: str) -> Social:
    return Social(icon, "brands", label)


SOCIALS: Mapping[str, Social] = MappingProxyType(
    {
        # the nine platforms of SPEC 2.2
        "website": Social("globe", "solid", "Website"),
        "facebook": _brand("facebook", "Facebook"),
        "twitter": _brand("twitter", "Twitter"),
        "discord": _brand("discord", "Discord"),
        "slack": _brand("slack", "Slack"),
        "github": _brand("github", "GitHub"),
        "linkedin": _brand("linkedin", "LinkedIn"),
        "instagram": _brand("instagram", "Instagram"),
        "hacker-news": _brand("hacker-news", "Hacker News"),
        # platforms that are not in SPEC 2.2 but occur in real files
        "x": _brand("x-twitter", "X"),
        "x-twitter": _brand("x-twitter", "X"),
        "youtube": _brand("youtube", "YouTube"),
        "telegram": _brand("telegram", "Telegram"),
        "medium": _brand("medium", "Medium"),
        "bluesky": _brand("bluesky", "Bluesky"),
        "threads": _brand("threads", "Threads"),
        "reddit": _brand("reddit", "Reddit"),
        "mastodon": _brand("mastodon", "Mastodon"),
        "gitlab": _brand("gitlab", "GitLab"),
        "tiktok": _brand("tiktok", "TikTok"),
        "twitch": _brand("twitch", "Twitch"),
        "whatsapp": _brand("whatsapp", "WhatsApp"),
        "stack-overflow": _brand("stack-overflow", "Stack Overflow"),
        "product-hunt": _brand("product-hunt", "Product Hunt"),
        "dev": _brand("dev", "DEV"),
        "npm": _brand("npm", "npm"),
        "docker": _brand("docker", "Docker"),
        "podcast": Social("podcast", "solid", "Podcast"),
        "earth-americas": Social("earth-americas", "solid", "Website"),
        "rss": Social("rss", "solid", "RSS feed"),
        "email": Social("envelope", "solid", "E-mail"),
        "blog": Social("blog", "solid", "Blog"),
    }
)
"""Key of ``footerSocials`` -> how its link is shown. Other keys are shown with a globe and the key as the label."""
