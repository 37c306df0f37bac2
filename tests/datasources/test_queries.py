"""QueryFolder: files become queries by name, include each other, and all that are wrong are named at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry import QueryFolder
from tenantry.errors import InvalidQueries
from tenantry.sql import Query, SQLTemplate
from tenantry.sql.source import MAX_TEXT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "active.sql": "select * from orders where region = {{ region }}",
        "sales/by_day.sql": "/* ---\ntitle: By day\n--- */\nselect day, count(*) from ({{> active }}) a group by day",
        "sales/eu/all.sql": "select * from ({{> sales/by_day }}) d",
        "notes.txt": "no query",
        ".git/x.sql": "{{",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_queries_by_name(folder: Path) -> None:
    """With the folders that they are in; what is hidden, and what is no .sql, is left out."""
    queries = QueryFolder(folder)
    assert list(queries) == ["active", "sales/by_day", "sales/eu/all"]
    assert isinstance(queries["active"], Query)
    assert queries["sales/by_day"].title == "By day"
    assert "nothing" not in queries
    assert repr(queries) == f"<QueryFolder '{folder}', 3 queries>"


def test_queries_include_each_other(folder: Path) -> None:
    """Also those that are read after them."""
    bound = QueryFolder(str(folder), "sqlite")["sales/eu/all"].bind({"region": "eu"})
    assert bound.sql == (
        "select * from (select day, count(*) from (select * from orders where region = ?) a group by day) d"
    )
    assert bound.params == ("eu",)


def test_a_folder_is_what_a_template_includes_from(folder: Path) -> None:
    template = SQLTemplate("select count(*) from ({{> active }}) a", fragments=QueryFolder(folder))
    assert template.bind({"region": "eu"}).params == ("eu",)


def test_the_folder_decides_what_is_optional(folder: Path) -> None:
    """It is the program's own."""
    (folder / "active.sql").write_text("/* ---\noptional: [region]\n--- */\nselect 1 [[ where r = {{ region }} ]]")
    (folder / "sales/by_day.sql").unlink()
    (folder / "sales/eu/all.sql").unlink()
    assert QueryFolder(folder)["active"].bind({}).sql.strip() == "select 1"


def test_all_wrong_files_are_named_at_once(folder: Path) -> None:
    """A header, a text, a name, an encoding, a fragment, a size. Red when the first one ends it."""
    (folder / "a.sql").write_text("/* ---\ntitel: x\n--- */")
    (folder / "aa.sql").write_text("select ({{> a }})")  # wrong because of a.sql alone
    (folder / "b.sql").write_text("select {{ x")
    (folder / "my query.sql").write_text("select 1")
    (folder / "c.sql").write_bytes(b"select 1,\n '\xff'")
    (folder / "d.sql").write_text("select ({{> activ }})")
    (folder / "e.sql").write_text("x" * (MAX_TEXT + 1))
    (folder / "f.sql").write_text("x" * (4 * MAX_TEXT + 1))
    with pytest.raises(InvalidQueries) as caught:
        QueryFolder(folder)
    lines = [line for line in caught.value.message.splitlines() if line.startswith(str(folder))]
    assert sorted(line.removeprefix(f"{folder}/").partition(" ")[0] for line in lines) == [
        "a.sql:2:1:",
        "b.sql:1:8:",
        "c.sql:2:3:",
        "d.sql:1:9:",
        "e.sql:",
        "f.sql:",
        "my",
    ]
    assert len(caught.value.errors) == 7
    assert caught.value.location is not None


def test_a_wrong_fragment_names_both_files(folder: Path) -> None:
    (folder / "active.sql").write_text("select * from orders;")
    with pytest.raises(InvalidQueries) as caught:
        QueryFolder(folder)
    assert f"{folder}/active.sql:1:21: a fragment must not end a statement" in caught.value.message
    assert len(caught.value.errors) == 1  # and not one more for each query that includes it
    assert f"included at {folder}/sales/by_day.sql:4:28" in caught.value.message


def test_choices_come_from_a_query_that_is_there(folder: Path) -> None:
    """Red without the check: the control would stay empty."""
    text = "/* ---\nparams:\n  region: {type: text, choices: {query: %s}}\n--- */\nselect {{ params.region }} as v"
    (folder / "regions.sql").write_text("select region from regions")
    (folder / "by.sql").write_text(text % "regions")
    assert QueryFolder(folder)["by"].parameters["region"].choices_query == "regions"
    (folder / "by.sql").write_text(text % "region")
    with pytest.raises(InvalidQueries, match=r"by.sql:3:3: params.region takes its choices from a missing query"):
        QueryFolder(folder)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError, match="is not a folder of query files"):
        QueryFolder(tmp_path / "none")


def test_too_many_queries_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red without the limit, which a wrong folder of a whole disk would reach."""
    monkeypatch.setattr("tenantry.datasources.query_folder.MAX_FILES", 3)
    assert len(QueryFolder(folder)) == 3
    (folder / "more.sql").write_text("select 1")
    with pytest.raises(InvalidQueries, match=r"holds 4 query files; the maximum is 3: use a smaller folder$"):
        QueryFolder(folder)


def test_a_file_that_changes_later(folder: Path) -> None:
    """It is read once."""
    queries = QueryFolder(folder)
    (folder / "active.sql").write_text("select 2")
    assert "orders" in queries["active"].text
    assert QueryFolder(folder)["active"].text == "select 2"
