"""What other pages try, from three sites in a real Chromium and a real Firefox: they frame what they may not,
forge the messages of the hand-over, take a frame elsewhere. Where an attack would work without the defence, a control
shows it.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.async_api import Browser, Page

from engines.chromium import OpenPage, Watched
from engines.either_browser import IN_CHROMIUM
from tests.browser.embedding.frames import (
    NAME,
    dashboards,
    embed,
    first_of,
    frame_of,
    noted,
    press,
    shown,
    shows,
    until,
)
from tests.browser.embedding.sites import GROUPS, Sites


async def _evil_page(open_page: OpenPage, sites: Sites, html: str) -> Watched:
    seen = await open_page()
    await seen.page.goto(f"{sites.evil}/?{urlencode({'html': html})}")
    return seen


async def _settled(sites: Sites, before: int) -> None:
    """A later request of the same browser was answered: what a frame would have asked had its turn."""
    for _ in range(20):
        await asyncio.sleep(0.05)
    assert len(sites.served) == before


def _evil_frame(sites: Sites, script: str) -> str:
    return f"{sites.evil}/?{urlencode({'html': f'<script>{script}</script>'})}"


# --- who may embed ----------------------------------------------------------------------------------------------------


async def test_a_foreign_site_cannot_embed(open_page: OpenPage, sites: Sites) -> None:
    """Not by an iframe, nor by the element with a live token. Red when the frame has no ``frame-ancestors``."""
    token = await sites.token("acme")
    html = f"""<iframe src="{sites.dashboards}/{NAME}"></iframe>
      <script type="module" src="{sites.dashboards}/dashboards/-/embed.js"></script>
      <tenantry-dashboard src="{sites.dashboards}/dashboards" name="sales/regions"></tenantry-dashboard>
      <script>document.querySelector("tenantry-dashboard").getToken = () => "{token}"</script>"""
    seen = await _evil_page(open_page, sites, html)
    await until(lambda: _refusals(seen), "two refused frames")
    assert sites.served == []
    for frame in seen.page.frames:
        assert not frame.url.startswith(sites.dashboards)


async def _refusals(seen: Watched) -> bool:
    return sum("frame-ancestors" in text for text in seen.console) >= 2


async def test_a_foreign_site_cannot_embed_a_host(open_page: OpenPage, sites: Sites) -> None:
    """The product's page in an evil one: ``frame-ancestors`` asks for every page around."""
    seen = await _evil_page(open_page, sites, f'<iframe src="{sites.host}/?groups=acme"></iframe>')
    await until(lambda: _is_refused(seen), "a refused frame")
    assert sites.served == []


async def _is_refused(seen: Watched) -> bool:
    return any("frame-ancestors" in text for text in seen.console)


async def test_nobody_embeds_at_first(open_page: OpenPage, sites: Sites) -> None:
    """An environment without hosts: not even the product. Red when an empty list is sent as no policy."""
    production = await sites.store.environments.get("production")
    assert production is not None
    await sites.store.environments.set_embedding_hosts(production, [])
    seen: Watched = await open_page()
    await seen.page.goto(f"{sites.host}/?groups=acme")
    await until(lambda: _is_refused(seen), "a refused frame")
    assert sites.served == []


async def test_a_groups_own_list_is_enforced(open_page: OpenPage, sites: Sites) -> None:
    """The environment allows the product, the group does not: its data is refused from the first request on, with a
    reason, and the other group's is not. Red when the origin that embeds is not sent, or not compared."""
    sites.hosts_of_groups["bolt"] = ["https://bolt.example"]
    seen: Watched = await open_page()
    await seen.page.goto(f"{sites.host}/?groups=acme+bolt")
    await frame_of(seen.page, sites, "acme")
    await until(lambda: _somebody_is_refused(seen.page, sites), "the refusal")
    assert {group for group, _ in sites.served} == {"acme"}


async def _somebody_is_refused(page: Page, sites: Sites) -> bool:
    answers = [(await shown(frame)).get("answer", {}) for frame in dashboards(page, sites)]
    return any(answer.get("status") == 403 and answer["error"]["code"] == "embedding_not_allowed" for answer in answers)


