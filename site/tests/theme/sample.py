"""A site with every field of the configuration file, drawn by the theme alone: pages are made by hand."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from tenantry_site.addresses import Addresses, html_path
from tenantry_site.config.model import SiteConfig
from tenantry_site.navigation import Navigation
from tenantry_site.options import SiteOptions
from tenantry_site.page import FrontMatter, Heading, Page
from tenantry_site.theme import Theme, colors_css

STYLES = "assets/site.css"
STYLESHEETS = (
    "bundles/tokens.css",
    "site.css",
    "head.css",
    "sidebar.css",
    "page.css",
    "text.css",
    "search.css",
    "components.css",
)
SCRIPTS = {"mode": "assets/mode.js", "site": "assets/site.js"}

CONFIG: dict[str, Any] = {
    "name": "Harbour",
    "logo": {"light": "/logo/light.svg", "dark": "/logo/dark.svg", "href": "/start/welcome"},
    "favicon": "/favicon.svg",
    "colors": {
        "primary": "#0d9373",
        "light": "#07c983",
        "dark": "#0b6b54",
        "background": {"light": "#fffdf8", "dark": "#0c1214"},
        "anchors": {"from": "#0d9373", "to": "#2f5bd8"},
    },
    "topbarLinks": [
        {"name": "Status", "url": "https://status.harbour.example"},
        {"name": "Support", "url": "mailto:help@harbour.example"},
    ],
    "topbarCtaButton": {"type": "link", "name": "Open console", "url": "https://console.harbour.example"},
    "versions": ["v3", "v2", "v1"],
    "anchors": [
        {"name": "Guides", "icon": "book", "url": "guides", "color": "#b35c00", "iconType": "solid"},
        {"name": "Legacy notes", "icon": "clock-rotate-left", "url": "legacy", "version": "v1", "iconType": "light"},
        {"name": "Internals", "icon": "gear", "url": "internals", "isDefaultHidden": True},
        {"name": "Community", "icon": "discord", "url": "https://chat.harbour.example", "iconType": "brands",
         "color": {"from": "#a03c8f", "to": "#f0a35e"}},
    ],
    "topAnchor": {"name": "Handbook", "icon": "compass", "iconType": "regular"},
    "tabs": [
        {"name": "API reference", "url": "api"},
        {"name": "Changelog", "url": "changes"},
        {"name": "Blog", "url": "https://blog.harbour.example"},
    ],
    "primaryTab": {"name": "Documentation"},
    "navigation": [
        {"group": "Get started", "icon": "rocket", "pages": ["start/welcome", "start/install", "start/blog-post"]},
        {
            "group": "Tenants",
            "pages": [
                "tenants/model",
                {
                    "group": "Access",
                    "icon": "key",
                    "pages": ["tenants/tokens", {"group": "Roles", "pages": ["tenants/roles"]}],
                },
                {"group": "Data", "pages": ["tenants/sources", "tenants/limits"]},
            ],
        },
        {"group": "Upgrading", "version": "v3", "pages": ["v3/upgrade", "v3/queues"]},
        {"group": "Upgrading", "version": "v2", "pages": ["v2/upgrade"]},
        {"group": "Guides", "pages": ["guides/first", "guides/second"]},
        {"group": "Legacy", "pages": ["legacy/notes"]},
        {"group": "Internals", "pages": ["internals/engine"]},
        {"group": "Groups", "pages": ["api/get-group", "api/create-group", "api/replace-group", "api/delete-group"]},
        {"group": "Releases", "pages": ["changes/releases"]},
    ],
    "footerSocials": {
        "website": "https://harbour.example",
        "github": "https://github.com/harbour/harbour",
        "x": "https://x.com/harbour",
        "discord": "https://chat.harbour.example",
        "hacker-news": "https://news.ycombinator.com/user?id=harbour",
        "linkedin": "https://linkedin.com/company/harbour",
    },
    "feedback": {"suggestEdit": True, "raiseIssue": True},
    "modeToggle": {},
    "backgroundImage": "/background.svg",
}  # fmt: skip

HEADS = {
    "start/welcome": FrontMatter(title="Welcome aboard", description="What Harbour does, and where to begin."),
    "start/install": FrontMatter(title="Install the command line", sidebar_title="Install", icon="download"),
    "start/blog-post": FrontMatter(title="Why we built it", url="https://blog.harbour.example/why"),
    "tenants/model": FrontMatter(
        title="Tenants, groups and what each may see",
        sidebar_title="The model",
        description="A token names a group, its properties become variables, and a query binds them.",
    ),
    "tenants/tokens": FrontMatter(title="Tokens"),
    "tenants/roles": FrontMatter(title="Roles of a very long name that does not fit on one line"),
    "tenants/sources": FrontMatter(title="Data sources"),
    "tenants/limits": FrontMatter(title="Limits"),
    "v3/upgrade": FrontMatter(title="Upgrade to v3"),
    "v3/queues": FrontMatter(title="Queues"),
    "v2/upgrade": FrontMatter(title="Upgrade to v2"),
    "guides/first": FrontMatter(title="A first dashboard"),
    "guides/second": FrontMatter(title="A second one"),
    "legacy/notes": FrontMatter(title="Notes of old"),
    "internals/engine": FrontMatter(title="The engine"),
    "api/get-group": FrontMatter(title="Get a group", api="GET /group"),
    "api/create-group": FrontMatter(title="Create a group", openapi="POST /group"),
    "api/replace-group": FrontMatter(title="Replace a group", openapi="api.json put /group"),
    "api/delete-group": FrontMatter(title="Delete a group", api="DELETE /group"),
    "changes/releases": FrontMatter(title="Releases", mode="wide"),
    "hidden": FrontMatter(title="Nobody lists me", noindex=True),
}

_LOGO = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 132 28" width="132" height="28">'
    '<path d="M4 20c4 4 16 4 20 0l-2-6H6zM13 4v9l7-1z" fill="#0d9373"/>'
    '<text x="34" y="20" font-family="sans-serif" font-weight="700" font-size="17" fill="{}">Harbour</text></svg>'
)
FILES = {
    "logo/light.svg": _LOGO.format("#1b1f27"),
    "logo/dark.svg": _LOGO.format("#e6e9ef"),
    "favicon.svg": '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4"/></svg>',
    "background.svg": (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1440 900">'
        '<defs><radialGradient id="g" cx=".8" cy="0" r="1">'
        '<stop stop-color="#07c983"/><stop offset="1" stop-color="#07c983" stop-opacity="0"/></radialGradient></defs>'
        '<rect width="1440" height="900" fill="url(#g)"/></svg>'
    ),
}

_WORDS = (
    "A viewer never names a tenant. The token in the address does, and what it stands for is resolved on every request,"
    " so that revoking one takes effect at once. "
)
_HEADINGS = (
    (2, "from-a-token-to-rows", "From a token to rows"),
    (3, "what-is-bound", "What is bound"),
    (3, "what-is-escaped", "What is escaped"),
    (2, "properties", "Properties"),
    (2, "a-heading-that-is-rather-long", "A heading that is rather long, so that it takes two lines"),
    (2, "limits", "Limits"),
)
_TABLE = (
    "<table><thead><tr><th>Property</th><th>Type</th><th>Meaning</th></tr></thead><tbody>"
    "<tr><td><code>accent</code></td><td>string</td><td>Six hex digits, in the customer’s own colour.</td></tr>"
    "<tr><td><code>home_airports</code></td><td>array</td><td>Bound as a list, never pasted into the text.</td></tr>"
    "</tbody></table>"
)
_LIST = (
    "<ul><li>Bound values keep their type.</li><li>Names are checked against a list, and so is <a href='#properties'>"
    "what they may hold</a>.</li></ul>"
)


def text(*, long: bool = True) -> str:
    """The HTML of a page's text."""
    pieces = [f"<p>{_WORDS * 2}</p>"]
    for level, name, title in _HEADINGS if long else _HEADINGS[:2]:
        pieces.append(f'<h{level} id="{name}">{title}</h{level}><p>{_WORDS}Call <code>resolve()</code> with it.</p>')
        pieces.append(_TABLE if name == "properties" else _LIST if name == "what-is-bound" else f"<p>{_WORDS * 3}</p>")
    return "".join(pieces)


