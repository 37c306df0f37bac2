"""A series has its colour by its name: not by the order of answers, and not by what a viewer filters."""

from __future__ import annotations

import itertools
import json
import math
import random
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from playwright.async_api import Page

from tests.dashboards.page.conftest import Visit, come, until
from tests.dashboards.page.gallery import ORIGIN
from tests.dashboards.page.stand_in import Message, StandIn, rows

pytestmark = pytest.mark.slow

SOURCES = Path(__file__).parents[3] / "frontend" / "src" / "dashboards"
MODULE = SOURCES / "charts" / "colors.js"
PALETTE = ("#2f5bd8", "#b35c00", "#0b7a75", "#a03c8f", "#5c7a00", "#7a4a2b", "#6b4fa0", "#5b6472")
WORDS = {"accent": "#2f5bd8", "good": "#1a7f4b", "warn": "#9a6700", "bad": "#c0362c", "quiet": "#5b6472"}
SPARE = ("#0084b4", "#e2008a", "#1f2f66")
TOKENS = WORDS | {f"data-{number}": color for number, color in enumerate((*PALETTE, *SPARE), 1)}
LOADS = """
import { SeriesColors } from COLORS;
import { mixed, readable } from CONTRAST;
const { about, tokens, loads, remembers, later } = JSON.parse(process.argv[1]);
const kept = {};
function* further(own) {
  const all = { ...tokens };
  for (const [at, color] of own.entries()) {
    const other = { ink: "#1b1f27", surface: "#f7f8fa" }[color.toward];
    const made = other && readable(mixed(all[`data-${color.place}`], other, 0.4), ["#ffffff"], 3);
    const spun = Math.round(parseFloat(String(color).slice(4)) * 1e5 % 0xffffff).toString(16).padStart(6, "0");
    yield [`data-${9 + at}`, all[`data-${9 + at}`] = made ?? (color[0] === "#" ? color : `#${spun}`)];
  }
}
const found = loads.map((rounds) => {
  const look = () => colors.see([Object.assign(tokens, Object.fromEntries(further(colors.own)))]);
  const colors = new SeriesColors({ controls: [], rows: [], ...about }, look, () => {}, remembers ? kept : {});
  look();
  return rounds.map((answers) => {
    for (const [column, names, own] of answers) colors.of(column, names, own);
    const shown = answers.map(([column, names, own]) => [
      JSON.stringify([column, names]), colors.of(column, names, own)]);
    colors.settle();
    Object.assign(tokens, later);
    if (Object.keys(later).length) look();
    return Object.fromEntries(shown);
  });
});
console.log(JSON.stringify([found, tokens]));
""".replace("COLORS", json.dumps(MODULE.as_uri())).replace("CONTRAST", json.dumps((SOURCES / "contrast.js").as_uri()))
NAMES = [
    "Won",
    "Lost",
    "Open",
    "Stalled",
    "Nurture",
    "Churned",
    "North",
    "South",
    "EWR",
    "JFK",
    "Basic",
    "Pro",
    "",
    "é",
]
Answers = list[list[Any]]


def tokens_of(colors: Mapping[str, Any]) -> dict[str, str]:
    """The colours of a page whose file gives these to names."""
    own = [color for color in colors.values() if str(color).startswith("#")]
    return TOKENS | {f"data-{number}": color for number, color in enumerate(dict.fromkeys([*own, *SPARE]), 9)}


def distance(one: str, other: str) -> float:
    """How different two colours look, roughly."""
    (r1, g1, b1), (r2, g2, b2) = ([int(color[at : at + 2], 16) for at in (1, 3, 5)] for color in (one, other))
    red = (r1 + r2) / 512
    return math.sqrt((2 + red) * (r1 - r2) ** 2 + 4 * (g1 - g2) ** 2 + (3 - red) * (b1 - b2) ** 2)


Loads = list[list[dict[str, list[Any]]]]


