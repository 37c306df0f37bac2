"""<tenantry-dashboard> in a page of another site, in real browsers: the token comes over, is renewed once, and what the
viewer chose stays."""

from __future__ import annotations

import asyncio
from typing import Any

from engines.chromium import OpenPage
from engines.either_browser import IN_CHROMIUM
from tests.browser.embedding.frames import dashboards, embed, frame_of, noted, press, shown, shows, there, until
from tests.browser.embedding.sites import Sites


async def test_a_dashboard_of_another_site_shows_its_group(open_page: OpenPage, sites: Sites) -> None:
    """Both pages are strict: nothing is refused, the console is clean, and no cookie is set or sent. Red when the
    element's file has no CORS header: a module of another origin needs one."""
    seen = await embed(open_page, sites, "acme")
    assert sites.served == [("acme", sites.host)]
    assert seen.console == []
    assert await seen.violations() == []
    assert await seen.page.context.cookies() == []
    assert not [line for line in sites.requests if "'cookie'" in line]
    found = await noted(seen.page)
    assert found["asked"] == {"acme": 1}
    await until(lambda: _has_event(seen.page, "ready"), "the event ready")
    assert [event for event in found["events"] if event[1] == "error"] == []


async def test_several_tenants_on_one_page(open_page: OpenPage, sites: Sites) -> None:
    """Each frame shows its own, also after the token of one has died and after its document was loaded again; the
    others are not asked. Red when the source of a hello is not compared."""
    seen = await embed(open_page, sites, "acme bolt corp")
    await sites.rotate("bolt")
    frame = await frame_of(seen.page, sites, "bolt")
    for name in ("acme", "bolt", "corp"):
        each = await frame_of(seen.page, sites, name)
        await press(each, "six")
        assert (await shows(each, answers=7))["answer"]["group"] == name
    assert (await noted(seen.page))["asked"] == {"acme": 1, "bolt": 2, "corp": 1}
    await frame.evaluate("location.reload()")
    await until(lambda: _answers(frame, 1), "the reloaded document")
    assert [(await shown(each))["answer"]["group"] for each in dashboards(seen.page, sites)] == ["acme", "bolt", "corp"]


@IN_CHROMIUM
async def test_a_rotation_asks_the_host_once(open_page: OpenPage, sites: Sites) -> None:
    """Six requests at once are refused: the host is asked once, and all are answered. Red when a refused request
    does not wait for the renewal that runs, or asks although the token is another one by then."""
    seen = await embed(open_page, sites, "acme")
    (frame,) = dashboards(seen.page, sites)
    for rotations in (1, 2):
        await sites.rotate("acme")
        before = (await shown(frame))["answers"]
        await press(frame, "six")
        found = await shows(frame, answers=before + 6)
        assert found["answer"] == {"group": "acme", "filters": {}}
        assert (await noted(seen.page))["asked"] == {"acme": 1 + rotations}


async def test_a_stream_ends_with_its_token(open_page: OpenPage, sites: Sites) -> None:
    """It breaks off, the page asks again, and the host is asked once for both: what the end of the stream starts finds
    the token renewed, or renews it. Red when UserGroupMiddleware watches websockets only."""
    seen = await embed(open_page, sites, "acme")
    (frame,) = dashboards(seen.page, sites)
    await press(frame, "stream")
    await until(lambda: _streams(frame), "parts of the stream")
    await sites.rotate("acme")
    await press(frame, "load")
    found = await shows(frame, answers=3, stream="broken")
    assert found["answer"]["group"] == "acme"
    assert (await noted(seen.page))["asked"] == {"acme": 2}


async def _streams(frame: Any) -> bool:
    return (await shown(frame)).get("stream") == len(b'{"live":true}\n')


@IN_CHROMIUM
async def test_the_same_token_again_is_one_error(open_page: OpenPage, sites: Sites) -> None:
    """A host that gives the dead token again is asked once, is given one error, and the dashboard says that it has
    ended; it asks no more. Red when the element does not compare: the host was asked again at each request."""
    seen = await embed(open_page, sites, "acme", same="yes")
    (frame,) = dashboards(seen.page, sites)
    await sites.rotate("acme")
    await press(frame, "six")
    found = await shows(frame, answers=7, ended="same_token")
    assert found["answer"]["status"] == 401
    await press(frame, "six")
    await shows(frame, answers=13)
    result = await noted(seen.page)
    assert result["asked"] == {"acme": 2}
    errors = [event[2]["code"] for event in result["events"] if event[1] == "error"]
    assert errors == ["same_token"]


@IN_CHROMIUM
async def test_what_the_viewer_chose_stays(open_page: OpenPage, sites: Sites) -> None:
    """Through a rotation, a reload of the frame and another ``name``: the element keeps and reports it. Red when
    the welcome holds no filters."""
    seen = await embed(open_page, sites, "acme")
    (frame,) = dashboards(seen.page, sites)
    chosen = {"city": "Praha"}
    await press(frame, "filter")
    answer = {"group": "acme", "filters": chosen}
    await shows(frame, answer=answer)
    await sites.rotate("acme")
    await press(frame, "load")
    await shows(frame, answers=3, answer=answer)
    await frame.evaluate("location.reload()")
    await shows(frame, answers=1, answer=answer)
    await seen.page.evaluate("document.querySelector('#acme').setAttribute('name', 'other')")
    await until(lambda: _is_at(seen.page, sites, "/dashboards/other"), "the other dashboard")
    await shows(dashboards(seen.page, sites)[0], answer=answer)
    assert await seen.page.evaluate("document.querySelector('#acme').filters") == chosen
    assert ["acme", "filters", chosen] in (await noted(seen.page))["events"]
    assert "Praha" not in "".join(line for line in sites.requests)