def page(path: str, front: FrontMatter, **more: Any) -> Page:
    """A page with its text."""
    return Page(
        path=path,
        source=f"{path}.mdx",
        title=front.title,
        front=front,
        html=more.pop("html", text()),
        headings=tuple(Heading(*each) for each in _HEADINGS),
        **more,
    )


def config(**changes: Any) -> SiteConfig:
    """The configuration, with some fields replaced; None leaves one out."""
    return read({key: value for key, value in (CONFIG | changes).items() if value is not None})


def read(raw: dict[str, Any]) -> SiteConfig:
    """What the reader of configuration files makes of a correct file."""
    raw = dict(raw)
    if isinstance(raw.get("logo"), str):
        raw["logo"] = {"light": raw["logo"], "dark": raw["logo"]}
    raw["versions"] = [{"name": each} if isinstance(each, str) else each for each in raw.get("versions", ())]
    return SiteConfig.model_validate(raw)


def theme(of: SiteConfig, options: SiteOptions | None = None, heads: dict[str, FrontMatter] | None = None) -> Theme:
    """The theme of a site with these pages."""
    heads = HEADS if heads is None else heads
    addresses = Addresses(heads, FILES)
    return Theme(of, Navigation(of, heads), addresses, options or SiteOptions(), STYLES, SCRIPTS)


def static(name: str) -> str:
    """One of our static files."""
    return (files("tenantry_site") / "static" / name).read_text(encoding="utf-8")


def stylesheet(of: SiteConfig) -> str:
    """Everything the pages of these tests need."""
    return "".join(map(static, STYLESHEETS)) + colors_css(of, Addresses(HEADS, FILES))


def write(folder: Path, of: SiteConfig | None = None, options: SiteOptions | None = None) -> Path:
    """The whole site in a folder."""
    of = of or config()
    drawn = theme(of, options or SiteOptions(repository="https://github.com/harbour/harbour/tree/main/docs"))
    found = {html_path(path): drawn.page(page(path, front)) for path, front in HEADS.items()}
    found["404.html"] = drawn.not_found("")
    found |= FILES | {STYLES: stylesheet(of)}
    found |= {path: static(f"{name}.js") for name, path in SCRIPTS.items()}
    for name, content in found.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, encoding="utf-8")
    return folder
