"""The playground in a real Chromium, under the site's policy: it sends real requests to a real server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.async_api import Page

from engines.axe import serious
from engines.chromium import OpenPage, Watched
from tenantry_site.options import SiteOptions
from tenantry_site.page import FrontMatter
from tests.reference.served import Served, serving, shell
from tests.reference.stage import document, draw, own_document

THING = {
    "summary": "Change a thing",
    "parameters": [
        {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
        {"name": "kind", "in": "query", "required": True, "schema": {"enum": ["a", "b & c"]}, "example": "a"},
        {"name": "tags", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
        {"name": "size", "in": "query", "schema": {"type": "integer"}},
        {"name": "dry", "in": "query", "schema": {"type": "boolean"}},
        {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
    ],
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "examples": {"first": {"value": {"name": "it's"}}, "second": {"summary": "Other", "value": {"n": 1}}}
            },
            "application/x-www-form-urlencoded": {
                "schema": {"properties": {"name": {"type": "string"}, "note": {}}, "required": ["name"]}
            },
        },
    },
    "responses": {"200": {"description": "Done", "content": {"application/json": {"example": {"ok": True}}}}},
}
STYLES: dict[str, Any] = {
    "parameters": [
        {"name": "id", "in": "path", "required": True, "example": "a b/c'é"},
        {"name": "b", "in": "path", "required": True},
        {"name": "tags", "in": "query", "required": True, "example": ["x", "y&z"], "schema": {"type": "array"}},
        {"name": "csv", "in": "query", "required": True, "explode": False, "example": [1, 2],
         "schema": {"type": "array"}},
        {"name": "pipes", "in": "query", "required": True, "explode": False, "style": "pipeDelimited",
         "example": ["a|", "b"], "schema": {"type": "array"}},
        {"name": "deep", "in": "query", "required": True, "style": "deepObject", "schema": {"type": "object"},
         "example": {"a": 1, "b": "c d"}},
        {"name": "flat", "in": "query", "required": True, "explode": False, "schema": {"type": "object"},
         "example": {"a": 1, "b": [2]}},
        {"name": "whole", "in": "query", "required": True, "example": {"a": 1},
         "content": {"application/json": {"schema": {"type": "object"}}}},
        {"name": "unknown", "in": "query", "required": True},
        {"name": "X-Trace", "in": "header", "required": True},
        {"name": "session", "in": "cookie", "required": True, "example": "s1; s2=1"},
        {"name": "several", "in": "cookie", "required": True, "example": [1, 2], "schema": {"type": "array"}},
        {"name": "X-List", "in": "header", "required": True, "example": [1, 2], "schema": {"type": "array"}},
        *({"name": f"{style}{at}", "in": "path", "required": True, "style": style, "explode": bool(at % 2),
           "example": example, "schema": {"type": kind}}
          for style in ("simple", "label", "matrix")
          for at, (kind, example) in enumerate([("array", [1, 2]), ("array", [1, 2]), ("object", {"a": 1, "b": "c d"}),
                                                ("object", {"a": 1, "b": "c d"}), ("string", "x y")])),
    ],
    "requestBody": {"content": {"multipart/form-data": {"schema": {"required": ["f", "note", "tags"], "properties": {
        "f": {"type": "string", "format": "binary"}, "note": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}, "example": ["@a", "b"]}}}}}},
}  # fmt: skip
SECURITY = {"security": [{"token": []}, {"login": []}],
            "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"},
                                               "login": {"type": "http", "scheme": "basic"}}}}  # fmt: skip
CALLS = {
    f"/api/{name}": {"get": {}} for name in ("html", "ansi", "large", "binary", "broken", "number", "empty", "slow")
}


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """One page for each thing that can happen."""
    with serving() as here:
        found = document({"/api/things/{id}": {"post": THING}, **CALLS}, **SECURITY)

        def put(name: str, found: Any, spec: str, relay: str | None = None, **settings: Any) -> None:
            options = SiteOptions(relay=relay)
            page = draw(found, front=FrontMatter(openapi=spec), options=options, **settings)
            here.pages[name] = shell(page)

        put("/thing", found, "post /api/things/{id}")
        put("/relayed", found, "post /api/things/{id}", "_relay", api={"baseUrl": (here.url,)})
        styled = "/a'/{id}/{b}/" + "/".join(
            f"{{{style}{at}}}" for style in ("simple", "label", "matrix") for at in range(5)
        )
        put("/styles", document({styled: {"put": STYLES}}), f"put {styled}")
        put("/foreign", found, "get /api/html", api={"baseUrl": ("http://elsewhere.test",)})
        put("/refused", found, "get /api/html", "_relay", api={"baseUrl": ("http://elsewhere.test",)})
        for path in CALLS:
            put(f"/call{path}", found, f"get {path}", api={"auth": {}})
            put(f"/relayed{path}", found, f"get {path}", "_relay", api={"baseUrl": (here.url,)})
        cookie = {"name": "session", "in": "cookie", "schema": {"type": "string"}}
        put("/cookies", document({"/api/html": {"get": {"parameters": [cookie]}}}), "get /api/html")
        own = own_document()
        for method in ("get", "query", "post"):
            put(f"/own/{method}", own, f"{method} /api/user")
        put("/own/relayed", own, "get /api/user", "_relay", api={"auth": {"method": "key", "name": "Authorization",
                                                                          "inputPrefix": "Token "}})  # fmt: skip
        several = {"baseUrl": (here.url, "https://two.example.com"), "playground": {"mode": "simple"}}
        put("/simple", found, "post /api/things/{id}", api=several)
        put("/several", found, "post /api/things/{id}", api={"baseUrl": several["baseUrl"]})
        yield here


async def visit(open_page: OpenPage, served: Served, path: str, **options: object) -> Watched:
    seen: Watched = await open_page(**options)
    await go(seen.page, served, path)
    return seen


async def go(page: Page, served: Served, path: str) -> None:
    """To the next page of a test, which costs less than another browser page."""
    served.arrived.clear()
    served.relayed.clear()
    await page.goto(served.url + path)


async def settled(page: Page, words: str) -> str:
    """What the live region says, once it begins with these words; patient, as other tests load the machine."""
    for _ in range(5_000):
        reported: str = await page.locator("[data-live]").inner_text()
        if reported.startswith(words):
            return reported
        await asyncio.sleep(0.02)
    raise AssertionError(f"waited for {words!r}; it says {reported!r}")


async def snippets(page: Page) -> list[str]:
    found: list[str] = await page.locator("[data-snippets] pre code").evaluate_all("all => all.map(e => e.textContent)")
    return found


async def test_a_request_is_sent_and_its_answer_shown(open_page: OpenPage, served: Served) -> None:
    """Every kind of input, encoded; the answer's status, time, size, headers and body; a clean console.

    Red when a path parameter goes into the address as it was typed.
    """
    seen = await visit(open_page, served, "/thing")
    page = seen.page
    await page.get_by_label("Token").fill("s3cret")
    await page.get_by_label("id string required").fill("a/b?c é'")
    await page.get_by_label("kind string required").select_option("b & c")
    await page.get_by_text("3 optional").click()
    await page.get_by_label("tags array of strings, one value a line").fill("x\ny&z")
    await page.get_by_label("size integer").fill("12")
    await page.get_by_label("dry boolean").select_option("true")
    await page.get_by_label("X-Trace string").fill("t1")
    await page.get_by_role("button", name="Send").click()
    reported = await settled(page, "Answer: status 200")
    assert "bytes" in reported
    method, path, headers, body = served.arrived[0]
    assert (method, urlsplit(path).path) == ("POST", "/api/things/a%2Fb%3Fc%20%C3%A9'")
    assert parse_qsl(urlsplit(path).query) == [
        ("kind", "b & c"), ("dry", "true"), ("size", "12"), ("tags", "x"), ("tags", "y&z"),
    ]  # fmt: skip
    assert (headers["authorization"], headers["x-trace"], headers["content-type"]) == (
        "Bearer s3cret", "t1", "application/json")  # fmt: skip
    assert "cookie" not in headers
    assert json.loads(body) == {"name": "it's"}
    answer = page.locator("[data-answer]")
    assert await answer.locator(".status").inner_text() == "200"
    assert json.loads(await answer.locator("pre").inner_text()) == {"method": "POST", "ok": True}
    await answer.locator("summary").click()
    assert "content-type" in await answer.locator("table").inner_text()
    assert seen.console == []
    assert await seen.violations() == []


async def test_cookies_are_left_to_curl(open_page: OpenPage, served: Served) -> None:
    """A browser drops the header without a word. Red when the request is sent without its cookies."""
    page = (await visit(open_page, served, "/cookies")).page
    await page.get_by_label("session string").fill("s1; admin=1")
    assert "Cookie: session=s1%3B%20admin%3D1" in (await snippets(page))[0]
    await page.get_by_role("button", name="Send").click()
    assert "use the curl command" in await settled(page, "A page cannot send cookies")
    assert served.arrived == []


async def test_the_snippets_are_what_the_page_was_written_with(open_page: OpenPage, served: Served) -> None:
    """Python and the script write the same three texts. Red when either is changed alone."""
    page = (await open_page()).page
    for path in ("/thing", "/styles", "/own/get", "/own/query", "/own/post", "/own/relayed", "/several"):
        await go(page, served, path)
        written = await page.evaluate(
            "async () => [...new DOMParser().parseFromString(await (await fetch(location)).text(), 'text/html')"
            ".querySelectorAll('[data-snippets] pre code')].map((each) => each.textContent)"
        )
        home = served.url if path != "/several" else "https://example.com"
        made = [text.replace(home, "https://example.com") for text in await snippets(page)]
        assert [text.replace('"node:http"', '"node:https"') for text in made] == written
        assert len(written) == 3


async def test_the_snippets_follow_the_inputs_and_hide_secrets(open_page: OpenPage, served: Served) -> None:
    """A secret is in a snippet only while its field shows it; nothing is kept in the browser's storage."""
    page = (await visit(open_page, served, "/thing")).page
    await page.get_by_label("id string required").fill("it's")
    await page.get_by_label("Token").fill("s3cret")
    curl, python, javascript = await snippets(page)
    assert "things/it'\"'\"'s?kind=a'" in curl
    for text in (curl, python, javascript):
        assert "Bearer <TOKEN>" in text
        assert "s3cret" not in text
    await page.get_by_role("button", name="Show").first.click()
    assert all("Bearer s3cret" in text for text in await snippets(page))
    await page.get_by_role("button", name="Hide").click()
    assert all("s3cret" not in text for text in await snippets(page))
    await page.get_by_role("button", name="Send").click()
    await settled(page, "Answer")
    kept = await page.evaluate(
        "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])"
    )
    assert "s3cret" not in kept
    assert "s3cret" not in await page.content()