# --- forged messages --------------------------------------------------------------------------------------------------

_WELCOMES = """
const channel = () => new MessageChannel().port2;
const ids = ["", "0", null, undefined, "x"];
setInterval(() => {
  for (const target of [parent, top, ...Array.from({length: parent.frames.length}, (_, at) => parent.frames[at])]) {
    if (target === window) continue;
    for (const id of ids) {
      const rest = {token: "TOKEN", filters: {city: "forged"}, theme: {mode: "forged"}};
      const forged = {tenantry: 1, type: "welcome", id, ...rest};
      target.postMessage(forged, "*", [channel()]);
      target.postMessage(forged, "*");
    }
    target.postMessage({type: "token", data: "TOKEN"}, "*");
    target.postMessage({type: "filters", data: {city: "forged"}}, "*");
    target.postMessage({tenantry: 1, type: "hello", id: "forged"}, "*");
  }
}, 20);
window.got = [];
addEventListener("message", (event) => window.got.push(JSON.stringify(event.data)));
"""


async def test_forged_messages_change_nothing(open_page: OpenPage, sites: Sites) -> None:
    """An evil frame in the product's page sends welcomes, tokens, filters and hellos to every window that it can reach:
    the page, a frame that waits for its welcome, and one that was welcomed. It gets no answer. Source and origin of a
    hello are both compared, and each alone stops this; red without both."""
    token = await sites.token("corp")
    evil = _evil_frame(sites, _WELCOMES.replace("TOKEN", token))
    waiting = f'<iframe src="{sites.dashboards}/{NAME}"></iframe>'
    seen: Watched = await open_page()
    more = f'<iframe src="{evil}"></iframe>{waiting}'
    await seen.page.goto(f"{sites.host}/?{urlencode({'groups': 'acme', 'more': more})}")
    frame = await frame_of(seen.page, sites, "acme")
    attacker = next(each for each in seen.page.frames if each.url.startswith(sites.evil))
    sent = await until(lambda: _many_messages(seen.page, sites), "a hundred forged messages")
    assert sent >= 100
    await press(frame, "load")
    found = await shows(frame, answers=2)
    assert found["answer"] == {"group": "acme", "filters": {}}
    assert found["theme"] is None
    assert {group for group, _ in sites.served} == {"acme"}
    got = await attacker.evaluate("window.got.join()")
    assert "welcome" not in got
    assert not [each for each in sites.tokens if each in got]


async def _many_messages(page: Page, sites: Sites) -> int:
    count = sum(origin == sites.evil for origin in (await noted(page))["messages"])
    return count if count >= 100 else 0


async def test_the_hosts_page_itself_cannot_forge_for_a_waiting_frame(open_page: OpenPage, sites: Sites) -> None:
    """Any script of the product's page may post to a frame that it made: without the id of this document, with more or
    fewer ports than one, it is no welcome. The right one then is. Red when the id is not compared."""
    token = await sites.token("acme")
    seen: Watched = await open_page(new=True)
    waiting = f'<iframe src="{sites.dashboards}/{NAME}"></iframe>'
    script = """addEventListener("message", (event) => {
      if (event.data?.type !== "hello") return;
      window.hello = event.data;
      window.frameWindow = event.source;
    })"""
    await seen.page.add_init_script(script)
    await seen.page.goto(f"{sites.host}/?{urlencode({'groups': '', 'more': waiting})}")
    await until(lambda: seen.page.evaluate("Boolean(window.hello)"), "the hello")
    post = """([id, ports, token, origin]) => {
      const channels = Array.from({length: ports}, () => new MessageChannel());
      window.port = channels[0]?.port1;
      const welcome = {tenantry: 1, type: "welcome", id: id ?? hello.id, token, filters: {}, theme: null};
      frameWindow.postMessage(welcome, origin, channels.map((each) => each.port2));
    }"""
    for wrong, ports in (("wrong", 1), (None, 0), (None, 2)):
        await seen.page.evaluate(post, [wrong, ports, token, sites.dashboards])
    await _settled(sites, 0)
    await seen.page.evaluate(post, [None, 1, token, sites.dashboards])
    await frame_of(seen.page, sites, "acme")
    await seen.page.evaluate(post, [None, 1, await sites.token("bolt"), sites.dashboards])  # once is enough
    frame = dashboards(seen.page, sites)[0]
    await press(frame, "load")
    assert (await shows(frame, answers=2))["answer"]["group"] == "acme"


