"""The code view: findings with fixes, what tags become, YAML, differences, keys, colours, the policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engines.axe import serious
from tests.editor.code.conftest import Edit, offered, show, tell, text_of, until

BUNDLES = Path(__file__).parents[3] / "src" / "tenantry" / "static" / "bundles"
LARGEST_LOAD = 145_000
LARGEST_CHUNK = 25_000
TEXT = "select carier from flights where carrier = {{ carrier }}"
FINDING = {
    "from": 7,
    "to": 13,
    "severity": "error",
    "code": "unknown_column",
    "message": "There is no column carier.",
    "fix": "Write carrier.",
    "edit": {"from": 7, "to": 13, "insert": "carrier"},
}
MEANING = {
    "placeholders": [
        {
            "from": 43,
            "to": 56,
            "placeholder": "$1",
            "type": "text",
            "path": "carrier",
            "origin": "property",
            "value": "UA",
        }
    ],
    "tables": [{"from": 19, "to": 26, "name": "flights", "sql": "(select * from flights where carrier = $2)"}],
}
QUERY = """/* ---
title: Flights
params:
  since: {type: date, default: last-30-days}
--- */
with days as (
  select date_trunc('day', f.at) as day, count(*) as n -- of "all"
  from flights f
  where f.at >= {{ params.since }} and f.code = 'x {{ user_group.properties.carrier | json }} \\{{'
    [[ and f."Origin" in {{ params.origins }} ]]
)
select day, cast(n as numeric(10, 2)), null from days where 1.5 < n {{> sales/active }}
"""
DASHBOARD = "title: Flights\nrows:\n  - {line: flights, by: day, query: by_day}\n# all\n"


async def test_a_finding_is_fixed_by_click_and_by_key(edit: Edit) -> None:
    """The place moves with what is typed before it. Red if the edit keeps its offsets, and without the key."""
    page = (await edit(f"‸{TEXT}")).page
    await tell(page, "setFindings", [FINDING])
    await page.keyboard.type("-- x\n")
    await page.locator(".finding-error").click()
    await page.locator(".cm-diagnostic", has_text="There is no column carier.").wait_for()
    await page.get_by_role("button", name="Fix").click()
    assert await text_of(page) == f"-- x\n{TEXT}".replace("carier", "carrier")
    await show(page, f"‸{TEXT}", path="b.sql")
    await tell(page, "setFindings", [FINDING])
    await page.locator(".cm-lintRange-error").hover()
    await page.get_by_role("button", name="Fix").click()
    assert await text_of(page) == TEXT.replace("carier", "carrier")
    await show(page, f"‸{TEXT}", path="c.sql")
    await tell(page, "setFindings", [FINDING])
    await page.keyboard.press("Control+.")
    assert await text_of(page) == TEXT.replace("carier", "carrier")


async def test_findings_that_no_longer_fit(edit: Edit) -> None:
    """Offsets beyond the end are taken as the end. Red without the limits: CodeMirror throws."""
    seen = await edit("‸ab")
    await tell(
        seen.page, "setFindings", [FINDING | {"from": 1, "to": 99, "edit": None}, FINDING | {"from": 50, "to": 60}]
    )
    await seen.page.locator(".finding-error").wait_for()
    assert seen.console == []


async def test_what_a_tag_and_a_guarded_table_become(edit: Edit) -> None:
    """By the mouse and by the key. Red if the meaning does not move with the text."""
    page = (await edit(f"‸{TEXT}")).page
    await tell(page, "setMeaning", MEANING)
    await page.keyboard.type("/* x */ ")
    await page.locator(".cm-line span", has_text="carrier").last.hover()
    await page.locator(".meaning").get_by_text('$1 = "UA"').wait_for()
    await page.locator(".meaning").get_by_text("text · carrier · property").wait_for()
    await page.mouse.move(0, 0)
    await until(lambda: _count(page, ".meaning", 0))
    for _ in range(20):
        await page.keyboard.press("ArrowRight")
    await page.keyboard.press("Control+i")
    await page.get_by_text("(select * from flights where carrier = $2)").wait_for()
    await page.keyboard.press("Escape")
    await until(lambda: _count(page, ".meaning", 0))


async def _count(page: Any, selector: str, count: int) -> bool:
    return bool(await page.locator(selector).count() == count)


DASHBOARDS = [
    ("ro‸", ["rows = required"]),
    ("rows:\n  - {line: flights, que‸}", ["query = required"]),
    ("rows:\n  - line: flights\n    query: ‸", ["by_day = query", "delays = query"]),
    ("title: A\nschema: ‸", ["flights = schema"]),
    ("week_start: ‸", ["monday", "sunday"]),
    ("rows:\n  - {‸, query: by_day}", ["figure = required"]),
    ("rows:\n  - {line: flights, ‸, query: by_day}", ["by = required", "title"]),
    ("when:\n  ‸\n  property: plan\ntitle: A", ["in = required"]),
]


async def test_dashboards_are_completed_by_their_schema(edit: Edit) -> None:
    """Red without ``$ref``."""
    page = (await edit("‸", path="dashboards/a.yaml", language="yaml")).page
    address = await page.locator("meta[data-file='editor_yaml.js']").get_attribute("content")
    await page.evaluate("async (address) => void (await import(address))", address)
    for number, (text, expected) in enumerate(DASHBOARDS):
        await show(page, text, path=f"dashboards/{number}.yaml", language="yaml")
        found = await offered(page)
        assert found[: len(expected)] == expected, text
        await page.keyboard.press("Escape")


async def test_differences(edit: Edit) -> None:
    """A part of theirs is taken, and mine can be edited; lines that are alike are shown by keys, too. Red with a second
    CodeMirror in the bundle: its extensions are refused; and without ``unfoldByKeys``."""
    seen = await edit()
    page = seen.page
    await page.evaluate(
        """async () => {
          const { openDiff } = await import(document.querySelector('meta[data-file="editor_diff.js"]').content);
          const host = document.createElement("div");
          document.querySelector("main").replaceChildren(host);
          const texts = { mine: "select 1\\nfrom mine", theirs: "select 1\\nfrom theirs" };
          window.diff = openDiff(host, { ...texts, editable: true });
        }"""
    )
    await page.get_by_role("textbox", name="Mine").click()
    await page.keyboard.press("Control+End")
    await page.keyboard.type("\nlimit 1")
    await page.get_by_role("button", name="Take this part of theirs").first.click()
    assert "from theirs" in await page.evaluate("diff.text")
    assert await serious(page) == []
    assert seen.console == []
    assert await seen.violations() == []
    await page.evaluate("diff.close()")
    assert await page.locator("main > div > div").count() == 0
    await page.evaluate(
        """async () => {
          const { openDiff } = await import(document.querySelector('meta[data-file="editor_diff.js"]').content);
          const alike = "select 1\\n".repeat(30);
          const texts = { mine: `${alike}mine`, theirs: `${alike}theirs` };
          openDiff(document.querySelector("main > div"), { ...texts, editable: true });
        }"""
    )
    folded = page.locator(".cm-collapsedLines")
    assert await serious(page) == []
    await page.get_by_role("textbox", name="Mine").focus()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    assert await folded.count() == 0
    await page.keyboard.type("first")
    assert await page.get_by_role("textbox", name="Mine").locator(".cm-line").first.inner_text() == "firstselect 1"


async def test_keys(edit: Edit) -> None:
    """Run, save and format are told; Tab indents, and leaves after Escape."""
    page = (await edit("‸select 1")).page
    for key in ("Control+Enter", "Control+s", "Shift+Alt+f"):
        await page.keyboard.press(key)
    assert await page.evaluate("told") == ["run", "save", "format"]
    await page.keyboard.press("Control+i")
    assert await page.locator(".cm-selectionBackground").count() == 0
    await page.keyboard.press("Tab")
    assert await text_of(page) == "  select 1"
    await page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    await page.keyboard.press("Escape")
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.localName") == "button"
    described = page.get_by_role("textbox", name="queries/a.sql")
    await described.wait_for()
    assert await page.locator("#help").inner_text() == "Press Escape, then Tab, to leave the editor."


async def test_a_file_keeps_its_history(edit: Edit) -> None:
    """And its place: another file in between loses nothing, and begins at its own. Red if each document gets a new
    state, and if the other file is as far to the right as the one before it."""
    page = (await edit("a‸")).page
    await page.keyboard.insert_text("bc")  # at once: what is typed within half a second is undone together
    typed = await text_of(page)
    await show(page, "other‸", path="b.sql")
    await show(page, f"{typed}‸")
    await page.keyboard.press("Control+z")
    assert await text_of(page) == "a"
    wide = f"select {'1, ' * 500}"
    await show(page, f"{wide}‸", path="wide.sql")
    scroller = page.locator(".cm-scroller")
    left = "(each) => each.scrollLeft"
    await until(lambda: scroller.evaluate(left))
    before = await scroller.evaluate(left)
    for path, expected in (("also_wide.sql", 0), ("wide.sql", before)):
        await tell(page, "setDocument", {"path": path, "language": "sql", "dialect": "postgresql", "text": wide})
        assert await scroller.evaluate(left) == expected


async def test_nobody_types_into_a_file_that_is_read_only(edit: Edit) -> None:
    page = (await edit("‸select 1", readOnly=True)).page
    await page.keyboard.type("x")
    assert await text_of(page) == "select 1"
    assert await page.get_by_role("textbox").get_attribute("aria-readonly") == "true"


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
async def test_everybody_can_read_it(edit: Edit, dark: bool) -> None:
    """All colours of SQL and YAML at 4.5 to 1 on the page, and what floats: axe looks. The policy and the console are
    clean. Red with ``--line`` as the colour of comments."""
    seen = await edit(f"{QUERY}‸", dark=dark)
    page = seen.page
    await page.evaluate("document.querySelector('tenantry-code').style.height = '20em'")
    assert await serious(page) == []
    assert await page.locator(".cm-line span").count() > 40
    await tell(page, "setFindings", [FINDING | {"from": 40, "to": 60}])
    await page.keyboard.type("select {{ ")
    await offered(page)
    assert await serious(page) == []
    await page.keyboard.press("Escape")
    await page.locator(".finding-error").click()
    await page.locator(".cm-diagnostic").wait_for()
    assert await serious(page) == []
    await page.keyboard.press("Escape")
    await show(page, f"‸{DASHBOARD}", path="a.yaml", language="yaml")
    await page.keyboard.press("Control+f")
    await page.locator(".cm-search").wait_for()
    assert await serious(page) == []
    assert seen.console == []
    assert await seen.violations() == []


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
async def test_selected_text_can_be_read(edit: Edit, dark: bool) -> None:
    """Each colour at 4.5 to 1 on the ground of a selection. Red with the tokens' colours themselves."""
    page = (await edit(f"{QUERY}‸", dark=dark)).page
    await page.keyboard.press("Control+a")
    await page.locator(".cm-selectionBackground").first.wait_for()
    found = await page.evaluate(
        """() => {
          const { shadowRoot } = document.querySelector("tenantry-code");
          const all = (selector) => [...shadowRoot.querySelectorAll(selector)].map((each) => getComputedStyle(each));
          const pixel = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
          const luminance = (color) => {
            pixel.fillStyle = color;
            pixel.fillRect(0, 0, 1, 1);
            const [red, green, blue] = [...pixel.getImageData(0, 0, 1, 1).data].map((each) => {
              const share = each / 255;
              return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
            });
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
          };
          const ground = luminance(all(".cm-selectionBackground")[0].backgroundColor);
          const colors = new Set(all(".cm-line, .cm-line span").map(({ color }) => color));
          return [...colors].map((color) => {
            const ink = luminance(color);
            return [color, Math.max(ink, ground) / Math.min(ink, ground)];
          });
        }"""
    )
    assert len(found) >= 8
    assert [each for each in found if each[1] < 4.5] == []


