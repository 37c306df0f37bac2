"""A dashboard with unsaved texts, as a group sees it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tenantry.editor import EditorAuthor, Right, mount_editor
from tenantry.editor.previews import shared_drafts
from tenantry.errors import StoreUnavailable
from tests.dashboards.served import CARRIERS, reading
from tests.editor.served import ENVIRONMENT, FILES, EditorSite, served_editor

DASHBOARD = "dashboards/flights.yaml"
DRAFT = "title: Typed\nrows:\n  - {table: by_day, columns: [day, flights]}\n"


@pytest.fixture(autouse=True)
def _own_run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("TENANTRY_RUN_DIR", str(tmp_path / "run"))


class Preview:
    """What a browser does with the address of a preview."""

    def __init__(self, site: EditorSite, answer: dict[str, Any]) -> None:
        self.site = site
        self.id = answer["preview"]
        self.path, _, self.code = answer["address"].partition("#code=")
        self.mount = self.path.partition(self.id)[0] + self.id

    async def frame(self) -> httpx2.Response:
        return await self.site.client.get(self.path)

    async def redeem(self) -> str:
        answer = await self.site.client.post(f"{self.mount}/-/redeem", json={"code": self.code})
        assert answer.status_code == 200, answer.text
        return str(answer.json()["token"])

    async def panels(self, token: str | None, **body: Any) -> httpx2.Response:
        headers = {} if token is None else {"X-User-Group-Token": token}
        asked = {"definition": True, **body}
        return await self.site.client.post(f"{self.path}/-/panels", json=asked, headers=headers)

    async def lines(self) -> list[dict[str, Any]]:
        answer = await self.panels(await self.redeem())
        assert answer.status_code == 200, answer.text
        return [json.loads(line) for line in answer.text.splitlines() if line.strip()]


async def preview(site: EditorSite, group: str = "ha", **body: Any) -> Preview:
    asked = {"dashboard": DASHBOARD, "environment": ENVIRONMENT, "group": group, **body}
    return Preview(site, await site.ask("preview", **asked))


def _title(lines: list[dict[str, Any]]) -> str:
    return next(str(found["title"]) for line in lines if (found := line.get("dashboard", line.get("definition"))))


async def test_a_preview_shows_unsaved_texts_as_the_group(tmp_path: Path) -> None:
    """Red when the folder is read without the drafts, or the group's variables are another's."""
    query = "select {{ user_group.properties.carrier }} as carrier\n"
    dashboard = "title: Typed\nrows:\n  - {table: new, columns: [carrier]}\n"
    async with served_editor(tmp_path) as site:
        for carrier in CARRIERS:
            drafts = {"queries/new.sql": query, DASHBOARD: dashboard}
            shown = await preview(site, carrier.lower(), drafts=drafts)
            frame = await shown.frame()
            assert (frame.status_code, "Typed" in frame.text) == (200, True)
            assert "frame-ancestors 'self'" in frame.headers["content-security-policy"]
            text = json.dumps(await shown.lines())
            assert f'"{carrier}"' in text
            assert not any(f'"{other}"' in text for other in CARRIERS if other != carrier)
        assert not (tmp_path / "queries/new.sql").exists()
        assert (tmp_path / DASHBOARD).read_text() == FILES[DASHBOARD]


async def test_a_new_dashboard_that_was_never_saved(tmp_path: Path) -> None:
    """Red when the drafts only replace files."""
    async with served_editor(tmp_path) as site:
        shown = await preview(site, dashboard="dashboards/new.yaml", drafts={"dashboards/new.yaml": DRAFT})
        assert (await shown.frame()).status_code == 200
        assert any("rows" in json.dumps(line) for line in await shown.lines())


@pytest.mark.parametrize("live", [True, False])
async def test_a_preview_that_is_opened_while_the_draft_is_broken(tmp_path: Path, live: bool) -> None:
    """Red when the frame is the error of the folder, or the data for it have no place of the error."""
    async with served_editor(tmp_path) as site:
        shown = await preview(site, drafts={DASHBOARD: "title: Typed\nrows:\n  - {tabel: by_day}\n"})
        assert (await shown.frame()).status_code == 200
        headers = {"X-User-Group-Token": await shown.redeem()}
        async with reading(site.app, f"{shown.path}/-/panels", {"definition": True, "live": live}, headers) as reader:
            lines = [await reader.line() for _ in range(3)]
        assert lines[1]["broken"].startswith("dashboards/flights.yaml:3:5: ")
        assert str(tmp_path) not in lines[1]["broken"]
        assert lines[2] == {"end": True}


async def test_a_preview_lasts_while_its_author_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page asks again before the session ends. Red when an old preview gets the drafts."""
    body = {"dashboard": DASHBOARD, "environment": ENVIRONMENT, "group": "ha"}
    async with served_editor(tmp_path) as site:
        shown = await preview(site, viewer={"id": "v"})
        answer = await shown.panels(await shown.redeem())
        monkeypatch.setattr(shared_drafts, "SECONDS", 0.0)
        renewed = await site.ask("preview", **body, viewer={"id": "v"}, preview=shown.id)
        assert renewed["preview"] != shown.id
        assert answer.status_code == 200


