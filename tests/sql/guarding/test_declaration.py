"""Declarations of tables: what is read, what is refused and where, and that equal ones are equal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from engines.json_schema import validator
from tenantry.errors import TemplateError
from tenantry.sql import SQLTemplate
from tenantry.sql.guarding import InvalidTables, read_tables, read_tables_file, tables_schema

WHOLE: dict[str, Any] = {
    "tables": {
        "orders": "customer_id",
        "main.customers": "id",
        '"Order Items"': {"order_id": "orders.id"},
        "invoices": {"erp_id": "{{ user_group.properties.erp }}", "region": "{{user_group.properties.region}}"},
        "visits": {"site": "in {{ user_group.properties.sites }}"},
        "notes": "owner = {{ user_group.id }} and not hidden",
        "countries": "shared",
    },
    "functions": ["my_function", "stats.rate"],
    "guard": "required",
}


def test_a_declaration_is_equal_by_value() -> None:
    """It becomes a part of cache keys. Red when ``file`` is compared too."""
    tables = read_tables(WHOLE, file="tables.yaml")
    again = read_tables(tables.as_json())
    assert (again, hash(again)) == (tables, hash(tables))
    assert again != read_tables({"tables": {"orders": "customer_id"}})
    assert tables.required
    assert tables.functions == ("my_function", "stats.rate")
    assert len(tables.entries) == 7
    assert read_tables({}).entries == ()


REFUSED: list[tuple[Any, tuple[str, ...], str]] = [
    ([], (), "must be an object"),
    ({"tabels": {}}, ("tabels",), "is not a key"),
    ({"tables": []}, ("tables",), "must be an object"),
    ({"tables": {"a b": "id"}}, ("tables", "a b"), "is not the name of a table"),
    ({"tables": {"a": ""}}, ("tables", "a"), "is not a rule"),
    ({"tables": {"a": None}}, ("tables", "a"), "is not a rule"),
    ({"tables": {"a": {}}}, ("tables", "a"), "is not a rule"),
    ({"tables": {"a": {"x.y": "{{ z }}"}}}, ("tables", "a", "x.y"), "is not the name of a column"),
    ({"tables": {"a": {"x": 1}}}, ("tables", "a", "x"), "is neither a value of the group"),
    ({"tables": {"a": {"x": "y"}}}, ("tables", "a", "x"), "is neither a value of the group"),
    ({"tables": {"a": {"x": "{{ y }} or 1 = 1.0"}}}, ("tables", "a", "x"), "is neither a value of the group"),
    ({"tables": {"a": {"x": "b.id"}}}, ("tables", "a", "x"), "there is no table b"),
    ({"tables": {"a": {"x": "b.id"}, "b": "shared"}}, ("tables", "a", "x"), "b is shared"),
    ({"tables": {"a": "x = {{ params.y }}"}}, ("tables", "a"), "params.y is a value that a viewer sends"),
    ({"tables": {"a": {"x": "{{ params.y }}"}}}, ("tables", "a"), "params.y is a value that a viewer sends"),
    ({"tables": {"a": {"x": "{{ region }}"}}}, ("tables", "a"), "region is a variable that the program passes"),
    (
        {"tables": {"a": {"x": "{{ user_group.propertys.y }}"}}},
        ("tables", "a"),
        "propertys.y is not a value of a group",
    ),
    ({"tables": {"a": {"x": "{{ user_group.properties }}"}}}, ("tables", "a"), "is not a value of a group"),
    ({"tables": {"a": {"x": "b.id"}, "b": {"y": "a.id"}}}, ("tables", "a"), "reads the table itself: a → b → a"),
    ({"tables": {"c": "id", "a": "x in (select id from b)", "b": {"y": "a.id"}}}, ("tables", "a"), "itself: a → b → a"),
    ({"tables": {"a": "x = 'open"}}, ("tables", "a"), "this string has no end"),
    ({"tables": {"a": "x = {{ y }} [[ and z = {{ y }} ]]"}}, ("tables", "a"), "y is in an optional clause"),
    ({"functions": "f"}, ("functions",), "must be a list"),
    ({"functions": ["f", "g()"]}, ("functions", "1"), "must be the name of a function"),
    ({"guard": "off"}, ("guard",), "must be required"),
]


@pytest.mark.parametrize(("value", "keys", "problem"), REFUSED, ids=[str(value) for value, *_ in REFUSED])
def test_a_malformed_declaration_names_the_key(value: Any, keys: tuple[str, ...], problem: str) -> None:
    """Red with a check taken out."""
    with pytest.raises(InvalidTables) as caught:
        read_tables(value, file="tables.yaml")
    assert caught.value.keys == keys
    assert problem in caught.value.problem
    assert str(caught.value).startswith("tables.yaml: ")
    assert "\n  fix: " in str(caught.value)


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("user_group.propertys.erp", "user_group.properties.erp"),
        ("user_group.erp", "user_group.properties.erp"),
        ("user_group.nam", "user_group.name"),
        ("user_group.properties", "user_group.properties.NAME"),
    ],
)
def test_a_wrong_field_of_the_group_has_a_suggestion(path: str, meant: str) -> None:
    """What a group has is accepted. Red without the check: such a list was stored, and then no query ran."""
    with pytest.raises(InvalidTables) as caught:
        read_tables({"tables": {"orders": f"erp = {{{{ {path} }}}}"}})
    assert caught.value.fix.startswith(f"did you mean {meant}? ")
    for right in ("id", "name", "environment", "properties.erp", "properties.erp.no"):
        read_tables({"tables": {"orders": {"erp": f"{{{{ user_group.{right} }}}}"}}})


def test_a_refusal_says_where_the_list_is_changed() -> None:
    """In its file; that of a data source by a command. Red when the fix said "in the declaration" alone."""
    declared = {"tables": {"orders": "customer_id"}}
    command = "tenantry data-source update NAME --tables FILE"
    for sql in ("select * from days", "select tax_of(id) from orders"):
        for file, has_command in (("", True), ("tables.yaml", False)):
            with pytest.raises(TemplateError) as caught:
                SQLTemplate(sql, "sqlite").guarded(read_tables(declared, file=file)).check()
            assert (command in caught.value.fix) is has_command
            assert file in caught.value.fix


def test_a_table_that_is_declared_in_a_schema_is_named() -> None:
    """And the other way round. Red when the fix was only to declare it again."""
    for declared, asked in (("main.trips", "trips"), ("trips", "main.trips")):
        tables = read_tables({"tables": {declared: "shared"}})
        with pytest.raises(TemplateError) as caught:
            SQLTemplate(f"select * from {asked}", "sqlite").guarded(tables).check()
        assert caught.value.fix.startswith(f"write {declared}, which is declared; or add {asked} to `tables` ")


def test_a_file_is_read_with_places(tmp_path: Path) -> None:
    """An error has line, column and caret. Red with the offsets left out."""
    file = tmp_path / "tables.yaml"
    file.write_text("# who may see what\ntables:\n  orders: customer_id\n  visits:\n    site: in\n", "utf-8")
    with pytest.raises(TemplateError) as caught:
        read_tables_file(file)
    assert caught.value.location is not None
    assert (caught.value.location.line, caught.value.location.column) == (5, 5)
    assert "tables.visits.site: is neither a value of the group" in str(caught.value)
    file.write_text("tables:\n  orders: customer_id\nfunctions: [a, 'b c']\n", "utf-8")
    with pytest.raises(TemplateError, match=r"tables\.yaml:3:16: functions\.1: must be"):
        read_tables_file(file)
    file.write_text("tables: {}\n", "utf-8")
    assert read_tables_file(file) == read_tables({"tables": {}})
    file.write_text("tables:\n  orders: customer_id\n", "utf-8")
    assert read_tables_file(file) == read_tables({"tables": {"orders": "customer_id"}})


def test_the_schema_agrees_with_the_reader() -> None:
    """It accepts what is read, and refuses each malformed shape. Red with ``additionalProperties`` taken out."""
    checker = validator(tables_schema())
    assert checker.is_valid(WHOLE)
    of_content = {"there is no table b", "b is shared", "this string has no end", "y is in an optional clause"}
    for value, _, problem in REFUSED:
        if problem not in of_content and not any(
            word in problem for word in ("viewer", "program", "value of a group", "→")
        ):
            assert not checker.is_valid(value), value


def test_without_sqlglot_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Red with the check taken out of ``read_tables``."""
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(InvalidTables, match=r"pip install 'tenantry\[guard\]'"):
        read_tables({"tables": {"orders": "customer_id"}})
    assert read_tables({"guard": "required"}).required