async def test_basic_authorization_and_a_form(open_page: OpenPage, served: Served) -> None:
    """The second way to sign in, the second content type; letters beyond ASCII too."""
    page = (await visit(open_page, served, "/thing")).page
    await page.get_by_label("Sign in with").select_option(label="User name and password")
    await page.get_by_label("Username").fill("me")
    await page.get_by_label("Password").fill("pä:ss")
    await page.get_by_label("Content type").select_option(label="application/x-www-form-urlencoded")
    await page.get_by_label("id string required").fill("1")
    await page.get_by_label("name string required").fill("a b&c")
    assert "--user 'me:<PASSWORD>'" in (await snippets(page))[0]
    assert "--data-urlencode 'name=a b&c'" in (await snippets(page))[0]
    await page.get_by_role("button", name="Send").click()
    await settled(page, "Answer: status 200")
    _, _, headers, body = served.arrived[0]
    assert headers["authorization"] == "Basic bWU6cMOkOnNz"
    assert headers["content-type"].startswith("application/x-www-form-urlencoded")
    assert parse_qsl(body) == [("name", "a b&c")]


async def test_what_is_missing_is_marked_and_focused(open_page: OpenPage, served: Served) -> None:
    """By keyboard alone. Red when the request goes out all the same."""
    page = (await visit(open_page, served, "/thing")).page
    body = page.locator("[data-body]")
    await body.fill('{"a": ')
    assert "This is not JSON" in await page.locator(".try-problem").inner_text()
    await page.get_by_label("Token").focus()
    await page.keyboard.press("Enter")
    assert await settled(page, "Inputs to mend: 2")
    field = page.get_by_label("id string required")
    assert await field.get_attribute("aria-invalid") == "true"
    assert await page.evaluate("document.activeElement.dataset.name") == "id"
    await page.keyboard.type("..")
    await body.fill('{"a": 1}')
    await page.keyboard.press("Control+Enter")
    await settled(page, "Inputs to mend: 1")
    assert await page.locator(".try-problem").inner_text() == "A path cannot hold . or .. alone."
    await field.fill("x")
    assert await page.locator(".try-problem").count() == 0
    assert served.arrived == []
    await page.keyboard.press("Control+Enter")
    await settled(page, "Answer: status 200")
    assert [json.loads(body) for _, _, _, body in served.arrived] == [{"a": 1}]