async def test_there_is_no_watermark(tmp_path: Path) -> None:
    """The editor says around the frame whose view it is. Red when the page gets the mark of other previews."""
    async with served_editor(tmp_path) as site:
        described = next(line for line in await (await preview(site)).lines() if "preview" in json.dumps(line))
        assert '"editor": true' in json.dumps(described)


async def test_other_broken_files_do_not_matter(tmp_path: Path) -> None:
    """Red when the preview reads all dashboards of the folder."""
    async with served_editor(tmp_path, FILES | {"dashboards/other.yaml": "rows: 1\n"}) as site:
        assert (await (await preview(site)).frame()).status_code == 200


async def test_the_page_gets_what_is_typed_next(tmp_path: Path) -> None:
    """The page sends the preview that it shows. Red when each request opens another preview."""
    async with served_editor(tmp_path) as site:
        body = {"dashboard": DASHBOARD, "environment": ENVIRONMENT, "group": "ha"}
        shown = await preview(site)
        token = await shown.redeem()
        first = (await shown.panels(token)).text
        answer = await site.ask("preview", **body, preview=shown.id, drafts={DASHBOARD: DRAFT})
        assert (answer["preview"], answer["address"]) == (shown.id, None)
        assert 3_000 < answer["seconds"] <= 3_300
        second = (await shown.panels(token)).text
        assert ("Typed" in first, "Typed" in second) == (False, True)
        assert (await site.ask("preview", **body | {"group": "ua"}, preview=shown.id))["address"] is not None
        assert (await site.ask("preview", **body, viewer={"id": "v"}, preview=shown.id))["address"] is not None
        site.author = EditorAuthor("eve")
        assert (await site.ask("preview", **body, preview=shown.id))["preview"] != shown.id


async def test_the_open_frame_follows_what_is_typed(tmp_path: Path) -> None:
    """Red when DraftedFolder.stamp has no stamp of the drafts, or a broken draft is an error of the request."""
    async with served_editor(tmp_path) as site:
        body = {"dashboard": DASHBOARD, "environment": ENVIRONMENT, "group": "ha"}
        shown = await preview(site)
        headers = {"X-User-Group-Token": await shown.redeem()}
        path = f"{shown.path}/-/panels"
        async with reading(site.app, path, {"live": True, "definition": True}, headers) as reader:
            while "revision" not in (first := await reader.line()):
                pass
            while "end" not in await reader.line():
                pass
            await site.ask("preview", **body, preview=shown.id, drafts={DASHBOARD: "title: Typed\nrows: 1\n"})
            assert (await reader.line()).keys() == {"revision"} != first
        async with reading(site.app, path, {"live": True, "definition": True}, headers) as reader:
            assert "revision" in await reader.line()
            broken = (await reader.line())["broken"]
            assert broken.startswith("dashboards/flights.yaml:2:7: ")
            assert await reader.line() == {"end": True}
            await site.ask("preview", **body, preview=shown.id, drafts={DASHBOARD: DRAFT})
            assert "revision" in await reader.line()


async def test_a_preview_belongs_to_its_author(tmp_path: Path) -> None:
    """Red when the frame is sent to any author, or the data without the key of the session."""
    async with served_editor(tmp_path) as site:
        shown = await preview(site)
        for other, status in ((EditorAuthor("eve"), 404), (None, 401)):
            site.author = other
            assert (await shown.frame()).status_code == status
        site.author = EditorAuthor("ann")
        assert (await shown.panels(None)).status_code == 401
        assert (await shown.panels("ugpv_" + "x" * 43)).status_code == 401
        await shown.redeem()
        again = await site.client.post(f"{shown.mount}/-/redeem", json={"code": shown.code})
        assert again.status_code == 410


