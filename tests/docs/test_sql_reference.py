"""The reference of the SQL language is whole: what the language has, and what the queries of the corpus need, is in a
block or a table that runs. So a reader of these pages alone can write those queries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from tenantry.errors import TemplateError
from tenantry.sql import SQLTemplate
from tenantry.sql.parameters.declared import ParameterType
from tenantry.sql.parameters.definitions import FIELDS
from tests.docs.blocks import blocks
from tests.docs.tables import codes, rows
from tests.sql.wild_spellings import SPELLINGS, Spelling

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [DOCS / f"{name}.md" for name in ("sql", "sql-filters", "sql-parameters", "sql-queries")]
TABLES = {
    "sql": ("What you write", "When a value is absent", "Where a variable may stand"),
    "sql-parameters": ("Types",),
}
"""The tables that test_sql_tables.py runs."""


def _filters() -> list[str]:
    """Every filter, as the language itself lists them."""
    with pytest.raises(TemplateError) as caught:
        SQLTemplate("select {{ x | zzzz }} as v", "postgresql")
    return caught.value.message.rpartition("the filters are ")[2].split(", ")


def _executed() -> str:
    """The visible code of the reference that the tests run."""
    found = [block.text for page in PAGES for block in blocks(page) if not block.hidden]
    for name, headings in TABLES.items():
        for heading in headings:
            found += [code for row in rows(DOCS / f"{name}.md", heading) for cell in row for code in codes(cell)]
    return "\n".join(found)


EXECUTED = _executed()


def test_every_filter_has_a_section_and_an_example() -> None:
    """Red when a filter is added in silence, or when the only example of one is taken out."""
    headings = re.findall(r"^## (.*)$", (DOCS / "sql-filters.md").read_text("utf-8"), re.MULTILINE)
    sections = {name for heading in headings for name in heading.split(", ")}
    assert [each for each in _filters() if each not in sections] == []
    assert [each for each in _filters() if not _uses(EXECUTED, each)] == []


def test_every_type_has_a_row() -> None:
    """Red when a type is added in silence."""
    assert [codes(row[0])[0] for row in rows(DOCS / "sql-parameters.md", "Types")] == [
        str(each) for each in ParameterType
    ]


def test_every_field_of_a_definition_has_a_row() -> None:
    """Red when a field is added in silence."""
    told = [name for row in rows(DOCS / "sql-parameters.md", "What a definition holds") for name in codes(row[0])]
    assert sorted(told) == sorted(FIELDS)


WILD = [(number, each) for number, each in SPELLINGS.items() if isinstance(each, Spelling)]


@pytest.mark.parametrize(("number", "spelling"), WILD, ids=[each.feature for _, each in WILD])
def test_what_a_query_of_the_corpus_needs_is_in_the_reference(number: int, spelling: Spelling) -> None:
    """Each filter, type and field of its spelling, and each form of a tag. Red when an example is taken out."""
    filters = [name for name in _filters() if _uses(spelling.sql, name)]
    assert [name for name in filters if not _uses(EXECUTED, name)] == []
    assert [word for word in _words(spelling) if not re.search(rf"\b{word}\b", EXECUTED)] == []
    forms = [form for form in ("[[ and", "[[ where", "({{> ", "'{{ ", "in ({{ ", ".start }}") if form in spelling.sql]
    assert [form for form in forms if form not in EXECUTED] == [], number


def _words(spelling: Spelling) -> Iterable[str]:
    """The types and the fields of its declared parameters."""
    for definition in spelling.params.values():
        yield from definition
        yield definition["type"]


def _uses(text: str, name: str) -> bool:
    return re.search(rf"\|\s*{name}\b", text) is not None
