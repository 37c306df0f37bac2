"""A site whose every field is an attack: nothing of it runs, with a policy or without one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, unquote, urlsplit

import pytest
from playwright.async_api import Route

from engines.chromium import OpenPage
from tenantry_site import render
from tests.rendering.folders import folder
from tests.rendering.hostile import ADDRESS_TRICKS, MARKUP, running, site

TRICKS = (*MARKUP, *ADDRESS_TRICKS)
CANARY = "window.pwned = 0; window.pwn = window.alert = () => { window.pwned += 1; };"
KINDS = {"html": "text/html; charset=utf-8", "js": "text/javascript", "css": "text/css", "json": "application/json"}


@pytest.mark.parametrize("trick", TRICKS)
def test_nothing_of_a_page_runs(trick: str) -> None:
    """In pages, front matter, the configuration, OpenAPI and redirects. Red when one of them is written as it is."""
    made = render(site(trick))
    assert not [reported for reported in made.diagnostics if reported.code == "SITE105"]
    pages = {path: content.decode() for path, content in made.items() if path.endswith(".html")}
    assert {"p/one.html", "p/two.html", "404.html"} <= pages.keys()
    assert {path: found for path, text in pages.items() if (found := running(text))} == {}
    for path, content in made.items():
        if path.endswith(".css"):
            assert "evil.test" not in content.decode()
            assert "</style" not in content.decode()


async def test_nothing_runs_in_a_browser_without_a_policy(open_page: OpenPage) -> None:
    """Red when only the policy holds an attack back: the canary is called, or another host is asked.

    All tricks stand on one page after another; a few of them in every field around it.
    """
    asked: list[str] = []
    files: Mapping[str, bytes] = {}

    async def answer(route: Route) -> None:
        address = urlsplit(route.request.url)
        content = files.get(unquote(address.path).lstrip("/"))
        if address.netloc != "site.test":
            asked.append(route.request.url)
            await route.abort()
        else:
            kind = KINDS.get(address.path.rpartition(".")[2], "text/plain")
            await route.fulfill(status=200 if content else 404, body=content or b"", content_type=kind)

    watched = await open_page(bypass_csp=True)
    await watched.page.add_init_script(CANARY)
    await watched.page.route("**/*", answer)
    for trick in TRICKS[:: len(TRICKS) // 4]:
        made = render(site(trick) | {"p/two.mdx": "\n\n".join(("# All", *TRICKS))})
        files = {path: re.sub(rb'<meta http-equiv="Content-Sec[^>]*>', b"", text) for path, text in made.items()}
        generated = next(path for path in files if path.startswith("api-reference/") and path.endswith(".html"))
        for path in ("p/one.html", "p/two.html", generated):
            await watched.page.goto(f"http://site.test/{quote(path)}", wait_until="load")
            await watched.page.evaluate("for (const each of document.querySelectorAll('main summary')) each.click()")
            assert await watched.page.evaluate("window.pwned") == 0, (trick, path)
    assert asked == []


RUNNING = (
    b'<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>',
    b'<svg onload="x"/>',
    b'<svg><a href="java\tscript:x"/></svg>',
    b'<svg><a xlink:href="&#106;avascript:x" xmlns:xlink="x"/></svg>',
    b'<svg><a href="data:text/html,x"/></svg>',
    b'<!DOCTYPE svg [<!ENTITY x "javascript:1">]><svg><a href="&x;"/></svg>',
    b'<!DOCTYPE svg [<!ENTITY x "<script>1</script>">]><svg>&x;</svg>',
    b'<!DOCTYPE svg [<!ATTLIST svg onload CDATA "x">]><svg/>',
    b'<?xml-stylesheet href="x.xsl" type="text/xsl"?><svg/>',
    b'<svg><set attributeName="href" to="javascript:1"/></svg>',
    b'<svg><animate attributeName="href" values="x;javascript:1"/></svg>',
    b'<svg><h:iframe xmlns:h="http://www.w3.org/1999/xhtml" srcdoc="x"/></svg>',
    b"<svg><script>",
    b"<svg><g><s:script>1",
    "<svg><script/></svg>".encode("utf-16"),
    b'<?xml version="1.0" encoding="utf-7"?><svg/>',
    b'<!DOCTYPE a [<!ENTITY b "1"><!ENTITY c "' + b"&b;" * 9 + b'">]><svg>&c;&undefined;',
)
SHOWING = (
    b'<svg xmlns="http://www.w3.org/2000/svg"><a href="https://x">JavaScript: on</a></svg>',
    b'<svg aria-label="javascript: a word"><image href="data:image/png;base64,xx"/></svg>',
    b'<!DOCTYPE svg PUBLIC "a" "b" [<!ENTITY n "http://www.w3.org/2000/svg">]><svg xmlns="&n;"/>',
    b"<svg><foreignObject><p>x</p></foreignObject><style>a{}</style></svg>",
    b"no XML",
    b"",
)


@pytest.mark.parametrize("content", RUNNING)
def test_a_picture_with_a_script_is_left_out(content: bytes) -> None:
    """Who opens its address on a host of files would run it. Red when one of them is published."""
    made = render(folder() | {"images/a.svg": content})
    assert "images/a.svg" not in made
    assert [reported.path for reported in made.diagnostics if reported.code == "SITE108"] == ["images/a.svg"]


@pytest.mark.parametrize("content", SHOWING)
def test_a_picture_is_published(content: bytes) -> None:
    assert render(folder() | {"images/a.svg": content})["images/a.svg"] == content


SECRETS = (
    "secrets.txt", "a/secrets.yaml", "a/credentials.json", "a/service-account.json", "a/service_account_prod.json",
    "id_rsa.txt", "dump.sql.gz", "tenantry.db.gz", "tenantry.keys.txt", "server.key.txt", "passwords.csv",
    "a/prod.env.txt",
    "backup.sqlite3.zip", "a/my-secret.toml", "private-key.txt", "API_keys.csv", "a/tfstate.json",
)  # fmt: skip
NO_SECRETS = (
    "a/tokens.json", "a/secret.png", "password-policy.pdf", "a/credentials.example.json", "secretary.txt",
    "keyboard.csv",
    "a/environment.yaml", "monkeys.txt",
)  # fmt: skip


@pytest.mark.parametrize("path", SECRETS)
def test_what_is_named_like_a_secret_is_not_published(path: str) -> None:
    """Red when a folder that holds more than the site gives it away."""
    made = render(folder() | {path: "SECRET"})
    assert path not in made
    assert [reported.path for reported in made.diagnostics if reported.code == "SITE107"] == [path]


@pytest.mark.parametrize("path", [".env", "tenantry.keys", "a.pem", "a.key", "a.db", "a.sqlite", "id_rsa", "a/.npmrc"])
def test_other_files_are_not_published(path: str) -> None:
    assert path not in render(folder() | {path: b"SECRET"})


@pytest.mark.parametrize("path", NO_SECRETS)
def test_a_word_in_a_name_makes_no_secret(path: str) -> None:
    assert path in render(folder() | {path: b"x"})


def test_a_secret_name_that_the_configuration_names_is_published() -> None:
    made = render(folder({"openapi": "api/secrets.json"}, **{"api/secrets.json": "{}"}))
    assert "api/secrets.json" in made


@pytest.mark.parametrize("text", ["# a{}x", "---\ntitle: a{}x\n---\n", "---\ntitle a: b\nx: [\ntitle: a{}x\n---\n"])
@pytest.mark.parametrize("piece", [" ", "\t", " #"])
def test_a_long_title_takes_no_time(text: str, piece: str) -> None:
    """Red when the work grows with the square of the length: this takes hours then."""
    made = render(folder() | {"index.md": text.replace("{}", piece * (200_000 // len(piece)))})
    assert "index.html" in made
