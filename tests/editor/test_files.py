"""The files of the workspace: which there are, and how they are saved."""

from __future__ import annotations

import asyncio
import errno
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tenantry.editor import EditorAuthor, Right
from tenantry.editor.files import folder_files
from tests.dashboards.served import write_files
from tests.editor.served import ENVIRONMENT, FILES, EditorSite, served_editor

QUERY = "queries/by_day.sql"


async def _saved(site: EditorSite, text: str, path: str = QUERY) -> str:
    """Saves over the file as it is now."""
    revision = (await site.ask("file", path=path))["revision"]
    return str((await site.ask("file/save", path=path, text=text, revision=revision))["revision"])


async def _refused(site: EditorSite, endpoint: str, /, **body: Any) -> tuple[int, str, str]:
    answer = await site.post(endpoint, **body)
    error = answer.json()["error"]
    return answer.status_code, error["code"], error["message"]


async def _paths(site: EditorSite) -> dict[str, str]:
    return {each["path"]: each["kind"] for each in (await site.ask("files"))["files"]}


async def test_dashboards_and_queries_are_listed_with_their_kinds(tmp_path: Path) -> None:
    """Red when the root is the folder of the dashboards, or hidden files and files of other kinds are listed."""
    others = {
        "app.yaml": "secret: 1",
        "queries/notes.txt": "",
        "queries/.hidden.sql": "",
        ".git/config.yaml": "",
        "dashboards/queries.sql": "",
    }
    async with served_editor(tmp_path, FILES | others) as site:
        assert await _paths(site) == {
            "dashboards/flights.yaml": "dashboard",
            "queries/by_day.sql": "query",
            "tables.yaml": "tables",
        }


async def test_queries_inside_the_folder_of_the_dashboards(tmp_path: Path) -> None:
    """Red when Workspace takes the parent as the root whenever the folder is called dashboards, or SavedFiles keeps the
    root that it found at first."""
    files = {"dashboards/flights.yaml": "title: Flights\n", "dashboards/queries/by_day.sql": "select 1\n"}
    async with served_editor(tmp_path, files) as site:
        assert await _paths(site) == {"flights.yaml": "dashboard", "queries/by_day.sql": "query"}
        assert await _saved(site, "select 2\n")
        assert (tmp_path / "dashboards/queries/by_day.sql").read_text() == "select 2\n"
        (tmp_path / "dashboards/queries").rename(tmp_path / "queries")
        assert await _paths(site) == {"dashboards/flights.yaml": "dashboard", "queries/by_day.sql": "query"}
        assert await _saved(site, "select 3\n")
        assert (tmp_path / "queries/by_day.sql").read_text() == "select 3\n"


OUTSIDE = [
    "../secret.yaml",
    "dashboards/../../secret.yaml",
    "/etc/passwd",
    "queries/../app.yaml",
    "app.yaml",
    "queries/.hidden.sql",
    ".git/config.yaml",
    "queries//by_day.sql",
    "queries/by_day.sql/",
    "queries\\..\\app.yaml",
    "queries/a\x00.sql",
    "queries/by_day.txt",
    "queries/x.yaml",
    "dashboards/queries/by_day.sql",
    "dashboards/queries/x.yaml",
    "",
]


@pytest.mark.parametrize("path", OUTSIDE)
async def test_no_other_file_is_read_or_written(tmp_path: Path, path: str) -> None:
    """Red when Workspace.kind joins the path without checking its parts."""
    async with served_editor(tmp_path / "app", FILES | {"app.yaml": "x"}) as site:
        (tmp_path / "secret.yaml").write_text("x")
        before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
        assert (await site.post("file", path=path)).status_code == 422
        assert (await site.post("file/head", path=path)).status_code == 422
        assert (await site.post("file/save", path=path, text="y", revision=None)).status_code == 422
        revision = (await site.ask("file", path=QUERY))["revision"]
        assert (await site.post("file/rename", path=QUERY, to=path, revision=revision)).status_code == 422
        assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