@IN_CHROMIUM
async def test_the_host_sets_filters_and_theme(open_page: OpenPage, sites: Sites) -> None:
    """While the dashboard is shown, without loading it again."""
    seen = await embed(open_page, sites, "acme")
    (frame,) = dashboards(seen.page, sites)
    await seen.page.evaluate("document.querySelector('#acme').setFilters({city: ['Brno', 'Praha']})")
    await seen.page.evaluate("document.querySelector('#acme').setTheme({mode: 'dark', accent: '#224466'})")
    answer = {"group": "acme", "filters": {"city": ["Brno", "Praha"]}}
    await shows(frame, answers=2, answer=answer, theme={"mode": "dark", "accent": "#224466"})


async def test_the_frame_is_as_tall_as_its_page(open_page: OpenPage, sites: Sites) -> None:
    """It grows with it, to the pixel, and does not grow itself. Red when no height is sent."""
    seen = await embed(open_page, sites, "acme")
    (frame,) = dashboards(seen.page, sites)
    await press(frame, "tall")
    wanted = await until(lambda: _height(frame), "a tall page")
    await until(lambda: _element_is_as_tall(seen.page, wanted), f"an element of {wanted} px")
    heights = [event[2] for event in (await noted(seen.page))["events"] if event[1] == "height"]
    assert heights[-1] == wanted
    assert len(heights) <= 3


async def test_get_token_may_come_early_or_late(open_page: OpenPage, sites: Sites) -> None:
    """Set before the script of the element is there, or long after the element is in the page. Red when a field of the
    class replaces what was set before."""
    seen = await open_page()
    await seen.page.goto(f"{sites.host}/?groups=")
    ask = "async () => await (await fetch('/token/{group}')).text()"
    script = """([src, early]) => {
      const element = document.createElement("tenantry-dashboard");
      element.id = early ? "early" : "late";
      element.setAttribute("src", src);
      element.setAttribute("name", "sales");
      document.body.append(element);
    }"""
    await seen.page.evaluate(script, [f"{sites.dashboards}/dashboards", False])
    await until(lambda: _is_at(seen.page, sites, "/dashboards/sales"), lambda: f"the frame; {there(seen, sites)}")
    await seen.page.evaluate(f"document.querySelector('#late').getToken = {ask.format(group='bolt')}")
    await frame_of(seen.page, sites, "bolt")
    early = await open_page(new=True)
    await early.page.add_init_script(
        f"""document.addEventListener("readystatechange", () => {{
          if (document.readyState !== "interactive") return; // before scripts that are modules
          const element = document.createElement("tenantry-dashboard");
          element.getToken = {ask.format(group="corp")};
          element.setAttribute("src", "{sites.dashboards}/dashboards");
          element.setAttribute("name", "sales");
          document.body.append(element);
        }})"""
    )
    delayed = asyncio.Event()

    async def late(route: Any) -> None:
        await delayed.wait()
        await route.continue_()

    await early.page.route("**/embed.js", late)
    await early.page.goto(f"{sites.host}/?groups=", wait_until="commit")
    await until(lambda: early.page.locator("tenantry-dashboard").count(), "the element without its class")
    delayed.set()
    await frame_of(early.page, sites, "corp")


@IN_CHROMIUM
async def test_an_element_that_leaves_ends_its_frame(open_page: OpenPage, sites: Sites) -> None:
    """And one that comes back begins anew, with what the viewer chose."""
    seen = await embed(open_page, sites, "acme")
    await press(dashboards(seen.page, sites)[0], "filter")
    await shows(dashboards(seen.page, sites)[0], answers=2)
    await seen.page.evaluate("window.taken = document.querySelector('#acme'); taken.remove()")
    await until(lambda: _has_none(seen.page, sites), "the end of the frame")
    await seen.page.evaluate("document.body.append(taken)")
    frame = await frame_of(seen.page, sites, "acme")
    assert (await shown(frame))["answer"]["filters"] == {"city": "Praha"}


@IN_CHROMIUM
async def test_a_host_that_has_no_token_says_so(open_page: OpenPage, sites: Sites) -> None:
    """An error for the host, and a page that says why. Red when the welcome is not sent then: it waits in vain."""
    seen = await open_page()
    await seen.page.goto(f"{sites.host}/?groups=nobody")
    await until(lambda: _has_event(seen.page, "error"), "the error")
    (frame,) = dashboards(seen.page, sites)
    await shows(frame, failed="no_token")
    assert (await noted(seen.page))["events"][0] == ["nobody", "error", {"code": "no_token"}]


async def _has_none(page: Any, sites: Sites) -> bool:
    return dashboards(page, sites) == []


async def _has_event(page: Any, name: str) -> bool:
    return any(event[1] == name for event in (await noted(page))["events"])


async def _answers(frame: Any, count: int) -> bool:
    return bool((await shown(frame)).get("answers") == count)


async def _is_at(page: Any, sites: Sites, path: str) -> bool:
    return any(frame.url == f"{sites.dashboards}{path}" for frame in page.frames)


async def _height(frame: Any) -> int:
    found = int(await frame.evaluate("Math.ceil(document.querySelector('#dashboard').getBoundingClientRect().height)"))
    return found if found > 1500 else 0


async def _element_is_as_tall(page: Any, wanted: int) -> bool:
    return bool(await page.evaluate("document.querySelector('#acme').getBoundingClientRect().height") == wanted)