async def test_examples_fill_the_body(open_page: OpenPage, served: Served) -> None:
    """The one that is chosen."""
    page = (await visit(open_page, served, "/thing")).page
    await page.get_by_label("Example").select_option(label="Other")
    assert json.loads(await page.locator("[data-body]").input_value()) == {"n": 1}
    assert '"n": 1' in (await snippets(page))[0]


async def test_a_get_with_a_body_goes_through_the_relay(open_page: OpenPage, served: Served) -> None:
    """And without one the page says why it cannot. Red when the script asks fetch: it throws."""
    seen = await visit(open_page, served, "/own/relayed")
    page = seen.page
    field = page.get_by_label("Authorization key")
    assert await field.input_value() == ""
    await field.fill("abc")
    await page.get_by_role("button", name="Send").click()
    await settled(page, "Answer: status 200, 7 milliseconds")
    headers, asked = served.relayed[0]
    assert headers["X-Tenantry-Relay"] == "1"
    assert (asked["method"], asked["url"]) == ("GET", f"{served.url}/api/user")
    method, path, arrived, body = served.arrived[0]
    assert (method, path, arrived["authorization"]) == ("GET", "/api/user", "Token abc")
    assert json.loads(body)["user_group_id"] == "acme"
    assert seen.console == []
    page = (await visit(open_page, served, "/own/get")).page
    await page.get_by_role("button", name="Send").click()
    reported = await settled(page, "A browser sends no body with GET")
    assert "QUERY" in reported
    assert served.arrived == []