def loads(*given: list[Answers], remembers: bool = False, **about: Any) -> Loads:
    """The colours of each load: of each round of answers, by column and names. ``remembers``: whether a load knows the
    ones before it, as that of one viewer does."""
    return loads_and_tokens(*given, remembers=remembers, **about)[0]


def loads_and_tokens(
    *given: list[Answers], remembers: bool = False, later: Mapping[str, str] = MappingProxyType({}), **about: Any
) -> tuple[Loads, dict[str, str]]:
    """The same, and what each number of a colour looks like. ``later``: colours of a theme that comes after the first
    round."""
    tokens = tokens_of(about.get("colors", {}))
    about_all = json.dumps(
        {"about": about, "tokens": tokens, "loads": given, "remembers": remembers, "later": dict(later)}
    )
    command = ["node", "--input-type=module", "-e", LOADS, about_all]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    found, drawn = json.loads(said.stdout)
    return found, drawn


def by_name(rounds: dict[str, list[Any]]) -> dict[Any, set[Any]]:
    """The colours of each name of some answers."""
    found: dict[Any, set[Any]] = {}
    for key, colors in rounds.items():
        for name, color in zip(json.loads(key)[1], colors, strict=True):
            found.setdefault(name, set()).add(color)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_answers_decides_no_colour(seed: int) -> None:
    """A hundred orders of the same answers, then a filter and its end: each name has one colour, the names of a chart
    have different ones. Red when colours were given in the order of arrival, and when names that came late displaced
    others after the load."""
    dice = random.Random(seed)
    mixed = dice.sample(NAMES, len(NAMES))
    columns = {"status": mixed[:8], "region": mixed[7:11], "plan": [mixed[0], *mixed[11:]]}  # two names stand in two
    answers = [
        [column, dice.sample(names, dice.randint(1, len(names)))] for column, names in columns.items() for _ in range(2)
    ]
    filtered = [[column, names[: max(1, len(names) // 2)]] for column, names in answers]
    found = loads(*([dice.sample(answers, len(answers)), filtered, answers] for _ in range(100)))
    assert all(each == found[0] for each in found)
    first, _, last = found[0]
    for round_ in found[0]:
        for colors in round_.values():
            assert len({*colors}) == len(colors)
        assert all(by_name(round_)[name] == by_name(first)[name] for name in by_name(round_))
    assert last == first


@pytest.mark.parametrize("seed", range(6))
def test_who_has_seen_the_same_names_sees_the_same_colours(seed: int) -> None:
    """One viewer opened the page with all names, others with some of them, in a reload or in the same page: all see the
    same colours in the end, and no filter or reload changes them. Red when a name kept the place that it had taken
    while its rival was filtered out."""
    dice = random.Random(seed)
    names = dice.sample(NAMES, 9)
    every: list[Answers] = [[["status", names]]]
    [[whole]] = loads(every)
    some: list[list[Answers]] = [[[["status", dice.sample(names, dice.randint(1, 4))]]] for _ in range(5)]
    in_one_page = [each for [each] in some]
    assert loads([*in_one_page, every[0]])[0][-1] == whole
    found = loads(*some, every, *some, remembers=True)
    assert found[len(some)] == [whole]
    for [shown] in found[len(some) + 1 :]:
        assert all(colors == by_name(whole)[name] for name, colors in by_name(shown).items())


def test_a_name_without_a_rival_keeps_its_colour_whatever_comes() -> None:
    """Red when a name that was displaced by one rival displaced another name in turn."""
    dice = random.Random(1)
    sets = [dice.sample(NAMES, 6) for _ in range(20)]
    every = loads(*([[["x", names]]] for names in sets), *([[["x", [name]]]] for name in NAMES))
    alone = {name: color for [shown] in every[len(sets) :] for name, [color] in by_name(shown).items()}
    for names, [shown] in zip(sets, every, strict=False):
        places = [alone[name] for name in names]
        assert all(by_name(shown)[name] == {alone[name]} for name in names if places.count(alone[name]) == 1)


@pytest.mark.parametrize("seed", range(4))
def test_nobody_else_takes_a_colour_of_the_file(seed: int) -> None:
    """Nor one that looks like it, nor like good or bad where the file has such a word, however many names a column
    has. Red when a name beyond the eighth took the place of its hash."""
    dice = random.Random(seed)
    own = dict(zip("ABC", dice.sample([*WORDS, "#b35c00", "#2f66d0", 3, 5, 7], 3), strict=True))
    names = [*own, *(f"name {n}" for n in range(12))]
    rounds: list[Answers] = [[["x", dice.sample(names, 8)]] for _ in range(12)]
    [found], tokens = loads_and_tokens(rounds, colors=own)
    given = [
        color if str(color).startswith("#") else tokens.get(f"data-{color}", tokens.get(color))
        for color in own.values()
    ]
    if {"good", "bad", "warn"} & {*own.values()}:
        given += [WORDS["good"], WORDS["bad"]]
    taken = {place for each in found for name, places in by_name(each).items() if name not in own for place in places}
    assert len(taken) > 3
    assert min(distance(tokens[f"data-{place}"], str(color)) for place in taken for color in given) >= 80


def test_the_file_and_the_choices_come_first() -> None:
    """A panel's colours before the dashboard's, then the order of choices, then the hash."""
    choices = [{"value": "EWR"}, {"value": "JFK"}, {"value": "LGA"}]
    about = {"colors": {"Lost": "bad", "Won": "#00aa55", "North": 4}, "controls": [{"choices": choices}]}
    names = ["Lost", "Won", "North", "JFK", "EWR", "a", "b", "c"]
    [[found]] = loads([[["status", names]]], **about)
    (colors,) = found.values()
    assert colors[:3] == ["bad", 9, 4]
    assert colors[3:5] == [2, 1]
    [[panel]] = loads([[["status", ["Lost", "Won"], {"Lost": 3}]]], **about)
    assert [*panel.values()] == [[3, 9]]


def test_no_colour_of_the_palette_is_that_of_bad() -> None:
    """Light and dark. Red when a series was as red as a negative balance in a table of the same page."""
    css = (SOURCES.parent / "tokens.css").read_text(encoding="utf-8")
    modes = [dict(re.findall(r"--(bad|data-\d): (#\w+)", each)) for each in css.split("@media")]
    shown = [each for each in modes if "bad" in each]
    assert len(shown) >= 2
    for tokens in shown:
        bad = tokens.pop("bad")
        assert min(distance(color, bad) for color in tokens.values()) >= 80


def test_measures_are_told_apart_in_the_order_of_the_file() -> None:
    """Red when the first answer decides."""
    views = [
        {"view": {"kind": "line", "line": ["sold", "returned"]}},
        {"view": {"kind": "bar", "bar": ["open", "sold"]}},
    ]
    answers = [["", ["sold", "returned"]], ["", ["open", "sold"]]]
    for order in (answers, answers[::-1]):
        [[found]] = loads([order], rows=[views])
        assert by_name(found) == {"sold": {1}, "returned": {2}, "open": {3}}


# --- on the page ------------------------------------------------------------------------------------------------------

STATUS: Message = ORIGIN | {"name": "wanted", "label": "Wanted", "many": True, "choices": None, "kind": "text"}
LEGEND = """() => Object.fromEntries([...document.querySelectorAll("[data-panel] .legend-item")].map((each) => [
    each.closest("[data-panel]").dataset.panel + " " + each.querySelector(".legend-name").textContent,
    getComputedStyle(each.querySelector(".swatch")).backgroundColor]))"""
MARKS = (
    """() => [...document.querySelectorAll("[data-panel='1-1'] rect.bar")].map((each) => getComputedStyle(each).fill)"""
)


def answer(column: str, names: list[str]) -> Any:
    def answered(_: Message, filters: Mapping[str, Any]) -> Message:
        shown = [name for name in names if filters.get("wanted") in (None, name)]
        return rows({"x": "text", column: "text", "n": "integer"}, *[["a", name, 5] for name in shown])

    return answered


def charts(stand_in: StandIn, **about: Any) -> str:
    bar = {"kind": "bar", "bar": ["n"], "by": "x", "color": "status"}
    line = {"kind": "area", "area": ["n"], "by": "x", "color": "status", "stack": "sum"}
    donut = {"kind": "donut", "donut": "n", "by": "status"}
    return stand_in.show(
        [
            bar | {"answer": answer("status", ["Won", "Lost", "Open", "Stalled"])},
            donut | {"answer": answer("status", ["Nurture", "Open", "Churned", "Lost", "Won"])},
            line | {"answer": answer("status", ["Basic", "Churned", "Won"])},
        ],
        controls=[STATUS],
        **about,
    )


async def legend(page: Page) -> dict[str, str]:
    found: dict[str, str] = await page.evaluate(LEGEND)
    return found


async def _quiet(page: Page, count: int) -> None:
    async def there() -> bool:
        return len(await legend(page)) == count

    await until(there)
    # Names that change their colour are drawn in the next task, by the clock of the page, which may be busy.
    await page.evaluate("new Promise((resolve) => setTimeout(resolve, 50))")


async def test_loads_filters_and_reloads_look_alike(stand_in: StandIn, visit: Visit) -> None:
    """Whichever panel comes first. One name has one colour in a bar, a donut and an area; a filter to one name keeps
    its colour, also after a reload, and so does the way back. Red when a lone series took the accent, when a name was
    coloured by arrival, and when a reload knew nothing of the names before."""
    found = []
    for first in ("1-1", "1-2", "1-3"):
        address = charts(stand_in)
        stand_in.held.update({"1-1", "1-2", "1-3"} - {first})
        seen = await visit(address, settle=False)
        await seen.page.locator(f"[data-panel='{first}'] .legend-item").first.wait_for()
        stand_in.held.clear()
        await _quiet(seen.page, 12)
        found.append(await legend(seen.page))
    assert found[1:] == found[:1] * 2
    page = seen.page
    before = found[0]
    colors: dict[str, set[str]] = {}
    for name, color in before.items():
        colors.setdefault(name.partition(" ")[2], set()).add(color)
    assert all(len(each) == 1 for each in colors.values()), colors
    assert len({color for each in colors.values() for color in each}) == len(colors) == 7
    for wanted in ("Won", "Lost"):
        await page.get_by_role("searchbox", name="Wanted").fill(wanted)
        await page.get_by_role("searchbox", name="Wanted").press("Enter")
        await page.get_by_role("button", name=f"Remove Wanted: {wanted}").wait_for()
        await come(seen)
        assert await page.evaluate(MARKS) == [*colors[wanted]]
        await page.reload()
        await come(seen)
        assert await page.evaluate(MARKS) == [*colors[wanted]]
    await page.get_by_role("button", name="Reset").click()
    await _quiet(page, 12)
    assert await legend(page) == before
    await page.reload()
    await _quiet(page, 12)
    assert await legend(page) == before


@pytest.mark.parametrize("colors", [{}, {"Damaged": "bad"}])
@pytest.mark.parametrize("dark", [False, True])
async def test_a_dozen_names_can_be_told_apart(
    stand_in: StandIn, visit: Visit, dark: bool, colors: dict[str, str]
) -> None:
    """Twelve products, also beside a colour of the file. Red when a shade came before others that are further from all
    colours, and when the dark palette's orange was almost its red."""
    names = [f"Product {place}" for place in range(12)]
    bar = {"kind": "bar", "bar": ["n"], "by": "x", "color": "product"}
    panels = [bar | {"answer": answer("product", some)} for some in (names[:6], names[6:])]
    seen = await visit(stand_in.show(panels, colors=colors), dark=dark)
    await come(seen)
    await _quiet(seen.page, 12)
    shown = [f"#{bytes(numbers_of(each)).hex()}" for each in (await legend(seen.page)).values()]
    assert min(distance(*pair) for pair in itertools.combinations(shown, 2)) >= 80


@pytest.mark.parametrize("dark", [False, True])
async def test_the_file_s_colours_and_a_palette_can_be_seen(stand_in: StandIn, visit: Visit, dark: bool) -> None:
    """Words, numbers and colours of the file, and a palette on a ground of the host's: each mark has a contrast of 3 to
    it, texts of 4.5. Red when the colours were drawn as they were given: pale yellow on white."""
    file = {"Won": "good", "Lost": "#ffee99", "Open": 2, "Nurture": "#222"}
    theme = {
        "palette": ["#ffd0d0", "#102030", "#00ff00"],
        "background": "#0b1e3f" if dark else "#fff8e8",
        "bad": "#fcc",
    }
    seen = await visit(charts(stand_in, colors=file, theme=theme), dark=dark)
    await come(seen)
    page = seen.page
    await _quiet(page, 12)
    assert seen.console == []
    assert await seen.violations() == []
    found = await legend(page)
    body = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert body == ("rgb(11, 30, 63)" if dark else "rgb(255, 248, 232)")
    ground = [int(each) for each in body[4:-1].split(",")]
    assert min(contrast([int(part) for part in each[4:-1].split(",")], ground) for each in found.values()) >= 3
    shown = {key.partition(" ")[2]: color for key, color in found.items()}
    assert len({*shown.values()}) == len(shown)
    texts = await page.evaluate(
        """["--text", "--quiet", "--accent", "--bad"].map((name) => {
            const probe = document.body.appendChild(document.createElement("i"));
            probe.style.color = `var(${name})`;
            return getComputedStyle(probe).color;
        })"""
    )
    assert min(contrast([int(part) for part in each[4:-1].split(",")], ground) for each in texts) >= 4.5


HOSTILE = {
    "equal": {"palette": ["#cc2200"] * 8},
    "pale": {
        "palette": ["#fefefe", "#fdfdf0", "#f0fdfd", "#fff"],
        "accent": "#ffffff",
        "good": "#fff",
        "bad": "#fffffe",
    },
    "as the ground": {
        "background": "#203040",
        "surface": "#203040",
        "palette": ["#203040", "#213141"],
        "accent": "#203040",
    },
    "good is bad": {"good": "#884400", "bad": "#884400", "palette": ["#884400"]},
}


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("theme", HOSTILE.values(), ids=HOSTILE)
async def test_any_palette_can_be_read_and_told_apart(
    stand_in: StandIn, visit: Visit, theme: Message, dark: bool
) -> None:
    """Equal, pale, or those of the ground: the names of a chart have colours of their own, each with a contrast of 3,
    and texts and their accents 4.5. Red when equal colours of a palette were two."""
    seen = await visit(charts(stand_in, theme=theme), dark=dark)
    await come(seen)
    await _quiet(seen.page, 12)
    found = await legend(seen.page)
    ground = await parts_of(seen.page, "getComputedStyle(document.body).backgroundColor")
    for panel in ("1-1", "1-2", "1-3"):
        shown = [color for key, color in found.items() if key.startswith(panel)]
        assert len({*shown}) == len(shown), shown
        assert min(contrast(numbers_of(color), ground) for color in shown) >= 3
    for token in ("text", "quiet", "accent", "good", "warn", "bad"):
        script = f"""(() => {{ const probe = document.body.appendChild(document.createElement("i"));
            probe.style.color = "var(--{token})"; return getComputedStyle(probe).color; }})()"""
        assert contrast(await parts_of(seen.page, script), ground) >= 4.5, token


async def parts_of(page: Page, script: str) -> list[int]:
    return numbers_of(await page.evaluate(script))


def numbers_of(color: str) -> list[int]:
    return [int(part) for part in color[4:-1].split(",")]


def contrast(one: list[int], other: list[int]) -> float:
    def luminance(parts: list[int]) -> float:
        shares = [part / 255 for part in parts]
        red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in shares)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)