async def test_no_token_of_a_group_opens_a_preview(tmp_path: Path) -> None:
    """Red when PreviewGuard lets requests without the key of a session through."""
    async with served_editor(tmp_path) as site:
        shown = await preview(site)
        assert (await shown.panels(site.tokens["ha"])).status_code == 401
        for name in ("embed-code", "preview"):
            assert (await site.client.post(f"{shown.path}/-/{name}", json={})).status_code in {404, 405}
        assert site.tokens["ha"] not in (await shown.frame()).text + shown.path + shown.code


async def test_previews_need_the_right_to_run_and_the_environment(tmp_path: Path) -> None:
    """Red when the endpoint needs only the right to view, or does not look up the environment for the author."""
    body = {"dashboard": DASHBOARD, "environment": ENVIRONMENT, "group": "ha"}
    async with served_editor(tmp_path) as site:
        site.author = EditorAuthor("eve", frozenset({Right.VIEW}))
        assert (await site.post("preview", **body)).status_code == 403
        site.author = EditorAuthor("eve", environments=frozenset({"staging"}))
        assert (await site.post("preview", **body)).status_code == 403


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"group": "nobody"}, 404, "/group"),
        ({"dashboard": "queries/by_day.sql"}, 422, "/dashboard"),
        ({"dashboard": "../x.yaml"}, 422, "/dashboard"),
        ({"drafts": {"/etc/passwd": ""}}, 422, "/drafts"),
        ({"viewer": {"id": 7}}, 422, "/viewer"),
    ],
)
async def test_a_mistake_names_its_field(tmp_path: Path, body: dict[str, Any], status: int, field: str) -> None:
    """Red when the errors of Previews.issue keep the field of another endpoint."""
    async with served_editor(tmp_path) as site:
        asked = {"dashboard": DASHBOARD, "environment": ENVIRONMENT, "group": "ha", **body}
        answer = await site.post("preview", **asked)
        assert (answer.status_code, answer.json()["error"].get("field")) == (status, field)


async def test_each_new_set_of_drafts_is_audited_once(tmp_path: Path) -> None:
    """Red when the code is issued without a note, when drafts are replaced without one, and when the same drafts have
    another."""
    body = {
        "dashboard": DASHBOARD,
        "environment": ENVIRONMENT,
        "group": "ha",
        "viewer": {"id": "v7", "region": "secret"},
    }
    async with served_editor(tmp_path) as site:
        shown = await preview(site, **body)
        await shown.redeem()
        typed = {DASHBOARD: DRAFT, "queries/new.sql": "select 'secret' as a"}
        other = typed | {"queries/new.sql": "select 'secret' as b"}
        for drafts in ({}, typed, typed, other, dict(reversed(other.items())), {}):
            await site.ask("preview", **body, drafts=drafts, preview=shown.id)
        found = [each for each in await site.store.audit.list(limit=1000) if each.action.startswith("preview.")]
        assert {(each.author.name, each.environment, each.subject) for each in found} == {
            ("editor ann", ENVIRONMENT, "ha")
        }
        assert {(each.details["dashboard"], each.details["viewer"]) for each in found} == {("flights", "v7")}
        digests = [each.details["drafts"] for each in found]
        assert [each.action for each in found] == ["preview.created", "preview.opened"] + ["preview.drafted"] * 3
        assert [digests[0], digests[1], digests[4]] == ["saved"] * 3
        assert digests[2] != digests[3]
        assert all(re.fullmatch("drafts-[0-9a-f]{12}", each) for each in digests[2:4])
        assert "secret" not in str(found)


