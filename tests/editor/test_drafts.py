"""The queries of an editor's folder, with unsaved texts in place of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.editor.drafts import QueryDrafts, workspace_root
from tests.dashboards.served import write_files


@pytest.mark.parametrize(
    ("dashboards", "files", "root"),
    [
        ("dashboards", {"queries/a.sql": "select 1 as a"}, "."),
        ("dashboards", {"dashboards/queries/a.sql": "select 1 as a"}, "dashboards"),
        ("reports", {"reports/queries/a.sql": "select 1 as a"}, "reports"),
        ("dashboards", {"dashboards/a.yaml": "title: A"}, "."),
    ],
)
def test_the_root_is_the_folder_that_holds_the_queries(
    tmp_path: Path, dashboards: str, files: dict[str, str], root: str
) -> None:
    """Red when default_queries looks only inside the folder of the dashboards."""
    write_files(tmp_path, files)
    assert workspace_root(tmp_path / dashboards) == tmp_path / root


def test_an_unsaved_text_is_included_in_place_of_its_file(tmp_path: Path) -> None:
    """Red when DraftedQueries._read ignores drafts."""
    write_files(tmp_path, {"queries/open.sql": "and state = 'open'", "dashboards/a.yaml": ""})
    queries = QueryDrafts(tmp_path / "dashboards")
    text = "select 1 as a from t where true {{> open }}"
    saved = queries.with_drafts({})
    assert "'open'" in saved.typed("q", "queries/q.sql", text, "postgresql").bind({}).sql
    drafted = queries.with_drafts({"queries/open.sql": "and state = 'new'", "dashboards/a.yaml": "x"})
    assert "'new'" in drafted.typed("q", "queries/q.sql", text, "postgresql").bind({}).sql


def test_compiled_queries_are_kept_until_a_file_changes(tmp_path: Path) -> None:
    """Red when DraftedQueries.is_current compares nothing, or when with_drafts keeps nothing."""
    write_files(tmp_path, {"queries/a.sql": "select 1 as a"})
    queries = QueryDrafts(tmp_path / "dashboards")
    kept = queries.with_drafts({})["a"]
    assert queries.with_drafts({})["a"] is kept
    write_files(tmp_path, {"queries/a.sql": "select 2222 as a"})
    assert queries.with_drafts({})["a"].text == "select 2222 as a"
    assert list(queries.with_drafts({})) == ["a"]
    write_files(tmp_path, {"queries/b.sql": "select 3 as a"})
    assert list(queries.with_drafts({"queries/c.sql": "select 4"})) == ["a", "b", "c"]
    assert list(queries.with_drafts({})) == ["a", "b"]


def test_only_query_files_of_the_folder_have_names(tmp_path: Path) -> None:
    """Red when name_of does not check the name, or the folder."""
    write_files(tmp_path, {"queries/a.sql": "select 1", "secret.sql": "select 2"})
    queries = QueryDrafts(tmp_path / "dashboards")
    assert queries.name_of("queries/sales/by_day.sql") == "sales/by_day"
    for path in ("queries/../secret.sql", "secret.sql", "queries/a.yaml", "queries", "other/a.sql", "queries/.a.sql"):
        assert queries.name_of(path) is None
    assert queries.with_drafts({}).get("../secret") is None