async def test_a_value_is_pasted_behind_the_prefix(open_page: OpenPage, served: Served) -> None:
    """Tab selects the whole field, and what is pasted replaces it. Red when the prefix stands in the field and is lost,
    or when a value that was pasted with it has it twice."""
    page = (await open_page()).page
    field = page.get_by_label("Authorization key")
    for pasted in ("abc", "Token abc", "  token abc\n", "abc "):
        await go(page, served, "/own/relayed")
        await page.evaluate(
            """(text) => { const area = document.createElement("textarea"); area.value = text;
            document.body.prepend(area); area.select(); document.execCommand("copy"); area.remove(); }""",
            pasted,
        )
        await field.focus()
        await field.evaluate("(input) => input.select()")
        await page.keyboard.press("Control+V")
        assert (await field.input_value()).strip() == "abc", pasted
        assert "Token <AUTHORIZATION>" in (await snippets(page))[0]
        await page.get_by_role("button", name="Show").click()
        assert "'Authorization: Token abc'" in (await snippets(page))[0], pasted
        await page.get_by_role("button", name="Send").click()
        await settled(page, "Answer: status 200")
        assert served.arrived[0][2]["authorization"] == "Token abc", pasted


async def test_the_prefix_is_beside_its_field(open_page: OpenPage, served: Served, tmp_path: Path) -> None:
    """On one line, of one height, in no other colour than can be read; nothing is wider than the window."""
    page = (await visit(open_page, served, "/own/relayed")).page
    field = page.get_by_label("Authorization key")
    prefix = page.locator(".try-prefix")
    modes: list[tuple[int, Literal["light", "dark"]]] = [(1440, "light"), (360, "dark")]
    for width, mode in modes:  # colours do not depend on the width
        await page.set_viewport_size({"width": width, "height": 900})
        await page.emulate_media(color_scheme=mode)
        ours, its = await field.bounding_box(), await prefix.bounding_box()
        assert ours is not None
        assert its is not None
        assert (its["y"], its["height"]) == (ours["y"], ours["height"])
        assert abs(its["x"] + its["width"] - ours["x"]) < 1
        assert ours["width"] > 80
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert await serious(page) == []
        await page.locator("[data-try]").screenshot(path=tmp_path / f"prefix-{width}-{mode}.png")


