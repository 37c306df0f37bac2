"""Why a group sees what it sees: the source, the text and the origin of each value, and what differs between two."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tenantry import DashboardFolder, UserGroup
from tenantry.dashboards.explanation import compare_explanations, explain_dashboard, explanation_page
from tenantry.dashboards.explanation.report import comparison_text, explanation_text
from tenantry.datasources import ResultCache
from tenantry.errors import InvalidParameter
from tests.dashboards.served import Site, serve
from tests.datasources.settings import executed

FILES = {
    "dashboards/flights.yaml": """
title: Departures of {{ carrier }} in {{ user_group.name }}
controls:
  period: {range: last-30-days}
  route: {choices: {query: routes}, many: true}
  home: {text: , default: {property: carrier}}
  worst: {number: 100}
rows:
  - {figure: flights, query: key_figures, title: "{{ motto }}"}
  - {table: routes}
  - {table: {sql: "select 1 as a from flights where carrier = {{ missing }}"}, schema: other}
  - {table: {sql: "select 1 as a from flights where carrier = {{ missing }}"}}
""",
    "queries/key_figures.sql": """/* ---
params: {mine: {type: text, locked: true, default: {property: carrier}}}
--- */
select count(*) as flights from flights
where carrier = {{ carrier }} and carrier = {{ params.mine }} and carrier = {{ params.home }}
and {{ params.period | within(day) }} [[ and route in {{ params.route }} ]] and delay <= {{ params.worst }}
and '{{ user_group.id }}/{{ carrier }}' <> ''""",
    "queries/routes.sql": "select route, count(*) as flights from flights where carrier = {{ carrier }} group by route",
}
FILTERS = {"route": ["A-B", "A-C"], "worst": "7"}


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with serve(tmp_path, FILES, limits={"cache": ResultCache(seconds=600)}) as served:
        yield served


async def explained(site: Site, tmp_path: Path, carrier: str = "HA", **options: Any) -> dict[str, Any]:
    saved = DashboardFolder(tmp_path / "dashboards")["flights"]
    return await explain_dashboard(saved, await group_of(site, carrier), site.sources, **options)


async def group_of(site: Site, carrier: str) -> UserGroup:
    return await site.resolver.resolve(site.tokens[carrier])


def reads(query: dict[str, Any]) -> dict[str, list[str]]:
    """The paths of each placeholder, with the origins of them."""
    return {
        " ".join(each["path"] for each in used["reads"]): [each["origin"] for each in used["reads"]]
        for used in query["placeholders"]
    }


async def test_each_value_has_its_origin(site: Site, tmp_path: Path) -> None:
    """Property, the group itself, default, viewer and clock; also where a default or a locked parameter is a property.
    Red when a default that is a property counts as the author's, and when the clock's is a viewer's."""
    found = await explained(site, tmp_path, filters=FILTERS, values=True)
    assert found["group"] == {"id": "ha", "name": "Acme", "environment": "production", "revision": 1}
    query = found["panels"][0]["queries"][0]
    assert reads(query) == {
        "carrier": ["property"],
        "params.mine": ["property"],
        "params.home": ["property"],
        "params.period.start": ["clock"],
        "params.period.end": ["clock"],
        "params.route": ["viewer"],
        "params.worst": ["viewer"],
        "user_group.id carrier": ["group", "property"],
    }
    by_path = {each["reads"][0]["path"]: each for each in query["placeholders"]}
    assert by_path["carrier"]["value"] == "HA"
    assert by_path["user_group.id"]["value"] == "ha/HA"
    assert by_path["params.home"]["reads"][0]["of"] == "carrier"
    period = by_path["params.period.start"]["reads"][0]
    assert (period["of"], period["by"]) == ("last 30 days", "default")
    assert (by_path["params.route"]["count"], by_path["params.route"]["value"]) == (2, ["A-B", "A-C"])
    assert query["source"] == {"id": "ds_1", "name": "own_1", "engine": "sqlite"}
    assert query["sql"].count("?") == 9
    plain = await explained(site, tmp_path, filters={"period": {"preset": "this-year"}})
    origins = reads(plain["panels"][0]["queries"][0])
    assert "params.route" not in origins  # its clause is not there
    assert origins["params.worst"] == ["default"]
    range_ = plain["panels"][0]["queries"][0]["placeholders"][3]["reads"][0]
    assert (range_["of"], range_["by"]) == ("this year", "viewer")


async def test_what_cannot_be_asked_says_why(site: Site, tmp_path: Path) -> None:
    """Each query by itself; an operator reads the whole message. A text of the page says what it lacks."""
    found = await explained(site, tmp_path, values=True)
    _, _, unmapped, missing = (panel["queries"] for panel in found["panels"])
    assert unmapped[0]["error"]["code"] == "unmapped_schema"
    assert missing[0]["error"]["code"] == "missing_variable"
    assert "missing" in missing[0]["error"]["message"]
    assert found["panels"][0]["texts"][0]["error"]["code"] == "missing_variable"
    assert [each["reads"][0]["origin"] for each in found["texts"]] == ["property", "group"]