async def test_a_frame_taken_elsewhere_gets_no_token(open_page: OpenPage, sites: Sites) -> None:
    """The frame of a dashboard goes to an evil page that says hello in its place: the window is the right one, the
    origin is not. Red when the welcome names no target origin either."""
    seen = await embed(open_page, sites, "acme")
    (frame,) = dashboards(seen.page, sites)
    hello = 'window.got = []; addEventListener("message", (event) => got.push(event.data)); '
    hello += 'setInterval(() => parent.postMessage({tenantry: 1, type: "hello", id: "x"}, "*"), 20);'
    await frame.evaluate("(address) => { location.href = address; }", _evil_frame(sites, hello))
    await until(lambda: _many_from(seen.page, sites.evil), "hellos of the evil page")
    attacker = next(each for each in seen.page.frames if each.url.startswith(sites.evil))
    assert await attacker.evaluate("window.got") == []
    assert (await noted(seen.page))["asked"] == {"acme": 1}


async def _many_from(page: Page, origin: str) -> bool:
    return bool((await noted(page))["messages"].count(origin) > 20)


async def test_an_opener_is_no_host(open_page: OpenPage, sites: Sites) -> None:
    """A page that opens the dashboard in a window of its own and posts welcomes: it is not its parent. Red when a page
    without a parent listens."""
    token = await sites.token("acme")
    script = f"""document.querySelector("button").onclick = () => {{
      const opened = open("{sites.dashboards}/{NAME}");
      setInterval(() => opened.postMessage({{tenantry: 1, type: "welcome", id: "", token: "{token}"}}, "*",
        [new MessageChannel().port2]), 20);
    }};"""
    seen = await _evil_page(open_page, sites, f"<button>open</button><script>{script}</script>")
    async with seen.page.expect_popup() as opening:
        await seen.page.get_by_role("button").click()
    popup = await opening.value
    found = await shows(popup.main_frame, answers=1)
    assert found["answer"]["status"] == 401
    await _settled(sites, 0)


# --- the token is nowhere ---------------------------------------------------------------------------------------------

_EVERYWHERE = """async () => {
  const found = [document.cookie, location.href, document.referrer, window.name, JSON.stringify(history.state)];
  found.push(document.documentElement.outerHTML);
  for (const storage of [localStorage, sessionStorage]) found.push(JSON.stringify({...storage}));
  found.push(JSON.stringify(await indexedDB.databases()), JSON.stringify(await caches.keys()));
  found.push(JSON.stringify(performance.getEntries()));
  found.push(JSON.stringify(globalThis.navigation?.entries().map((entry) => [entry.url, entry.getState()]) ?? []));
  for (const name of Object.getOwnPropertyNames(window)) {
    if (["noted", "violations"].includes(name)) { found.push(JSON.stringify(window[name])); continue; }
    try { const value = window[name]; found.push(typeof value === "string" ? value : JSON.stringify(value) ?? ""); }
    catch { /* what cannot be written as JSON is of the browser */ }
  }
  return found.join("\\n");
}"""