async def test_drafts_that_cannot_be_audited_are_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when the drafts are written before the note."""

    async def fail(note: object) -> None:
        raise StoreUnavailable("the store is gone")

    async with served_editor(tmp_path) as site:
        shown = await preview(site)
        token = await shown.redeem()
        monkeypatch.setattr(site.store.audit, "record", fail)
        body = {"dashboard": DASHBOARD, "environment": ENVIRONMENT, "group": "ha"}
        answer = await site.post("preview", **body, preview=shown.id, drafts={DASHBOARD: DRAFT})
        assert answer.status_code == 503
        assert "Typed" not in (await shown.panels(token)).text


async def test_another_process_of_the_host_shows_the_preview(tmp_path: Path) -> None:
    """Red when the drafts are kept in the memory of the process that was asked."""
    url = f"sqlite:///{tmp_path / 'flights.db'}"
    async with served_editor(tmp_path) as one, served_editor(tmp_path, url=url) as two:
        shown = await preview(one, drafts={DASHBOARD: DRAFT})
        assert "Typed" in (await two.client.get(shown.path)).text


async def test_another_editor_of_the_host_shows_and_changes_no_preview(tmp_path: Path) -> None:
    """Of another folder, or mounted elsewhere in the same app, by an author of the same name. Red when only the
    author's name is compared."""
    async with served_editor(tmp_path / "one") as one, served_editor(tmp_path / "two") as two:
        mount_editor(
            one.app, tmp_path / "one/dashboards", one.resolver, one.sources, authors=lambda _: one.author, path="/b"
        )
        shown = await preview(one, drafts={DASHBOARD: DRAFT})
        token = await shown.redeem()
        assert (await two.client.get(shown.path)).status_code == 404
        assert (await one.client.get(shown.path.replace("/editor/", "/b/"))).status_code == 404
        again = await two.ask("preview", dashboard=DASHBOARD, environment=ENVIRONMENT, group="ha", preview=shown.id)
        assert again["preview"] != shown.id
        assert "Typed" in (await shown.panels(token)).text


async def test_many_previews_of_an_author_end_none_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The author's own oldest one ends. Red when all previews of the host count together."""
    monkeypatch.setattr(shared_drafts, "_MAX_PREVIEWS", 2)
    async with served_editor(tmp_path) as site:
        shown = await preview(site)
        site.author = EditorAuthor("eve")
        others = [await preview(site) for _ in range(3)]
        assert [(await each.frame()).status_code for each in others] == [404, 200, 200]
        site.author = EditorAuthor("ann")
        assert (await shown.frame()).status_code == 200


async def test_old_drafts_are_removed(tmp_path: Path) -> None:
    """Red when SharedDrafts.write does not remove old files."""
    async with served_editor(tmp_path) as site:
        shown = await preview(site, drafts={DASHBOARD: DRAFT})
        (file,) = (tmp_path / "run").glob(f"*{shown.id}*")
        assert file.stat().st_mode & 0o077 == 0
        os.utime(file, (0, 0))
        await preview(site)
        assert not file.exists()
        assert (await shown.frame()).status_code == 404


async def test_processes_of_the_run_group_read_the_drafts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when the file has a mode that only its owner can read."""
    monkeypatch.setenv("TENANTRY_RUN_GROUP", str(os.getegid()))
    (tmp_path / "run").chmod(0o2770)
    async with served_editor(tmp_path) as site:
        shown = await preview(site, drafts={DASHBOARD: DRAFT})
        (file,) = (tmp_path / "run").glob(f"*{shown.id}*")
        assert file.stat().st_mode & 0o777 == 0o660


async def test_an_unusable_run_folder_is_an_error(tmp_path: Path) -> None:
    """Red when the OSError is not caught."""
    (tmp_path / "run").rmdir()
    (tmp_path / "run").write_text("")
    async with served_editor(tmp_path) as site:
        answer = await site.post("preview", dashboard=DASHBOARD, environment=ENVIRONMENT, group="ha")
        assert answer.status_code == 503


async def test_the_schema_of_dashboards_is_the_published_one(tmp_path: Path) -> None:
    """Red when the route makes another schema, or needs no author."""
    published = Path(__file__).parents[2] / "docs/schemas/dashboard.schema.json"
    async with served_editor(tmp_path) as site:
        address = "/editor/-/dashboard-schema.json"
        assert (await site.client.get(address)).json() == json.loads(published.read_text())
        site.author = EditorAuthor("eve", frozenset({Right.RUN}))
        assert (await site.client.get(address)).status_code == 403


async def test_a_preview_shows_no_secret_of_the_server(tmp_path: Path) -> None:
    """As a run. Red when previews run on the data sources of viewers."""
    drafts = {
        DASHBOARD: "title: Typed\nrows:\n  - {table: secret, columns: [a]}\n",
        "queries/secret.sql": "select sqlite_compileoption_get(0) as a",
    }
    async with served_editor(tmp_path) as site:
        lines = await (await preview(site, drafts=drafts)).lines()
        (panel,) = [line for line in lines if "panel" in line]
        assert panel["error"]["code"] == "private_name"
