"""The queries of an editor's folder, with unsaved texts in place of files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tenantry.editor import drafts
from tenantry.editor.drafts import QueryDrafts, query_name
from tests.dashboards.served import write_files


def test_an_unsaved_text_is_included_in_place_of_its_file(tmp_path: Path) -> None:
    """Red when DraftedQueries._read ignores drafts."""
    write_files(tmp_path, {"queries/open.sql": "state = 'open'", "dashboards/a.yaml": ""})
    queries = QueryDrafts(tmp_path / "dashboards")
    text = "select 1 as a from t where true and ({{> open }})"
    saved = queries.with_drafts({})
    assert "'open'" in saved.typed("q", "queries/q.sql", text, "postgresql").bind({}).sql
    drafted = queries.with_drafts({"queries/open.sql": "state = 'new'", "dashboards/a.yaml": "x"})
    assert "'new'" in drafted.typed("q", "queries/q.sql", text, "postgresql").bind({}).sql


def test_compiled_queries_are_kept_until_a_file_changes(tmp_path: Path) -> None:
    """Red when DraftedQueries.is_current compares nothing, or when with_drafts keeps nothing.
    The folder of the queries may move."""
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
    (tmp_path / "dashboards").mkdir()
    (tmp_path / "queries").rename(tmp_path / "dashboards/queries")
    write_files(tmp_path, {"dashboards/queries/b.sql": "select 44 as a"})
    assert queries.with_drafts({})["b"].text == "select 44 as a"


def test_only_query_files_of_the_folder_have_names(tmp_path: Path) -> None:
    """Red when query_name does not check the name, or the folder."""
    write_files(tmp_path, {"queries/a.sql": "select 1", "secret.sql": "select 2"})
    queries = QueryDrafts(tmp_path / "dashboards")
    assert query_name("queries/sales/by_day.sql") == "sales/by_day"
    for path in ("queries/../secret.sql", "secret.sql", "queries/a.yaml", "queries", "other/a.sql", "queries/.a.sql"):
        assert query_name(path) is None
    assert queries.with_drafts({}).get("../secret") is None


OVERVIEW = """title: A
schema: flights
controls:
  period: {range: last-30-days}
  kind: {choices: [a, b], default: a}
rows:
  - {line: n, by: day, query: by_day}
"""
BY_DAY = "select day, count(*) as n from t where {{ params.period | within(day) }} and ({{> kinds }}) group by day"
KINDS = "kind = {{ params.kind }}"
FILES = {"queries/by_day.sql": BY_DAY, "queries/kinds.sql": KINDS, "queries/alone.sql": BY_DAY}


def test_a_query_has_the_controls_of_the_dashboards_that_use_it(tmp_path: Path) -> None:
    """Red when DashboardUses looks only at panels of this name, and when ``typed`` declares nothing."""
    write_files(tmp_path, FILES | {"dashboards/overview.yaml": OVERVIEW, "dashboards/z.yaml": OVERVIEW})
    queries = QueryDrafts(tmp_path / "dashboards")

    def names(path: str) -> list[str]:
        return [each.name for each in queries.dashboards(path, {})]

    assert names("queries/by_day.sql") == ["overview", "z"]
    assert names("queries/kinds.sql") == ["overview", "z"]  # by_day includes it
    assert names("queries/alone.sql") == names("dashboards/z.yaml") == []
    query = queries.typed("queries/by_day.sql", BY_DAY, {}, dialect="sqlite")
    assert {name: each.kind for name, each in query.parameters.items()} == {"period": "date range", "kind": "choice"}
    assert query.name == "by_day"
    query.check()


def test_the_named_dashboard_counts_and_its_draft(tmp_path: Path) -> None:
    """Red when ``dashboard`` is ignored, when drafts of dashboards are, and when a changed file is not read again."""
    write_files(tmp_path, FILES | {"dashboards/a.yaml": OVERVIEW, "dashboards/b.yaml": OVERVIEW})
    queries = QueryDrafts(tmp_path / "dashboards")
    path = "queries/by_day.sql"

    def default(dashboard: str | None, drafts: dict[str, str]) -> str:
        return str(queries.typed(path, BY_DAY, drafts, dashboard=dashboard).parameters["kind"].default)

    assert default(None, {}) == default("unknown", {}) == "a"
    drafts = {"dashboards/b.yaml": OVERVIEW.replace("default: a", "default: b")}
    assert (default("b", drafts), default("a", drafts), default("b", {})) == ("b", "a", "a")
    write_files(
        tmp_path, {"dashboards/a.yaml": OVERVIEW.replace("choices: [a, b], default: a", "choices: [cc], default: cc")}
    )
    assert default("a", {}) == "cc"
    write_files(tmp_path, {"dashboards/a.yaml": "title: ["})
    assert [each.name for each in queries.dashboards(path, {})] == ["b"]


def test_a_query_with_its_own_declarations_keeps_them(tmp_path: Path) -> None:
    """Red when declared_by redeclares the parameters of a header."""
    write_files(tmp_path, FILES | {"dashboards/a.yaml": OVERVIEW})
    own = "/* ---\nparams: {kind: {type: text, default: z}}\n--- */\nselect {{ params.kind }} as a"
    query = QueryDrafts(tmp_path / "dashboards").typed("queries/by_day.sql", own, {})
    assert query.parameters["kind"].default == "z"


def test_another_thread_may_read_a_file_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state of the file that it reads is added during the comparison. Red when is_current iterates over the dict
    itself."""
    write_files(tmp_path, {"queries/a.sql": "select 1 as a", "queries/b.sql": "select 2 as a"})
    kept = QueryDrafts(tmp_path / "dashboards").with_drafts({})
    assert kept["a"].text == "select 1 as a"
    state_of = drafts._state

    def state_while_another_reads(file: Path) -> object:
        monkeypatch.undo()
        assert kept["b"].text == "select 2 as a"
        return state_of(file)

    monkeypatch.setattr(drafts, "_state", state_while_another_reads)
    assert kept.is_current()


def test_only_a_file_is_a_query(tmp_path: Path) -> None:
    """Red when anything is opened: a folder is an error, and the reader of a pipe waits for ever."""
    (tmp_path / "queries/folder.sql").mkdir(parents=True)
    os.mkfifo(tmp_path / "queries/pipe.sql")
    for name in ("folder", "pipe"):
        assert name not in QueryDrafts(tmp_path).with_drafts({})
