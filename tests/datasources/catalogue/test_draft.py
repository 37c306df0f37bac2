"""The first ``tables.yaml`` that is guessed from a catalogue."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry.datasources.catalogue.draft import draft_tables, guess_tables, tables_yaml, tenant_column
from tenantry.datasources.catalogue.model import Catalogue, CatalogueTable, ForeignKey
from tenantry.sql.header.yaml_reader import read_yaml
from tenantry.sql.source import Source

SHOP = Catalogue(
    (
        CatalogueTable("countries", ("code", "name")),
        CatalogueTable("customers", ("id", "name")),
        CatalogueTable("item_notes", ("item_id", "note")),
        CatalogueTable("order_items", ("id", "order_id", "label")),
        CatalogueTable("orders", ("id", "Customer_ID", "total")),
        CatalogueTable("recent", ("id", "customer_id"), is_view=True),
        CatalogueTable("refunds", ("id", "customer_id", "order_id")),
    ),
    (
        ForeignKey("item_notes", "item_id", "order_items", "id"),
        ForeignKey("order_items", "order_id", "orders", "id"),
        ForeignKey("orders", "Customer_ID", "customers", "id"),
        ForeignKey("refunds", "order_id", "orders", "id"),
    ),
)
DRAFT = """\
# A first list of the tables of warehouse, guessed from its catalogue. Check each line: a wrong
# column shows customers the rows of others, or none. Then save the list as tables.yaml and run:
#   tenantry data-source update warehouse --tables tables.yaml
tables:
  orders: Customer_ID  # a guess: 3 of 7 tables have this column
  recent: customer_id  # a guess: 3 of 7 tables have this column (a view)
  refunds: customer_id  # a guess: 3 of 7 tables have this column
  customers: id  # a guess: orders.Customer_ID refers to it
  order_items: {order_id: orders.id}  # a guess: its foreign key refers to orders
  item_notes: {item_id: order_items.id}  # a guess: its foreign key refers to order_items
  # Queries may not read the tables below until you remove the # and write `shared` or a condition.
  # countries:  # shared or guarded? columns: code, name
"""


def read(text: str) -> Any:
    return read_yaml(Source(text), 0, len(text)).plain()


def test_a_draft_of_a_shop() -> None:
    """Guesses are marked; the table without a guess is a comment."""
    assert draft_tables(SHOP, "warehouse") == DRAFT
    assert read(DRAFT)["tables"]["item_notes"] == {"item_id": "order_items.id"}


def test_nothing_can_be_guessed() -> None:
    """A list of comments alone, which no source takes."""
    text = draft_tables(Catalogue((CatalogueTable("notes", ("id", "text")),)), "x")
    assert read(text) == {"tables": None}
    assert "  # notes:  # shared or guarded? columns: id, text\n" in text


def test_a_name_cannot_leave_its_place() -> None:
    """Neither a comment nor a string ends where a name has a line break. Red when names are written as they are."""
    names = ("a\nevil: shared", "b: c", "yes", "d\x1b[2J", "1", "{e}", '"two words"')
    catalogue = Catalogue(
        (
            *(CatalogueTable(name, ("tenant_id",)) for name in names),
            CatalogueTable("x\ny: shared", ("f\ng: shared",)),
            CatalogueTable("h\ni: shared", ("tenant_id",), is_declarable=False),
        )
    )
    text = draft_tables(catalogue, "my source\nz: shared")
    assert read(text) == {"tables": dict.fromkeys(names, "tenant_id")}
    assert "\x1b" not in text
    assert '  # "h\\ni: shared" cannot be declared: its name has' in text


def test_a_quoted_column_is_found_by_its_name() -> None:
    """Its spelling stays. Red when the quotes count as letters of the name."""
    tables = (CatalogueTable("a", ('"Tenant_ID"',)), CatalogueTable("b", ("tenant_id",)))
    assert {name: guess.entry for name, guess in guess_tables(Catalogue(tables)).items()} == {
        "a": '"Tenant_ID"',
        "b": "tenant_id",
    }


def test_foreign_keys_in_a_circle_end() -> None:
    """And a key to its own table guesses nothing."""
    keys = (ForeignKey("a", "b_id", "b", "id"), ForeignKey("b", "a_id", "a", "id"), ForeignKey("c", "up", "c", "id"))
    tables = tuple(CatalogueTable(name, ("id",)) for name in "abc")
    assert guess_tables(Catalogue((*tables, CatalogueTable("d", ("tenant_id",))), keys)).keys() == {"d"}


def test_a_parent_without_a_foreign_key_is_guessed_by_its_name() -> None:
    tables = (CatalogueTable("accounts", ("id",)), CatalogueTable("visits", ("account_id",)))
    assert {name: guess.entry for name, guess in guess_tables(Catalogue(tables)).items()} == {
        "visits": "account_id",
        "accounts": "id",
    }


@pytest.mark.parametrize(
    ("tables", "column"),
    [
        ([("id", "tenant_id"), ("id", "user_id"), ("id", "user_id")], "tenant_id"),
        ([("id", "user_id"), ("id", "user_id"), ("kind_id",)], "user_id"),
        ([("id", "name"), ("id", "name")], None),
        ([("user_id",), ("kind_id",)], None),
        ([("customer_id",), ("customer_id", "org_id"), ("org_id",), ("ORG_ID",)], "org_id"),
        ([("id", "account"), ("vehicle_id",), ("id",)], None),
        ([("id", "account")], "account"),
        ([("id", "account"), ("account",), ("vehicle_id",)], "account"),
        ([], None),
    ],
)
def test_the_column_that_seems_to_hold_the_tenant(tables: list[tuple[str, ...]], column: str | None) -> None:
    assert tenant_column([CatalogueTable(str(number), each) for number, each in enumerate(tables)]) == column


def test_a_declaration_is_written_as_its_author_would() -> None:
    declaration = {
        "functions": ["my_pure_function"],
        "guard": "required",
        "tables": {
            "orders": "customer_id",
            "order_items": {"order_id": "orders.id"},
            "invoices": {"erp": "{{ user_group.properties.erp }}"},
            "notes": "owner = {{ user_group.id }} and not hidden",
            "Ünï": "shared",
        },
    }
    text = tables_yaml(declaration)
    assert read(text) == declaration
    assert text == (
        "guard: required\n"
        "tables:\n"
        "  orders: customer_id\n"
        "  order_items: {order_id: orders.id}\n"
        '  invoices: {erp: "{{ user_group.properties.erp }}"}\n'
        '  notes: "owner = {{ user_group.id }} and not hidden"\n'
        '  "Ünï": shared\n'
        "functions: [my_pure_function]\n"
    )


@pytest.mark.parametrize("name", ["null", "TRUE", "false", "Yes", "no", "on", "off", "y", "N"])
def test_a_name_that_yaml_reads_otherwise_has_quotes(name: str) -> None:
    """Red when a word is missing: a reader of YAML 1.1 takes it for null or a truth value."""
    assert tables_yaml({"tables": {name: name}}) == f'tables:\n  "{name}": "{name}"\n'