async def test_another_host_without_a_relay(open_page: OpenPage, served: Served) -> None:
    """Output in words, and what to do instead; the relay's own refusal too."""
    page = (await visit(open_page, served, "/foreign")).page
    await page.get_by_role("button", name="Send").click()
    reported = await settled(page, "The browser did not let this page call http://elsewhere.test")
    assert "curl" in reported
    page = (await visit(open_page, served, "/refused")).page
    await page.get_by_role("button", name="Send").click()
    assert "elsewhere.test may not be reached." in await settled(page, "The relay did not send it")


@pytest.mark.parametrize(
    ("way", "names"), [("call", "html ansi large binary broken number empty"), ("relayed", "html binary empty")]
)
async def test_hostile_answers_are_shown_as_they_are(open_page: OpenPage, served: Served, way: str, names: str) -> None:
    """HTML, escape codes, a megabyte, bytes, broken JSON, numbers that would be rounded, nothing.

    Red when a body becomes HTML, or a number is read and written again.
    """
    expected = {
        "html": "<script>window.run = 1</script><img src=x onerror='window.run = 2'>",
        "ansi": "\\u001b[31mred\\u0007\\u202egnp",
        "large": "xxxx",
        "binary": "The body is not text (image/png).",
        "broken": '{"a": [1, 2',
        "number": "12345678901234567890",
        "empty": "The answer has no body.",
    }
    seen = await open_page()
    page = seen.page
    for name, words in ((name, expected[name]) for name in names.split()):
        await go(page, served, f"/{way}/api/{name}")
        await page.get_by_role("button", name="Send").click()
        await settled(page, "Answer: status")
        shown = await page.locator("[data-answer]").evaluate("e => e.textContent")
        assert words in shown, name
        assert ("not valid JSON" in shown) is (name == "broken")
        assert await page.evaluate("window.run") is None
        assert await page.locator("[data-answer] img, [data-answer] script").count() == 0
        assert await seen.violations() == []


async def test_a_request_can_be_stopped(open_page: OpenPage, served: Served) -> None:
    """With the button that is there while it runs; a second one is not sent meanwhile."""
    page = (await visit(open_page, served, "/call/api/slow")).page
    await page.get_by_role("button", name="Send").click()
    await page.locator("form").dispatch_event("submit")
    await page.get_by_role("button", name="Stop").click()
    await settled(page, "Stopped.")
    assert await page.get_by_role("button", name="Stop").is_hidden()
    assert len(served.arrived) <= 1


@pytest.mark.parametrize("path", ["/simple", "/several"])
async def test_the_base_url_is_chosen_and_remembered(open_page: OpenPage, served: Served, path: str) -> None:
    """Also where the playground is simple: the snippets follow, and the next page begins with it."""
    page = (await visit(open_page, served, path)).page
    assert await page.locator("form").count() == (0 if path == "/simple" else 1)
    await page.get_by_label("Base URL").select_option(label="https://two.example.com")
    assert all("https://two.example.com/api/things/" in text for text in await snippets(page))
    await page.reload()
    assert await page.get_by_label("Base URL").input_value() == "1"
    assert all("https://two.example.com/api/things/" in text for text in await snippets(page))


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (768, True), (360, False)])
async def test_it_fits_and_can_be_used_by_all(open_page: OpenPage, served: Served, width: int, dark: bool) -> None:
    """No serious finding of axe, with an answer shown and everything open; nothing wider than the window."""
    seen = await visit(open_page, served, "/thing", width=width, dark=dark)
    page = seen.page
    await page.get_by_label("id string required").fill("1")
    await page.get_by_role("button", name="Send").click()
    await settled(page, "Answer")
    await page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await serious(page) == []


async def test_without_a_script_it_is_documentation(open_page: OpenPage, served: Served) -> None:
    """No form that does nothing; parameters, snippets and examples are there."""
    page = (await visit(open_page, served, "/thing", java_script_enabled=False)).page
    assert await page.locator("form").is_hidden()
    assert await page.get_by_role("heading", name="Query parameters").is_visible()
    assert await page.get_by_text("curl --request POST").is_visible()
