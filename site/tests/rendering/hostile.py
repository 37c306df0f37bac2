"""A site in which everything that an author can write is an attack, and what of it would run in a finished page."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

from tests.markdown.safety import ADDRESSES, allowed

ADDRESS_TRICKS = (
    "javascript:pwn(1)", "JavaScript:pwn(1)", "java\tscript:pwn(1)", " javascript:pwn(1)", "\x1fjavascript:pwn(1)",
    "javascript&colon;pwn(1)", "&#x6a;avascript:pwn(1)", "java&Tab;script:pwn(1)", "&amp;#106;avascript:pwn(1)",
    "data:text/html,<script>parent.pwn(1)</script>", "data:image/svg+xml,<svg onload=pwn(1)>", "vbscript:pwn(1)",
    "feed:javascript:pwn(1)", "blob:javascript:pwn(1)", "javascript:pwn(1)//http://x", "https:javascript:pwn(1)",
    'http://x" onmouseover="pwn(1)', "http://x' onmouseover='pwn(1)", 'x"><img src=x onerror=pwn(1)>',
    "x'><img src=x onerror=pwn(1)>", "/\\evil.test/x", "?javascript:pwn(1)", "#javascript:pwn(1)",
)  # fmt: skip

MARKUP = (
    "<img src=x onerror=pwn(1)>", "<svg/onload=pwn(1)//", "</script><script>pwn(1)</script>",
    "</title><script>pwn(1)</script>", "</textarea><img src=x onerror=pwn(1)>", '"><img src=x onerror=pwn(1)>',
    "'><img src=x onerror=pwn(1)>", '" autofocus onfocus=pwn(1) x="', "' autofocus onfocus=pwn(1) x='",
    "--><img src=x onerror=pwn(1)>", "&lt;img src=x onerror=pwn(1)&gt;", "&amp;lt;img src=x onerror=pwn(1)&amp;gt;",
    "<IMG\x0cSRC=x\x0cONERROR=pwn(1)>", "<iframe srcdoc='<script>parent.pwn(1)</script>'>",
    "<details open ontoggle=pwn(1)>", "<body onload=pwn(1)>", "<input autofocus onfocus=pwn(1)>",
    '<svg></p><style><g title="</style><img src onerror=pwn(1)>">', "<base href=https://evil.test/>",
    "<noscript><p title=\"</noscript><img src=x onerror=pwn(1)>\">",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=pwn(1)>",
    "<meta http-equiv=refresh content='0;url=https://evil.test/'>", "<object data=javascript:pwn(1)>",
    "<link rel=stylesheet href=https://evil.test/x.css>", "<style>@import 'https://evil.test/'</style>",
    "<form action=javascript:pwn(1)><button>c</button></form>",
    "<img src=https://evil.test/a srcset=https://evil.test/b>",
    "<div style='background:url(https://evil.test/s)'>x</div>", "<a ping=https://evil.test/p href=/x>x</a>",
    "<div dangerouslySetInnerHTML={{__html:'<img src=x onerror=pwn(1)>'}} />", "{`${pwn(1)}`}",
    "<!--[if IE]><script>pwn(1)</script><![endif]-->", "<![CDATA[<img src=x onerror=pwn(1)>]]>",
    "<img name=querySelector src=a.png><a id=search-dialog name=body>x</a>",
)  # fmt: skip

_COMPONENTS = (
    "Card title='{}' href='{}' icon='{}' img='{}' cta='{}'", "Accordion title='{}' icon='{}' description='{}'",
    "Tooltip tip='{}' headline='{}' cta='{}' href='{}'", "Frame caption='{}'", "Icon icon='{}' color='{}' size='{}'",
    "ParamField path='{}' type='{}' default='{}'", "ResponseField name='{}' type='{}'", "Expandable title='{}'",
    "Update label='{}' description='{}'", "Color.Item name='{}' value='{}'", "Snippet file='{}'", "Step title='{}'",
    "img src='{}' alt='{}' srcset='{}' title='{}'", "a href='{}' target='{}' name='{}' title='{}'",
    "video src='{}' poster='{}'", "iframe src='{}' title='{}'", "td width='{}' align='{}'", "details name='{}' id='{}'",
)  # fmt: skip
_HEAD = (
    "title", "sidebarTitle", "description", "icon", "version", "mode", "url", "canonical", "robots", "og:image",
    "author", 'x"><img src=x onerror=pwn(1)>',
)  # fmt: skip


def page(trick: str) -> str:
    """One trick wherever a page can hold it."""
    quoted, line = trick.replace("'", "&#39;"), trick.replace("\n", " ")
    head = "".join(f"{key}: {json.dumps(line)}\n" for key in _HEAD)
    parts = [f"<{each.replace('{}', quoted)}>x</{each.split()[0]}>" for each in _COMPONENTS]
    cell = line.replace("|", "")
    parts += [
        trick, f"## {line}", f"- {line}", f"|{cell}|\n|-|\n|{cell}|", f"```html {line.replace('`', '')}\n{trick}\n```",
        f"[a](<{line}>) ![a](<{line}>) <{line}> [a][r] `{line.replace('`', '')}` [^1]",
        f"[r]: <{line}>", f"[^1]: {line}",
    ]  # fmt: skip
    return f"---\n{head}---\n\n" + "\n\n".join(parts) + "\n"


def document(trick: str) -> dict[str, Any]:
    """One trick wherever an OpenAPI document can hold it."""
    schema = {
        "type": "object", "title": trick, "description": trick, "required": [trick], "example": {trick: trick},
        "properties": {trick: {"type": "string", "description": trick, "default": trick, "enum": [trick, "a"]},
                       "__proto__": {"type": "string", "example": trick}},
    }  # fmt: skip
    places = [{"name": trick, "in": place, "required": True, "example": trick} for place in ("path", "query", "header")]
    operation = {
        "operationId": trick, "summary": trick, "description": trick, "tags": [trick], "parameters": places,
        "externalDocs": {"url": trick, "description": trick}, "security": [{trick: []}],
        "requestBody": {"content": {"application/json": {"schema": schema}, trick: {"schema": schema}}},
        "responses": {"200": {"description": trick, "content": {"text/html": {"example": trick}}},
                      trick: {"description": trick}},
    }  # fmt: skip
    named = {"url": f"https://{{h}}/{trick}", "variables": {"h": {"default": trick}}}
    key = {"type": "apiKey", "name": trick, "in": "header", "description": trick}
    return {
        "openapi": "3.1.0", "info": {"title": trick, "version": trick, "description": trick},
        "servers": [{"url": trick, "description": trick}, named],
        "tags": [{"name": trick, "description": trick}], "components": {"securitySchemes": {trick: key}},
        "paths": {f"/a/{{{trick}}}/{trick}": {"post": operation}},
    }  # fmt: skip


def configuration(trick: str) -> dict[str, Any]:
    """One trick in every field."""
    color = "#fff;}</style><script>pwn(1)</script>"
    return {
        "name": trick, "logo": {"light": trick, "dark": trick, "href": trick}, "favicon": trick,
        "colors": {"primary": trick, "light": color, "dark": "#000;background:url(https://evil.test/c)",
                   "background": {"light": trick, "dark": color}, "anchors": {"from": color, "to": trick}},
        "backgroundImage": trick, "topbarLinks": [{"name": trick, "url": trick}], "versions": [trick, "__proto__"],
        "topbarCtaButton": {"type": "github", "url": f"https://github.com/{trick}", "name": trick},
        "anchors": [{"name": trick, "url": trick, "icon": trick, "color": trick}], "topAnchor": {"name": trick},
        "tabs": [{"name": trick, "url": trick}, {"name": "a", "url": "p"},
                 {"name": "b", "url": "api-reference", "openapi": "api/a.json"}],
        "footerSocials": {"twitter": trick, trick: trick, "__proto__": trick},
        "redirects": [{"source": "/old", "destination": trick}], "api": {"baseUrl": trick, "auth": {"name": trick}},
        "navigation": [{"group": trick, "icon": trick, "pages": ["p/one", {"group": trick, "pages": ["p/two"]}]}],
        "openapi": "api/a.json",
    }  # fmt: skip


def site(trick: str) -> dict[str, str | bytes]:
    """The whole of it."""
    return {
        "site.json": json.dumps(configuration(trick)),
        "p/one.mdx": page(trick),
        "p/two.mdx": f"---\ntitle: a\napi: {json.dumps(f'POST /x/{trick}')}\ncontentType: {json.dumps(trick)}\n---\n",
        "api/a.json": json.dumps(document(trick)),
    }


_STUB = re.compile(
    r'<meta http-equiv="(?:refresh" content="0; url=(?!\s*(?:javascript|data|vbscript):)|Content-Sec)',
    re.IGNORECASE,
)


class _Running(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in {"base", "object", "embed", "applet", "style", "frame", "iframe", "math", "noscript"}:
            self.found.append(f"<{tag}>")
        if tag == "script" and not re.fullmatch(
            r"(?:/|(?:\.\./)*)assets/[a-z]+\.[0-9a-f]{10}\.js", given.get("src") or ""
        ):
            self.found.append(f"<script src={given.get('src')}>")
        if tag == "meta" and "http-equiv" in given and not _STUB.match(self.get_starttag_text() or ""):
            self.found.append(self.get_starttag_text() or "<meta>")
        for name, value in attrs:
            if name.startswith("on") or name in {"style", "srcdoc", "srcset", "ping", "formaction", "action"}:
                self.found.append(f"{name}={value}")
            if name in ADDRESSES and not allowed(value or "") and (tag, value) != ("link", "data:,"):
                self.found.append(f"{name}={value!r}")


def running(html: str) -> list[str]:
    """What in a finished page would run, or ask another host."""
    parser = _Running()
    parser.feed(html)
    parser.close()
    return parser.found
