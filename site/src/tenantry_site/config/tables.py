"""Tables: keys of real files that SPEC 2.2 does not have, other spellings of values, and the social platforms."""

from __future__ import annotations

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

EXTENSIONS: dict[type, dict[str, str]] = {
    SiteConfig: {
        "analytics": "Accounts of analytics services.",
        "background": "Decoration of the page's ground.",
        "codeBlock": "Mode of blocks of code.",
        "eyebrow": "What stands above a page's title.",
        "font": "Fonts of headings and text.",
        "footer": "Links at the foot of each page.",
        "integrations": "Accounts of other services.",
        "isWhiteLabeled": "Leaves out the maker's name.",
        "layout": "Arrangement of the page.",
        "metadata": "Meta tags of every page.",
        "rounded": "Roundness of corners.",
        "search": "Place and text of the search field.",
        "seo": "What search engines are told.",
        "sidebar": "Look of the sidebar.",
        "theme": "One of several looks.",
        "topbar": "Look of the top bar.",
    },
    Colors: {"ultraLight": "A lighter main colour.", "ultraDark": "A darker main colour."},
    TopbarLink: {
        "type": "A link, or facts of a repository.",
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
        "isDefaultHidden": "Shown only on the pages inside it.",
        "icon": "Name of an icon.",
        "iconType": "Style of the icon.",
    },
    PrimaryTab: {"isDefaultHidden": "Shown only on the pages inside it."},
    Feedback: {"thumbsRating": "Buttons to rate a page."},
    Api: {"paramFields": "Whether parameters are open at first.", "request": "Examples of requests."},
    ApiPlayground: {"disableProxy": "Requests straight from the browser."},
    Redirect: {"permanent": "Kind of the redirect."},
}
"""Known fields of other generators that read the same file, with what they mean there. They have no effect here."""

NEWER = frozenset({
    "api-reference", "appearance", "banner", "contextual", "description", "errors", "fonts", "icons", "interaction",
    "navbar", "styling", "thumbnails", "variables",
})  # fmt: skip
"""Top-level keys of the newer format, which is a file of its own."""

NEWER_NAVIGATION = frozenset({
    "anchors", "dropdowns", "global", "groups", "languages", "menu", "pages", "products", "tabs", "versions",
})  # fmt: skip
"""What a navigation of the newer format, an object, is made of."""

_LINK = {"title": "name", "label": "name", "text": "name", "href": "url", "link": "url", "path": "url", "to": "url"}
_PAGES = {"items": "pages", "children": "pages", "links": "pages", "routes": "pages"}

MOVED: dict[type, dict[str, str]] = {
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
        "openapi": "openapi, beside api",
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
    Group: {"title": "group", "name": "group", "label": "group", **_PAGES, "openapi": "openapi, beside navigation"},
    Anchor: _LINK,
    Tab: _LINK,
    TopbarLink: _LINK,
    CallToAction: {**_LINK, "repo": "url", "repository": "url"},
    TopAnchor: {"title": "name", "label": "name", "url": "url of an anchor in anchors"},
    Version: {"version": "name", "label": "name", "title": "name"},
    Redirect: {"from": "source", "to": "destination", "target": "destination", "old": "source", "new": "destination"},
    ModeToggle: {"hidden": "isHidden", "hide": "isHidden", "mode": "default"},
}
"""Keys in the wrong place or by another name, without capitals, ``-`` and ``_``; and where they belong."""

ALIASES: dict[str, str] = {
    "apikey": "key",
    "header": "key",
    "bearertoken": "bearer",
    "jwt": "bearer",
    "basicauth": "basic",
    "interactive": "show",
    "visible": "show",
    "none": "hide",
    "hidden": "hide",
    "button": "link",
}
"""Other words for the values of enumerations, without capitals, ``-`` and ``_``."""

UNSET = frozenset({"auto", "automatic", "browser", "default", "device", "os", "system"})
"""Words that say what a field says by its absence."""

NEWER_STYLES = frozenset({"regular", "sharp-duotone-solid", "sharp-light", "sharp-regular", "sharp-thin"})
"""Styles of icons that came after the six of SPEC 2.2."""

OTHER_PLATFORMS = frozenset({
    "bitbucket", "codeberg", "crunchbase", "discourse", "docker", "dribbble", "email", "farcaster", "figma", "gitlab",
    "huggingface", "lens", "mail", "mastodon", "matrix", "npm", "patreon", "pinterest", "producthunt", "rss", "signal",
    "stackoverflow", "substack", "tiktok", "twitch", "warpcast", "whatsapp",
})  # fmt: skip
"""Names that are spelled as they are meant: none is a slip for a platform that is known here."""

SOCIALS = (
    "website", "facebook", "twitter", "discord", "slack", "github", "linkedin", "instagram", "hacker-news",
)  # fmt: skip
"""The nine platforms of SPEC 2.2."""

NEWER_SOCIALS = (
    "x", "youtube", "medium", "telegram", "x-twitter", "earth-americas", "bluesky", "threads", "reddit", "podcast",
)  # fmt: skip
"""Platforms that came later; they are shown like the nine."""