async def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    """Red when files are opened without O_NOFOLLOW, or folders below the root are opened by their whole path."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/x.sql").write_text("secret")
    async with served_editor(tmp_path / "app") as site:
        (tmp_path / "app/queries/link.sql").symlink_to(tmp_path / "outside/x.sql")
        (tmp_path / "app/queries/folder").symlink_to(tmp_path / "outside")
        assert "queries/by_day.sql" in (paths := await _paths(site))
        assert not {"queries/link.sql", "queries/folder/x.sql"} & paths.keys()
        for path in ("queries/link.sql", "queries/folder/x.sql"):
            status, code, message = await _refused(site, "file", path=path)
            assert (status, code) == (422, "unusable_file")
            assert "symbolic link" in message
            assert (await _refused(site, "file/save", path=path, text="y", revision=None))[1] == "unusable_file"
        assert (await _refused(site, "file/save", path="queries/folder/new.sql", text="y", revision=None))[0] == 422
        assert (tmp_path / "outside/x.sql").read_text() == "secret"
        assert [each.name for each in (tmp_path / "outside").iterdir()] == ["x.sql"]
        as_ua = {"environment": ENVIRONMENT, "group": "ua", "path": QUERY}
        assert (await site.ask("variables", **as_ua, text="select 1"))["fragments"] == []
        for name, link in (("link", "queries/link.sql"), ("folder/x", "queries/folder")):
            for endpoint in ("meaning", "run", "plan"):
                answer = await site.post(endpoint, **as_ua, text=f"select {{{{> {name} }}}} as x")
                assert f"{link} is a symbolic link" in answer.text, endpoint
                assert "secret" not in answer.text


async def test_linked_dashboards_schemas_and_tables_are_not_read(tmp_path: Path) -> None:
    """Red when DashboardUses, a check, find_schema or Catalogues follows a symbolic link."""
    linked = {
        "dashboards/x.yaml": "title: Secret\nrows:\n  - {table: by_secret}\n",
        "queries/schemas/production.json": '{"type": "object", "properties": {"secret": {"type": "string"}}}',
        "tables.yaml": "tables:\n  flights: shared\n",
    }
    typed = {"path": "dashboards/a.yaml", "text": "title: A\nrows:\n  - {table: by_day, click: {open: x}}\n"}
    query = {"path": "queries/by_secret.sql", "text": "select 1 as a"}
    files = {"queries/by_day.sql": FILES[QUERY], query["path"]: query["text"], typed["path"]: typed["text"]}
    write_files(tmp_path / "outside", linked)
    async with served_editor(tmp_path / "app", files) as site:
        as_ua = {"environment": ENVIRONMENT, "group": "ua"}
        catalogue = await site.ask("catalogue", **as_ua)
        for path in linked:
            (tmp_path / "app" / path).parent.mkdir(exist_ok=True)
            (tmp_path / "app" / path).symlink_to(tmp_path / "outside" / path)
        found = await site.ask("variables", **as_ua, **query)
        assert found["dashboards"] == []
        assert "user_group.properties.secret" not in {each["path"] for each in found["variables"]}
        assert (await site.ask("catalogue", **as_ua))["tables"] == catalogue["tables"]
        (finding,) = (await site.ask("check", **as_ua, **typed))["findings"]
        assert "there is no dashboard x" in finding["message"]


async def test_a_dashboard_in_json_is_not_opened_but_its_controls_count(tmp_path: Path) -> None:
    """The editor would write YAML into it. Red when it is listed, when a new file may have its name, and when
    DashboardUses reads only the files that the editor opens."""
    text = '{"title": "J", "controls": {"carrier": {"text": ""}}, "rows": [{"table": "by_day"}]}'
    async with served_editor(tmp_path, {QUERY: FILES[QUERY], "dashboards/j.json": text}) as site:
        assert set(await _paths(site)) == {QUERY}
        assert (await _refused(site, "file", path="dashboards/j.json"))[:2] == (422, "invalid_body")
        assert (
            "the same dashboard as dashboards/j.json" in (await _refused(site, "file/new", path="dashboards/j.yml"))[2]
        )
        used = {"environment": ENVIRONMENT, "group": "ua", "path": QUERY, "text": FILES[QUERY]}
        assert (await site.ask("variables", **used))["dashboards"] != []


async def test_a_save_replaces_the_file_and_keeps_its_mode(tmp_path: Path) -> None:
    """Red when the file is opened for writing in place, or its mode is not copied."""
    async with served_editor(tmp_path) as site:
        file = tmp_path / QUERY
        file.chmod(0o640)
        reader = file.open()
        revision = await _saved(site, "select 2\n")
        assert reader.read() == FILES[QUERY]
        reader.close()
        assert (file.read_text(), file.stat().st_mode & 0o777) == ("select 2\n", 0o640)
        assert await site.ask("file", path=QUERY) == {"path": QUERY, "text": "select 2\n", "revision": revision}
        assert [each.name for each in file.parent.iterdir()] == ["by_day.sql"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser may give a file to another user")
async def test_a_save_keeps_the_owner(tmp_path: Path) -> None:
    """Red when the new file is not given to the owner of the old one."""
    async with served_editor(tmp_path) as site:
        os.chown(tmp_path / QUERY, 12345, 23456)
        await _saved(site, "select 2\n")
        about = (tmp_path / QUERY).stat()
        assert (about.st_uid, about.st_gid) == (12345, 23456)


@pytest.mark.parametrize(
    ("old", "typed", "new"),
    [
        (b"a\r\nb\r\n", "a\nc\n", b"a\r\nc\r\n"),
        (b"a\nb\n", "a\nc", b"a\nc\n"),
        (b"a\nb", "a\nc", b"a\nc"),
        (b"a\nb", "a\nc\n", b"a\nc\n"),
        (b"\xef\xbb\xbfa\r\n", "\ufeffb\n", b"\xef\xbb\xbfb\r\n"),
        (b"a\n", "b\r\nc\rd\n", b"b\nc\nd\n"),
        ("ä 😀\n".encode(), "😀\n", "😀\n".encode()),
        (b"a\n", "", b""),
        (b"", "a", b"a\n"),
    ],
)
async def test_line_breaks_stay_as_the_file_has_them(tmp_path: Path, old: bytes, typed: str, new: bytes) -> None:
    """Red when the text is written as it was sent."""
    async with served_editor(tmp_path) as site:
        (tmp_path / QUERY).write_bytes(old)
        assert "\r" not in (await site.ask("file", path=QUERY))["text"]
        await _saved(site, typed)
        assert (tmp_path / QUERY).read_bytes() == new


async def test_what_others_changed_meanwhile_is_kept(tmp_path: Path) -> None:
    """Red when save, delete or rename does not compare the revision, or when the message of Conflict shows the file."""
    async with served_editor(tmp_path) as site:
        opened = await site.ask("file", path=QUERY)
        (tmp_path / QUERY).write_text("select 'theirs'\n")
        theirs = await site.ask("file", path=QUERY)
        for endpoint, more in (
            ("save", {"text": "select 'mine'"}),
            ("delete", {}),
            ("rename", {"to": "queries/b.sql"}),
        ):
            answer = await site.post(f"file/{endpoint}", path=QUERY, revision=opened["revision"], **more)
            assert (answer.status_code, answer.json()["error"]["code"]) == (409, "file_conflict"), endpoint
            assert answer.json()["error"]["message"] == f"{QUERY} was changed since you opened it", endpoint
            assert answer.json()["theirs"] == {"text": "select 'theirs'\n", "revision": theirs["revision"]}
            assert (tmp_path / QUERY).read_text() == "select 'theirs'\n"
        answer = await site.post("file/save", path=QUERY, text="select 'new'", revision=None)
        assert answer.status_code == 409
        (tmp_path / QUERY).unlink()
        answer = await site.post("file/save", path=QUERY, text="select 'mine'", revision=theirs["revision"])
        assert answer.json()["theirs"] == {"text": None, "revision": None}
        assert answer.json()["error"]["message"] == f"{QUERY} was deleted since you opened it"
        assert not (tmp_path / QUERY).exists()


async def test_a_repeated_save_is_no_conflict(tmp_path: Path) -> None:
    """After a lost answer, the page sends the same save again. Red when save compares only revisions."""
    async with served_editor(tmp_path) as site:
        body = {"path": QUERY, "text": "select 2", "revision": (await site.ask("file", path=QUERY))["revision"]}
        assert await site.ask("file/save", **body) == await site.ask("file/save", **body)


@pytest.mark.parametrize("has_locks", [True, False])
async def test_of_saves_at_once_one_wins_and_the_others_are_conflicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_locks: bool
) -> None:
    """Red when save does not hold a lock from its read to its write. A network file system may have no locks."""

    def refuse(*arguments: object) -> None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    if not has_locks:
        monkeypatch.setattr(folder_files.fcntl, "flock", refuse)
    monkeypatch.setattr(folder_files.os, "fsync", lambda descriptor: time.sleep(0.02))  # as a disk
    async with served_editor(tmp_path) as site:
        revision = (await site.ask("file", path=QUERY))["revision"]
        answers = await asyncio.gather(
            *(site.post("file/save", path=QUERY, text=f"select {n}", revision=revision) for n in range(20))
        )
        assert sorted(each.status_code for each in answers) == [200] + [409] * 19
        winner = next(n for n, each in enumerate(answers) if each.status_code == 200)
        assert (tmp_path / QUERY).read_text() == f"select {winner}\n"


async def test_a_save_waits_for_that_of_another_process(tmp_path: Path) -> None:
    """Red when `locked` is a lock of this process only."""
    async with served_editor(tmp_path) as site:
        revision = (await site.ask("file", path=QUERY))["revision"]
        other = os.open(tmp_path, os.O_RDONLY)
        folder_files.fcntl.flock(other, folder_files.fcntl.LOCK_EX)
        save = asyncio.ensure_future(site.post("file/save", path=QUERY, text="select 'mine'", revision=revision))
        assert not (await asyncio.wait({save}, timeout=0.5))[0]
        (tmp_path / QUERY).write_text("select 'theirs'\n")
        os.close(other)
        assert (await save).status_code == 409


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EDQUOT])
async def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """Red when the file is truncated before the new text is on the disk, or the error is not caught."""

    def full(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    async with served_editor(tmp_path) as site:
        revision = (await site.ask("file", path=QUERY))["revision"]
        monkeypatch.setattr(folder_files.os, "fsync", full)
        status, name, message = await _refused(site, "file/save", path=QUERY, text="select 2", revision=revision)
        assert (status, name) == (503, "file_not_saved")
        assert os.strerror(code) in message
        assert str(tmp_path) not in message
        assert (tmp_path / QUERY).read_text() == FILES[QUERY]
        assert [each.name for each in (tmp_path / "queries").iterdir()] == ["by_day.sql"]


async def test_new_files_are_renamed_and_deleted(tmp_path: Path) -> None:
    """Red when a folder of a new file is not made, or rename does not check its target."""
    async with served_editor(tmp_path) as site:
        new = "queries/sales/by_week.sql"
        revision = (await site.ask("file/save", path=new, text="select 1", revision=None))["revision"]
        assert (tmp_path / new).read_text() == "select 1\n"
        assert (await _refused(site, "file/rename", path=new, to=QUERY, revision=revision))[:2] == (422, "invalid_body")
        assert (await _refused(site, "file/rename", path=new, to="dashboards/x.yaml", revision=revision))[0] == 422
        await site.ask("file/rename", path=new, to="queries/by_week.sql", revision=revision)
        assert set(await _paths(site)) == {*FILES, "queries/by_week.sql"}
        await site.ask("file/delete", path="queries/by_week.sql", revision=revision)
        assert set(await _paths(site)) == {*FILES}
        assert (await site.post("file", path="queries/by_week.sql")).status_code == 404


@pytest.mark.parametrize(
    "path", ["queries/1st.sql", "queries/a b.sql", "dashboards/my dashboard.yaml", "dashboards/flights.yml"]
)
async def test_a_name_that_would_break_the_folder_is_refused(tmp_path: Path, path: str) -> None:
    """DashboardFolder raises for such a file, and all dashboards with it. Red when save takes any name, and
    when the page hears of it only when it saves."""
    async with served_editor(tmp_path) as site:
        assert (await _refused(site, "file/save", path=path, text="title: x", revision=None))[:2] == (
            422,
            "invalid_body",
        )
        assert (await _refused(site, "file/new", path=path))[:2] == (422, "invalid_body")
        assert (await _refused(site, "file/new", path=QUERY))[:2] == (422, "invalid_body")
        assert await site.ask("file/new", path="queries/by_week.sql") == {}
        revision = (await site.ask("file", path=QUERY))["revision"]
        assert (await _refused(site, "file/rename", path=QUERY, to=path, revision=revision))[0] == 422


async def test_nothing_is_written_in_a_read_only_editor_or_without_the_right(tmp_path: Path) -> None:
    """Red when an endpoint does not ask for the right to save, or for Workbench.read_only."""
    bodies: dict[str, dict[str, Any]] = {
        "file/save": {"text": "select 2"},
        "file/delete": {},
        "file/rename": {"to": "queries/b.sql"},
    }
    async with served_editor(tmp_path, read_only=True) as site:
        revision = (await site.ask("file", path=QUERY))["revision"]
        for endpoint, more in bodies.items():
            refused = await _refused(site, endpoint, path=QUERY, revision=revision, **more)
            assert refused[:2] == (403, "right_missing"), endpoint
    async with served_editor(tmp_path / "second") as site:
        site.author = EditorAuthor("eve", frozenset({Right.VIEW, Right.RUN}))
        for endpoint, more in bodies.items():
            refused = await _refused(site, endpoint, path=QUERY, revision=revision, **more)
            assert refused[:2] == (403, "right_missing"), endpoint
    assert (tmp_path / QUERY).read_text() == FILES[QUERY]


async def test_writes_are_audited(tmp_path: Path) -> None:
    """Red when an endpoint does not record its write."""
    async with served_editor(tmp_path) as site:
        revision = await _saved(site, "select 'secret'\n")
        await site.ask("file/rename", path=QUERY, to="queries/b.sql", revision=revision)
        await site.ask("file/delete", path="queries/b.sql", revision=revision)
        entries = [each for each in await site.store.audit.list(limit=1000) if each.action.startswith("file.")]
        assert [(each.author.name, each.action, each.subject) for each in entries] == [
            ("editor ann", "file.saved", QUERY),
            ("editor ann", "file.renamed", QUERY),
            ("editor ann", "file.deleted", "queries/b.sql"),
        ]
        assert not any("secret" in str(each) for each in entries)


async def test_unusable_texts_are_refused(tmp_path: Path) -> None:
    """Red when a text is not measured, or a file that is not UTF-8 is shown with replaced characters."""
    async with served_editor(tmp_path) as site:
        revision = (await site.ask("file", path=QUERY))["revision"]
        for text in ("x" * 262_145, "a\0b"):
            status, code, message = await _refused(site, "file/save", path=QUERY, text=text, revision=revision)
            assert (status, code) == (422, "invalid_body"), message
        long = "x" * 262_143 + "\n"
        await _saved(site, long)
        (tmp_path / QUERY).write_bytes(b"a\n\xff")
        status, code, message = await _refused(site, "file", path=QUERY)
        assert (status, code) == (422, "unusable_file")
        assert "queries/by_day.sql:2" in message