async def test_what_a_color_means(edit: Edit) -> None:
    """Tags within strings look as tags; the same in comments is a comment."""
    page = (await edit(f"{QUERY}‸")).page
    color = "(each) => getComputedStyle(each).color"

    async def of(text: str) -> str:
        return str(await page.locator(".cm-line span", has_text=text).last.evaluate(color))

    path, string, keyword = await of("user_group.properties.carrier"), await of("'day'"), await of("select")
    assert path == await of("params.since") == await of("sales/active")
    assert len({path, string, keyword, await of("-- of"), await of("date_trunc")}) == 5


async def test_folding(edit: Edit) -> None:
    """A line hides the deeper lines below it, and a header its lines. Red without the service that finds them."""
    page = (await edit(f"{QUERY}‸")).page
    lines = await page.locator(".cm-line").count()
    await page.get_by_title("Fold line", exact=True).nth(2).click()
    await until(lambda: _count(page, ".cm-line", lines - 4))
    await page.get_by_title("Fold line", exact=True).first.click()
    await until(lambda: _count(page, ".cm-line", lines - 8))


def test_weight() -> None:
    """What the browser loads first, and the largest of what it loads later, by brotli."""
    first = sum((BUNDLES / f"editor.{kind}.br").stat().st_size for kind in ("js", "css"))
    assert first <= LARGEST_LOAD
    assert all((BUNDLES / f"editor_{name}.js.br").stat().st_size <= LARGEST_CHUNK for name in ("diff", "yaml"))
