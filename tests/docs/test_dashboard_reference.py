"""The reference of panels and controls: its tables are those of the key tables, and its examples work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.dashboard_reference import CONTROLS_PAGE, PAGES, PANELS_PAGE, current, tables
from scripts.reference_pictures import files
from tenantry import DashboardFolder, DataSources, Resolver
from tenantry.cli.dashboards_check import DashboardCheck
from tenantry.cli.dashboards_serve import sample_group
from tenantry.dashboards.definition.controls import CONTROL_KEYS
from tenantry.dashboards.definition.model import PanelKind

WRITE_THEM = "write them again: python -m scripts.dashboard_reference"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_tables_are_current(page: Path) -> None:
    """Red when a key is added, or its description changed, and the page is not written again."""
    text = page.read_text("utf-8")
    assert text == current(text), WRITE_THEM


def test_each_kind_has_a_section_a_picture_and_its_keys() -> None:
    """Red when a kind is added in silence."""
    panels, controls = (page.read_text("utf-8") for page in (PANELS_PAGE, CONTROLS_PAGE))
    assert re.findall(r"^## (\w+)$", panels, re.MULTILINE) == [str(kind) for kind in PanelKind]
    assert re.findall(r"^## (\w+)$", controls, re.MULTILINE) == [*CONTROL_KEYS]
    shown = re.findall(r"^!\[.+\]\((images/.+)\)$", panels + controls, re.MULTILINE)
    assert shown == [
        *(f"images/panel-{kind}.png" for kind in PanelKind),
        *(f"images/control-{kind}.png" for kind in CONTROL_KEYS),
    ]
    assert [image for image in shown if not (PANELS_PAGE.parent / image).is_file()] == []
    assert sorted(re.findall(r"<!-- keys of (.+) -->", panels + controls)) == sorted(tables())


async def test_the_examples_work(tmp_path: Path) -> None:
    """Each is a dashboard of its section's kind, and an engine finds each column. Red when an example names a key, a
    query or a column that does not exist."""
    for name, text in files().items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    dashboards = tmp_path / "dashboards"
    read = DashboardFolder(dashboards)
    for kind in PanelKind:
        assert kind in {panel.kind for panel in read[f"panel-{kind}"].dashboard.panels}
    assert {f"control-{kind}" for kind in CONTROL_KEYS} <= {*read}
    store, keys, find = sample_group(dashboards, {}, None)()
    check = DashboardCheck(dashboards)
    resolver = Resolver(store, keys=keys)
    async with DataSources(store, keys=keys) as sources:
        await check.explain(store, await resolver.resolve((await find()).token), sources)
    await resolver.aclose()
    found = [each for _, each in check.of_queries() if each.code != "unused-control"]  # no query reads the examples
    assert found == []
    engines = check.run().engines
    assert engines is not None
    assert len(engines.explained) == len({name for name in files() if name.startswith("queries/")}) - 1  # no fragment
