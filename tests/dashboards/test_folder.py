"""A folder of dashboards and their queries."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from tenantry.dashboards.folder import DashboardFolder
from tenantry.dashboards.refresh import ChangedFiles, ReloadingFolder
from tenantry.errors import InvalidDashboards


def _write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


SALES = "title: Sales\nrows: [{table: orders}]\n"


ORDERS = {"queries/orders.sql": "select 1"}


@pytest.mark.parametrize("queries", ["queries/orders.sql", "dashboards/queries/orders.sql"])
def test_queries_stand_beside_the_dashboards(tmp_path: Path, queries: str) -> None:
    """In ``queries`` next to the folder or in it; sub-folders are a part of the name; hidden files are ignored."""
    files = {
        queries: "select 1",
        "dashboards/sales.yaml": SALES,
        "dashboards/eu/sales.json": '{"title": "a", "rows": [{"table": "orders"}]}',
        "dashboards/.hidden.yaml": "{",
    }
    folder = DashboardFolder(_write(tmp_path, files) / "dashboards")
    assert list(folder) == ["eu/sales", "sales"]
    template = folder["sales"].queries.panels["1-1"].rows
    assert template is not None
    assert template.text == "select 1"
    assert [*folder.findings] == []


def test_one_error_names_every_file_that_cannot_be_used(tmp_path: Path) -> None:
    """Each with its position. Red when only the first is raised."""
    wrong = {"a.yaml": "title: 1\nrows: []", "b.yaml": "title: b\nrows: [{table: ordres}]", "c.yaml": SALES}
    with pytest.raises(InvalidDashboards) as caught:
        DashboardFolder(_write(tmp_path, ORDERS | wrong))
    places = [str(error.location) for error in caught.value.errors]
    assert places == [f"{tmp_path}/a.yaml:1:8", f"{tmp_path}/b.yaml:2:16"]


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    """Otherwise the one that is used would be random."""
    with pytest.raises(InvalidDashboards, match=r"are both the dashboard sales"):
        DashboardFolder(_write(tmp_path, ORDERS | {"sales.yaml": SALES, "sales.json": "{}"}))


def test_an_address_holds_what_something_reads_and_nothing_else(tmp_path: Path) -> None:
    """A link may set what is ``settable``; a note names the control that no query reads, and another the parameter that
    only a link sets."""
    text = "title: Sales\ncontrols: {region: {text: }, idle: {text: }}\nrows: [{table: orders}]\n"
    query = "select 1 [[ where r = {{ params.region }} and s = {{ params.s }} ]]"
    folder = DashboardFolder(_write(tmp_path, {"queries/orders.sql": query, "sales.yaml": text}))
    assert folder["sales"].settable == {"region", "s", "idle"}
    (file, note), (query_file, unset) = folder.findings
    assert (file, note.line, note.column) == (f"{tmp_path}/sales.yaml", 2, 30)
    assert note.message == "no query reads params.idle, so this control changes nothing"
    assert (query_file, unset.line, unset.column) == (f"{tmp_path}/queries/orders.sql", 1, 51)
    assert unset.message == "no control of the dashboard sales sets params.s"


def test_a_query_may_read_a_parameter_for_another_dashboard(tmp_path: Path) -> None:
    """Its control, or a click that opens it, is enough for all dashboards with this query. Red when only the own
    controls counted; and when a dashboard that was read alone, as in the editor, reported the controls of others."""
    query = "select 1 as a, 2 as s [[ where r = {{ params.region }} ]] [[ and s = {{ params.s }} ]]"
    one = "title: One\ncontrols: {region: {text: }}\nrows: [{table: orders}]\n"
    opening = "title: All\nrows: [{bar: a, by: s, query: orders, click: {open: one, with: [s]}}]\n"
    files = {"queries/orders.sql": query, "one.yaml": one, "opening.yaml": opening, "sales.yaml": SALES}
    folder = _write(tmp_path, files)
    assert [finding.code for _, finding in DashboardFolder(folder).findings if finding.code != "other-numbers"] == []
    (folder / "opening.yaml").unlink()
    found = [finding.message for _, finding in DashboardFolder(folder).findings]
    assert found == [f"no control of the dashboard {name} sets params.s" for name in ("one", "sales")]
    assert [*DashboardFolder(folder, only="sales").findings] == []


LOCKED = "/* ---\nparams: {region: {type: text, locked: true, default: {property: region}}}\n--- */\n"


def test_a_locked_parameter_is_in_no_address_and_in_no_control(tmp_path: Path) -> None:
    """It is a property of the group. Red when it is settable: a request could set it."""
    files = {"queries/orders.sql": LOCKED + "select 1 where r = {{ params.region }}", "sales.yaml": SALES}
    folder = DashboardFolder(_write(tmp_path, files))
    assert folder["sales"].settable == set()
    (tmp_path / "sales.yaml").write_text("title: a\ncontrols:\n  region: {text: }\nrows: [{table: orders}]\n")
    with pytest.raises(InvalidDashboards, match=r"sales\.yaml:3:3: params\.region is locked in a query"):
        DashboardFolder(tmp_path)


def test_a_click_on_a_locked_parameter_is_refused(tmp_path: Path) -> None:
    """Each such click would be refused as an unknown filter. Red when only controls are checked."""
    files = {
        "queries/orders.sql": LOCKED + "select 1 where r = {{ params.region }}",
        "sales.yaml": "title: a\nrows: [{table: orders, click: {filter: region}}]\n",
    }
    with pytest.raises(InvalidDashboards, match=r"sales\.yaml:2:31: params\.region is locked .* so no click can"):
        DashboardFolder(_write(tmp_path, files))


def test_the_locks_of_an_editor_are_no_files(tmp_path: Path) -> None:
    """Emacs writes ``.#sales.yaml``, a dangling link, while a file is changed. Red when the size of each file is read:
    every page was an error until the file was saved."""
    folder = ReloadingFolder(_write(tmp_path, ORDERS | {"sales.yaml": SALES}))
    (tmp_path / ".#sales.yaml").symlink_to("author@host.1:2")
    (tmp_path / "queries/.#orders.sql").symlink_to("author@host.1:2")
    assert list(folder) == ["sales"]


@pytest.mark.parametrize("name", ["sales.yaml", "queries/orders.sql"])
def test_a_changed_file_is_another_revision(tmp_path: Path, name: str) -> None:
    """The page of an author then loads anew. Red when no file counts: it would show the old one for ever."""
    folder = ReloadingFolder(_write(tmp_path, ORDERS | {"sales.yaml": SALES}))
    before = folder.revision
    assert folder.revision == before
    (tmp_path / name).write_text((tmp_path / name).read_text() + "\n")
    assert folder.revision != before


def test_valid_dashboards_stay_while_a_file_is_invalid(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """For viewers of files that authors change. Red when the invalid file is raised, and when the change that corrects
    it is not read. A folder that is invalid from the beginning raises."""
    folder = ReloadingFolder(_write(tmp_path, ORDERS | {"sales.yaml": SALES}), keep_valid=True)
    assert list(folder) == ["sales"]
    _write(tmp_path, {"sales.yaml": "title: 1", "more.yaml": SALES})
    assert (list(folder), list(folder)) == (["sales"], ["sales"])
    (record,) = caplog.records
    assert "sales.yaml" in record.getMessage()
    _write(tmp_path, {"sales.yaml": SALES.replace("Sales", "All sales")})
    assert list(folder) == ["more", "sales"]
    with pytest.raises(InvalidDashboards):
        list(ReloadingFolder(_write(tmp_path, {"sales.yaml": "title: 1"}), keep_valid=True))


def test_many_open_pages_look_at_the_files_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when each of a thousand viewers reads the folder three times a second."""
    moment, looks = [100.0], 0
    monkeypatch.setattr("tenantry.dashboards.refresh.time.monotonic", lambda: moment[0])
    folder = ReloadingFolder(_write(tmp_path, ORDERS | {"sales.yaml": SALES}))
    look = folder.stamp

    def counted() -> object:
        nonlocal looks
        looks += 1
        return look()

    monkeypatch.setattr(folder, "stamp", counted)
    first = {folder.recent_revision for _ in range(1_000)}
    assert looks == 1
    _write(tmp_path, {"sales.yaml": SALES.replace("Sales", "All sales")})
    moment[0] += 1
    assert {folder.recent_revision for _ in range(1_000)}.isdisjoint(first)
    assert looks == 2


def test_too_many_dashboards_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red without the limit."""
    monkeypatch.setattr("tenantry.dashboards.folder.MAX_FILES", 1)
    folder = _write(tmp_path, ORDERS | {"sales.yaml": SALES})
    assert list(DashboardFolder(folder)) == ["sales"]
    _write(folder, {"more.yaml": SALES})
    with pytest.raises(InvalidDashboards, match="holds 2 dashboards, and 1 are allowed"):
        DashboardFolder(folder)


def test_an_open_response_says_which_files_the_page_shows(tmp_path: Path) -> None:
    """At its beginning, and once after a change. Red when the beginning is left out: the page keeps the old rows."""
    folder, none = ReloadingFolder(_write(tmp_path, ORDERS)), cast("Any", None)
    changes = ChangedFiles(none, none, {}, folder, "before")
    assert changes.first == {"revision": "before"}
    assert [changes.idle_message(), changes.idle_message()] == [{"revision": folder.revision}, {}]