def test_two_spellings_of_one_table_are_refused() -> None:
    """On the engines where they are one. Red with ``key_of`` replaced by the spelling."""
    tables = read_tables({"tables": {"T": "shared", "t": "tenant"}})
    assert SQLTemplate("select * from T", "mariadb").guarded(tables).guards()[0].why == "shared"
    for dialect in ("sqlite", "duckdb", "postgresql"):
        with pytest.raises(InvalidTables, match="the same table as T"):
            SQLTemplate("select * from T", dialect).guarded(tables).check()


def test_a_condition_that_reads_its_own_table_is_refused() -> None:
    """Also one that only its own dialect can read, when a query is compiled. Red with the list of open tables taken
    out: it does not end."""
    tables = read_tables({"tables": {"a": {"b_id": "b.id"}, "b": "a_id in (select id from `a`)"}})
    with pytest.raises(InvalidTables, match="reads the table itself: a → b → a"):
        SQLTemplate("select * from a", "sqlite").guarded(tables).check()


def test_an_error_names_the_file_of_its_own_declaration() -> None:
    """Red when the guards of an equal declaration of another file are used."""
    for file in ("a/tables.yaml", "b/tables.yaml"):
        tables = read_tables({"tables": {"orders": "customer_id"}}, file=file)
        with pytest.raises(TemplateError, match=f"add x to `tables` in {file}"):
            SQLTemplate("select 1 from x", "sqlite").guarded(tables).check()
