"""What a source with guarded tables binds: the group's rows, whatever variables the caller passes."""

from __future__ import annotations

import ast
import json
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tenantry
from tenantry.datasources import DataSources
from tenantry.datasources.bound_query import QueryRequest, bind_query
from tenantry.datasources.query_label import QueryLabel
from tenantry.errors import MissingVariable, TemplateError
from tenantry.groups import Record, extend
from tenantry.sql import SQLTemplate
from tests.datasources.conftest import Directory, group
from tests.datasources.guarded.shop import ACME, FORGETFUL, GLOBEX, TABLES, owned, shop

SOURCES = Path(tenantry.__file__).parent
BINDS = {
    "datasources/bound_query.py",
    "datasources/explanation.py",
    "datasources/checks/engine_check.py",
}
"""Files that bind templates of authors for a source. Each calls ``guarded_template``."""
OWN_SQL = {
    "datasources/checks/connection_check.py",  # select 1, and catalogues
    "datasources/checks/session_check.py",  # the session variables of an operator
    "datasources/session.py",
}
NO_SOURCE = {
    "cli/sql.py",  # prints SQL
    "server/uvicorn.py",  # binds a socket
    "sql/binding/binder.py",
    "sql/template.py",
    "testing/contract_bounds.py",  # contracts of drivers
    "testing/contract_driver.py",
    "testing/contract_types.py",
    "testing/cross_tenant_values.py",  # observes
    "testing/engine_case.py",
    "testing/leak_check.py",  # binds without a source
}


def test_each_place_that_binds_a_template() -> None:
    """Whoever binds SQL for a source calls the one function that guards it.

    Red with a call of ``bind`` in another file, and when ``explain_query`` traced the author's template.
    """
    called = {path.relative_to(SOURCES).as_posix(): _calls(path) for path in SOURCES.rglob("*.py")}
    found = {file: names for file, names in called.items() if names & {"bind", "trace"}}
    assert set(found) == BINDS | OWN_SQL | NO_SOURCE
    assert {name for name, names in found.items() if "guarded_template" in names} == BINDS


def _calls(path: Path) -> set[str]:
    calls = (node.func for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.Call))
    return {each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in calls}


@pytest.fixture
def sources(directory: Directory, open_sources: Callable[..., DataSources], tmp_path: Path) -> DataSources:
    directory.add(1, shop(tmp_path / "shop.db"), tables=TABLES)
    return open_sources()


async def test_guards_read_the_group_itself(sources: DataSources) -> None:
    """Also if the variables have no group, or a copy of it with another id. Red when guards read the caller's copy,
    and with MissingVariable when the group was not added."""
    acme = group(main="own_1")
    copies: list[Any] = [
        None,
        {},
        OrderedDict(),
        {"params": {}},
        Record({"params": {}}),
        extend(acme.variables, "params", {"x": 1}),
        {"user_group": {"id": "acme", "environment": "production"}},
        Record({"user_group": {"id": "acme", "environment": "production"}}),
    ]
    for variables in copies:
        assert owned(await sources.fetch(acme, "main", FORGETFUL, variables)) == ACME
    region = "select id, owner from orders where region = {{ wanted }}"
    assert owned(await sources.fetch(acme, "main", region, {"wanted": "eu"})) == {(1, "acme")}
    assert owned(await sources.fetch(group("globex", main="own_1"), "main", FORGETFUL)) == GLOBEX


async def test_guards_read_properties_of_the_group_itself(
    directory: Directory, open_sources: Callable[..., DataSources], tmp_path: Path
) -> None:
    """Red when guards read a copy, of which only the id is compared: globex's rows came."""
    by_property = {"tables": {"orders": {"owner": "{{ user_group.properties.region }}"}}}
    directory.add(1, shop(tmp_path / "shop.db"), tables=json.dumps(by_property))
    copy = {"user_group": {"id": "acme", "environment": "production", "properties": {"region": "globex"}}}
    assert owned(await open_sources().fetch(group(main="own_1"), "main", FORGETFUL, copy)) == ACME


async def test_a_group_without_the_property_of_a_guard(
    directory: Directory, open_sources: Callable[..., DataSources], tmp_path: Path
) -> None:
    by_property = {"tables": {"orders": {"owner": "{{ user_group.properties.erp }}"}}}
    directory.add(1, shop(tmp_path / "shop.db"), tables=json.dumps(by_property))
    with pytest.raises(MissingVariable, match="erp"):
        await open_sources().fetch(group(main="own_1"), "main", FORGETFUL)


async def test_a_table_that_is_not_declared(sources: DataSources) -> None:
    with pytest.raises(TemplateError, match="sqlite_schema"):
        await sources.fetch(group(main="own_1"), "main", "select name from sqlite_schema")


async def test_the_key_of_an_answer_has_the_declaration(
    directory: Directory, open_sources: Callable[..., DataSources], tmp_path: Path
) -> None:
    """Also of a query of a shared table, which has the same SQL. Red when the revision of a source leaves it out."""
    url, acme = shop(tmp_path / "shop.db"), group(main="own_1")
    keys = []
    for tables in ("", json.dumps({"tables": {"orders": "shared"}}), TABLES):
        directory.registered.clear()
        directory.add(1, url, tables=tables)
        keys.append(await open_sources().fingerprint(acme, "main", FORGETFUL))
    assert len(set(keys)) == 3


async def test_groups_do_not_share_answers_of_guarded_tables(sources: DataSources) -> None:
    keys = {await sources.fingerprint(group(name, main="own_1"), "main", FORGETFUL) for name in ("acme", "globex")}
    assert len(keys) == 2


async def test_groups_with_equal_properties_do_not_share_answers(
    directory: Directory, open_sources: Callable[..., DataSources], tmp_path: Path
) -> None:
    """The guard reads the id, which the author's query does not. A guard that reads a property lets them share. Red
    without the bound values in the key."""
    url = shop(tmp_path / "shop.db")
    alike = [replace(group(name, main="own_1"), properties={"region": "eu"}) for name in ("acme", "globex")]
    by_property = json.dumps({"tables": {"orders": {"region": "{{ user_group.properties.region }}"}}})
    for tables, count in ((TABLES, 2), (by_property, 1)):
        directory.registered.clear()
        directory.add(1, url, tables=tables)
        sources = open_sources()
        assert len({await sources.fingerprint(each, "main", FORGETFUL) for each in alike}) == count


async def test_a_template_is_rewritten_once(sources: DataSources, directory: Directory) -> None:
    """For each declaration, however many sources have it. Red when each query guarded its own copy, and when a
    registration that was read again had tables of its own."""
    acme, template = group(main="own_1"), SQLTemplate(FORGETFUL)
    texts = []
    first = directory.registered[0]
    others = [directory.add(number, first.url, tables=TABLES) for number in (2, 3)]
    for registered in (first, *others):
        opened = sources._open_sources.find(registered)
        request = QueryRequest(acme, "main", template, acme.variables, registered, QueryLabel("", "", "", ""))
        texts.append(bind_query(opened, request).sql.sql)
    assert texts[0] is texts[1] is texts[2]