async def test_an_answer_for_a_viewer_has_no_value(site: Site, tmp_path: Path) -> None:
    """Neither the group's nor the viewer's own. Red when a placeholder has its value, and when a text has."""
    group = await group_of(site, "HA")
    whole = await explained(site, tmp_path, filters=FILTERS | {"home": "SECRET-1"}, values=True)
    assert "SECRET-1" in json.dumps(whole)
    found = await explained(site, tmp_path, filters=FILTERS | {"home": "SECRET-1"})
    own = {"id": group.provided_id, "name": group.name}
    written = json.dumps({**found, "group": {**found["group"], **dict.fromkeys(own, "")}})
    for value in ("SECRET-1", '"HA"', "A-B", "ha/HA"):
        assert value not in written


async def test_the_age_is_that_of_the_answer_that_is_kept(site: Site, tmp_path: Path) -> None:
    """None before anybody has asked. Nothing is run for it. Red when the key is made of other values than those that a
    page asks with."""
    before = await explained(site, tmp_path)
    assert before["panels"][1]["queries"][0]["age"] is None
    assert executed(site.sources) == 0
    await site.panels("flights", panels=[{"id": "2-1"}])
    after = await explained(site, tmp_path)
    assert after["panels"][1]["queries"][0]["age"] >= 0
    other = await explained(site, tmp_path, "UA")
    assert other["panels"][1]["queries"][0]["age"] is None


LARGE = {
    "dashboards/flights.yaml": """
title: Large
rows:
  - {line: delay, by: day, query: {sql: "select day, delay from flights where carrier = {{ carrier }} order by day"}}
  - {table: {sql: "select day, route from flights where carrier = {{ carrier }}"}, columns: [day, route], page: 20}
""",
}


async def test_the_age_is_that_of_what_was_made_of_many_rows(tmp_path: Path) -> None:
    """Of a chart and of a table that have more rows than a query may give: the kept answers are of other statements
    around the same query. Of several widths or pages the oldest counts, while it may be given. Red when only the
    query's own answer is looked for: the age of the largest panels was never known."""
    now = [1_800_000_000.0]
    cache = ResultCache(seconds=100, clock=lambda: now[0])
    async with serve(tmp_path, LARGE, limits={"cache": cache, "row_limit": 50}) as site:

        async def ages(carrier: str = "HA") -> list[float | None]:
            panels = (await explained(site, tmp_path, carrier))["panels"]
            return [panel["queries"][0]["age"] for panel in panels]

        for width, page in ((20, 0), (10, 1)):
            shown = await site.panels("flights", panels=[{"id": "1-1", "width": width}, {"id": "2-1", "page": page}])
            assert shown["1-1"]["reduced"]
            assert shown["2-1"]["total"] == 120
            now[0] += 30
        assert await ages() == [60, 60]
        assert await ages("UA") == [None, None]
        now[0] += 60
        assert await ages() == [90, 90]
        now[0] += 60
        assert await ages() == [None, None]


async def test_filters_are_those_of_the_page(site: Site, tmp_path: Path) -> None:
    """What no request can express cannot be asked here either."""
    with pytest.raises(InvalidParameter):
        await explained(site, tmp_path, filters={"mine": "UA"})


async def test_two_groups_differ_in_what_is_theirs(site: Site, tmp_path: Path) -> None:
    """Their properties and nothing else: the same range and the same text. Red when equal values are listed."""
    left, right = [await explained(site, tmp_path, carrier, values=True) for carrier in ("HA", "UA")]
    compared = compare_explanations(left, right)
    assert [group["id"] for group in compared["groups"]] == ["ha", "ua"]
    first = [each["what"] for each in compared["differences"] if each["where"] == "panel 1-1"]
    assert first == [
        f"key_figures: {path}" for path in ("carrier", "params.mine", "params.home", "user_group.id and carrier")
    ]
    carrier = next(each for each in compared["differences"] if each["what"] == "key_figures: carrier")
    assert [each["value"] for each in carrier["values"]] == ["HA", "UA"]
    assert not any(each["where"] == "panel 3-1" for each in compared["differences"])  # the same error, of two groups
    assert compare_explanations(left, left)["differences"] == []
    with pytest.raises(ValueError, match="different dashboards"):
        compare_explanations(left, {**right, "dashboard": "other"})


async def test_a_clause_that_one_of_two_has_is_a_difference(site: Site, tmp_path: Path) -> None:
    """The text differs, and so does what is read."""
    left = await explained(site, tmp_path, values=True)
    right = await explained(site, tmp_path, filters=FILTERS, values=True)
    whats = {each["what"] for each in compare_explanations(left, right)["differences"]}
    assert {"key_figures: SQL", "key_figures: params.route", "key_figures: params.worst"} <= whats


async def test_it_is_written_for_people(site: Site, tmp_path: Path) -> None:
    """As text, and as a page that loads and runs nothing and shows what differs. Red when a value is not escaped."""
    left, right = [await explained(site, tmp_path, carrier, values=True) for carrier in ("HA", "UA")]
    text = explanation_text(left)
    assert "rows: key_figures, of own_1 (ds_1, sqlite)" in text
    assert 'carrier: "HA" (property carrier)' in text
    assert "params.period.start: " in text
    assert "(clock: last 30 days, by default)" in text
    assert "[missing_variable]" in text
    assert 'ua: "UA" (property carrier)' in comparison_text(left, right)
    assert comparison_text(left, left).endswith("there is no difference")
    right["panels"][0]["queries"][0]["placeholders"][0]["value"] = "<script>alert(1)</script>"
    page = explanation_page([left, right])
    assert "default-src 'none'; style-src 'sha256-" in page
    assert "<script" not in page
    assert '<tr class="differs">' in page
    assert "differs" not in explanation_page([left]).partition("</style>")[2]
