"""Reports unknown keys.

An unknown key is looked up among the fields of other generators and of the newer format, then among renamed or
misplaced fields, then among similar spellings. Keys of other generators are reported together, and so are keys of the
newer format.
"""

from __future__ import annotations

from collections.abc import Iterable

from tenantry_site.config.diagnostics import ReadContext
from tenantry_site.config.model import (
    Anchor,
    Api,
    ApiAuth,
    ApiPlayground,
    CallToAction,
    Colors,
    Feedback,
    Group,
    ModeToggle,
    PrimaryTab,
    Redirect,
    SiteConfig,
    Tab,
    TopAnchor,
    TopbarLink,
    Version,
)
from tenantry_site.config.source import JsonObject, JsonPath, quoted
from tenantry_site.suggestions import nearest, normalize

FOREIGN_KEYS: dict[type, dict[str, str]] = {
    SiteConfig: {
        "analytics": "Accounts of analytics services.",
        "background": "Decoration of the page's background.",
        "codeBlock": "Light or dark mode of code blocks.",
        "eyebrow": "Text above a page's title.",
        "font": "Fonts of headings and text.",
        "footer": "Links at the foot of each page.",
        "integrations": "Accounts of other services.",
        "isWhiteLabeled": "Leaves out the maker's name.",
        "layout": "Arrangement of the page.",
        "metadata": "Meta tags of every page.",
        "rounded": "Roundness of corners.",
        "search": "Position and placeholder of the search field.",
        "seo": "Settings for search engines.",
        "sidebar": "Look of the sidebar.",
        "theme": "Name of a theme.",
        "topbar": "Look of the top bar.",
    },
    Colors: {"ultraLight": "A lighter main colour.", "ultraDark": "A darker main colour."},
    TopbarLink: {
        "type": "A plain link, or a link to a repository with its facts.",
        "style": "Look of the link.",
        "arrow": "An arrow after the text.",
        "icon": "Name of an icon.",
        "iconType": "Style of the icon.",
    },
    CallToAction: {"style": "Look of the button.", "arrow": "An arrow after the text."},
    Version: {"default": "The version that is shown first.", "locale": "Language of the version."},
    Anchor: {"tab": "The tab that the anchor is in."},
    Tab: {
        "version": "The version that the tab belongs to.",
        "isDefaultHidden": "Show the tab only on its pages.",
        "icon": "Name of an icon.",
        "iconType": "Style of the icon.",
    },
    PrimaryTab: {"isDefaultHidden": "Show the tab only on its pages."},
    Feedback: {"thumbsRating": "Buttons to rate a page."},
    Api: {"paramFields": "Whether parameters are expanded at first.", "request": "Request examples."},
    ApiPlayground: {"disableProxy": "Whether the browser sends requests directly to the API."},
    Redirect: {"permanent": "Whether the redirect is permanent."},
}
"""Model class -> field of other generators -> its meaning there. These fields have no effect here."""

NEWER_KEYS = frozenset({
    "api-reference", "appearance", "banner", "contextual", "description", "errors", "fonts", "icons", "interaction",
    "navbar", "styling", "thumbnails", "variables",
})  # fmt: skip
"""Top-level keys of the newer format, which has another file name."""

NEWER_NAVIGATION_KEYS = frozenset({
    "anchors", "dropdowns", "global", "groups", "languages", "menu", "pages", "products", "tabs", "versions",
})  # fmt: skip
"""Keys of ``navigation`` in the newer format, where it is an object."""

_LINK = {"title": "name", "label": "name", "text": "name", "href": "url", "link": "url", "path": "url", "to": "url"}
_PAGES = {"items": "pages", "children": "pages", "links": "pages", "routes": "pages"}