async def test_the_token_is_nowhere(open_page: OpenPage, sites: Sites, browser: Browser) -> None:
    """Neither in cookies, storages, history, addresses, Referer, request addresses and headers but its own, performance
    entries, window.name, HTML and globals, of the dashboard and of the host: after a rotation, a reload and changes of
    filters, for every token that was live. Control: the same search finds the filters in what the host noted."""
    seen = await embed(open_page, sites, "acme bolt")
    for group in ("acme", "bolt"):
        frame = await frame_of(seen.page, sites, group)
        await press(frame, "filter")
        await sites.rotate(group)
        await press(frame, "six")
        await shows(frame, answers=8)
    reloaded = dashboards(seen.page, sites)[0]
    await reloaded.evaluate("location.reload()")
    await shows(reloaded, answers=1)
    assert len(sites.tokens) == 4
    pages: list[Any] = [seen.page.main_frame, *dashboards(seen.page, sites)]
    texts = [await frame.evaluate(_EVERYWHERE) for frame in pages]
    assert "Praha" in texts[0]
    texts += sites.requests
    texts += [request.url for request in seen.requests]
    for request in seen.requests:
        headers = await request.all_headers()
        texts.append(json.dumps({name: value for name, value in headers.items() if name != "x-user-group-token"}))
    texts.append(json.dumps(await seen.page.context.storage_state()))
    if browser.browser_type.name == "chromium":  # the only one that tells the history of a tab
        session = await seen.page.context.new_cdp_session(seen.page)
        texts.append(json.dumps(await session.send("Page.getNavigationHistory")))
    everything = "\n".join(texts)
    assert "X-User-Group-Token".lower() not in everything
    for token in sites.tokens:
        assert token not in everything
        assert token.split(".")[1] not in everything
    assert not [line for line in sites.requests if "'referer'" in line and "dashboards/sales" in line.split("{")[1]]


# --- a plain iframe ---------------------------------------------------------------------------------------------------


async def _code(sites: Sites, page: Page, group: str) -> str:
    """As a product's own server asks for it."""
    token = await sites.token(group)
    answer = await page.request.post(
        f"{sites.dashboards}/dashboards/sales/regions/-/embed-code", headers={"X-User-Group-Token": token}
    )
    assert answer.status == 200, await answer.text()
    code: str = (await answer.json())["code"]
    return code


async def test_a_plain_iframe_takes_a_code(open_page: OpenPage, sites: Sites) -> None:
    """Once: a second frame with the same address says that it was used. The code is out of the address, what else is in
    the fragment stays, and the frame has its group until the token is rotated. Red when a code is good twice."""
    seen: Watched = await open_page()
    code = await _code(sites, seen.page, "acme")
    plain = f'<iframe src="{sites.dashboards}/{NAME}#city=Brno&code={code}"></iframe>'
    await seen.page.goto(f"{sites.host}/?{urlencode({'groups': '', 'more': plain})}")
    frame = await frame_of(seen.page, sites, "acme")
    assert await frame.evaluate("location.hash") == "#city=Brno"
    assert sites.served == [("acme", sites.host)]
    again: Watched = await open_page()
    await again.page.goto(f"{sites.host}/?{urlencode({'groups': '', 'more': plain})}")
    await until(lambda: first_of(again.page, sites, 1), "the frame")
    await shows(dashboards(again.page, sites)[0], failed="code_used")
    await sites.rotate("acme")
    await seen.page.bring_to_front()  # what is behind another page takes no click in Firefox
    await press(frame, "load")
    found = await shows(frame, answers=2)
    assert (found["answer"]["status"], found["ended"]) == (401, "ended")


@IN_CHROMIUM
@pytest.mark.parametrize("code_is", ["code_used", "ended"])
async def test_a_code_is_dead_with_its_token(open_page: OpenPage, sites: Sites, code_is: str) -> None:
    """It was made before a rotation, or before the end date of its group, of which the page says that the access has
    ended. Red when it gives the token that is live by then."""
    seen: Watched = await open_page()
    code = await _code(sites, seen.page, "acme")
    await (sites.rotate if code_is == "code_used" else sites.end)("acme")
    plain = f'<iframe src="{sites.dashboards}/{NAME}#code={code}"></iframe>'
    await seen.page.goto(f"{sites.host}/?{urlencode({'groups': '', 'more': plain})}")
    await until(lambda: first_of(seen.page, sites, 1), "the frame")
    await shows(dashboards(seen.page, sites)[0], failed=code_is)
    assert {group for group, _ in sites.served} & set(GROUPS) == set()