RENAMED_KEYS: dict[type, dict[str, str]] = {
    SiteConfig: {
        "logohref": "logo.href",
        "logolight": "logo.light",
        "logodark": "logo.dark",
        "topbarcta": "topbarCtaButton",
        "cta": "topbarCtaButton",
        "ctabutton": "topbarCtaButton",
        "socials": "footerSocials",
        "social": "footerSocials",
        "sociallinks": "footerSocials",
        "baseurl": "api.baseUrl",
        "auth": "api.auth",
        "authentication": "api.auth",
        "playground": "api.playground",
        "openapifile": "openapi",
        "primarycolor": "colors.primary",
        "color": "colors.primary",
        "backgroundcolor": "colors.background",
        "darkmode": "modeToggle",
        "title": "name",
        "sitename": "name",
        "nav": "navigation",
        "pages": "navigation",
        "groups": "navigation",
        "toplinks": "topbarLinks",
        "suggestedit": "feedback.suggestEdit",
        "raiseissue": "feedback.raiseIssue",
        "hidefeedbackbuttons": "feedback, whose buttons are off by default",
    },
    Api: {
        "openapi": "openapi, next to api",
        "hideplayground": 'api.playground.mode with the value "hide"',
        "authentication": "api.auth",
        "authmethod": "api.auth.method",
        "authname": "api.auth.name",
        "inputprefix": "api.auth.inputPrefix",
        "mode": "api.playground.mode",
        "url": "api.baseUrl",
    },
    ApiAuth: {"type": "method", "scheme": "method", "prefix": "inputPrefix", "header": "name"},
    ApiPlayground: {
        "display": 'mode, one of "show", "simple" and "hide"',
        "enabled": 'mode, one of "show", "simple" and "hide"',
        "showrequest": 'mode, one of "show", "simple" and "hide"',
        "hide": 'mode with the value "hide"',
    },
    Group: {"title": "group", "name": "group", "label": "group", **_PAGES, "openapi": "openapi, next to navigation"},
    Anchor: _LINK,
    Tab: _LINK,
    TopbarLink: _LINK,
    CallToAction: {**_LINK, "repo": "url", "repository": "url"},
    TopAnchor: {"title": "name", "label": "name", "url": "url of an anchor in anchors"},
    Version: {"version": "name", "label": "name", "title": "name"},
    Redirect: {"from": "source", "to": "destination", "target": "destination", "old": "source", "new": "destination"},
    ModeToggle: {"hidden": "isHidden", "hide": "isHidden", "mode": "default"},
}
"""Model class -> wrong key (in lower case, without ``-`` and ``_``) -> the right name or place of the field."""


_SHOWN = 12


def report_unknown_keys(
    model: type, known: Iterable[str], value: JsonObject, unknown: list[str], location: JsonPath, context: ReadContext
) -> None:
    """Report the unknown keys of an object, or collect them to be reported together. ``known``: the keys of its
    fields."""
    for key in unknown:
        below = location.child(value, key)
        if model is SiteConfig and key == "$schema":
            continue
        if key in FOREIGN_KEYS.get(model, {}):
            context.foreign_keys.append(below)
            if model is TopbarLink and key in {"icon", "iconType"}:
                context.refused_elsewhere.append(below)
        elif model is SiteConfig and key in NEWER_KEYS:
            context.newer_keys.append(below)
        else:
            _report(model, key, [other for other in known if other not in value], below, context)


def _report(model: type, key: str, free: list[str], location: JsonPath, context: ReadContext) -> None:
    where = (
        "here" if location.parent is None or location.parent.container is None else f"in {location.parent.display()}"
    )
    message = f"the key {quoted(key)} is not known {where} and has no effect"
    target = RENAMED_KEYS.get(model, {}).get(normalize(key))
    if target in (location.container or ()):
        context.diagnostics.add(location, "CFG036", message, f"remove it: {target} is set already", of_key=True)
    elif target is not None and normalize(target) != normalize(key):
        context.diagnostics.add(location, "CFG035", message, f"write it as {target}", of_key=True)
    elif "." in key.strip("."):
        outer, _, inner = key.partition(".")
        fix = f"write it nested: {quoted(outer)}: {{ {quoted(inner)}: … }}"
        context.diagnostics.add(location, "CFG035", message, fix, of_key=True)
    else:
        near = nearest(key, free)
        if near is not None:
            context.diagnostics.add(location, "CFG034", message, f'did you mean "{near}"?', of_key=True)
        else:
            fix = "remove it, or look up the field's name in the reference"
            context.diagnostics.add(location, "CFG036", message, fix, of_key=True)


def report_collected_keys(context: ReadContext, *, newer_reported: bool) -> None:
    if context.foreign_keys:
        message = f"fields of other generators, which have no effect here: {_listed(context.foreign_keys)}"
        context.diagnostics.add(context.foreign_keys[0], "CFG031", message, of_key=True)
    if context.newer_keys and not newer_reported:
        message = f"fields of the newer format, which have no effect here: {_listed(context.newer_keys)}"
        fix = "write them in the fields of this format, or remove them"
        context.diagnostics.add(context.newer_keys[0], "CFG033", message, fix, of_key=True)


def _listed(locations: list[JsonPath]) -> str:
    names = list(dict.fromkeys(location.display() for location in locations))
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
