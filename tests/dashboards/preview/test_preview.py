"""Previews: who may ask for one, what it shows, what it cannot do, and what is recorded."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from tenantry.groups import GroupChanges, GroupDraft, Scope, Tag, revoking_changes
from tenantry.testing import make_token
from tenantry.tokens import holds_token, mask_within
from tests.dashboards.preview.conftest import PANELS, WANTED, Previewed
from tests.resolver.fake import KEYS

pytestmark = pytest.mark.usefixtures("mount")


async def test_a_preview_explains_a_panel(app: Previewed) -> None:
    """Where its values come from, never which; the query only where its author shows it. Nobody else is told, also not
    with the token of the group. Red when the route asks for no preview."""
    path, session = f"{PANELS}/1-1/explanation", await app.session()
    answer = await app.panels(session, path)
    assert answer.status_code == 200, answer.text
    text = answer.json()["text"]
    assert "As acme (production, revision 1)" in text
    assert "of warehouse (ds_1, sqlite)" in text
    assert "carrier (property carrier)" in text
    assert "HA" not in text
    assert "select" not in text
    assert (await app.panels(session, f"{PANELS}/9-9/explanation")).status_code == 404
    assert (await app.panels(session, path, filters={"carrier": "UA"})).status_code == 422
    other = "/dashboards/other/-/panels/1-1/explanation"
    assert (await app.panels(session, other)).status_code == 403
    address = (await app.ask(WANTED | {"dashboard": "other"})).json()["address"]
    assert "select 1 as a" in (await app.panels((await app.redeem(address)).json()["token"], other)).json()["text"]
    token = make_token(key_id=KEYS.active_id)
    await app.store.groups.get_or_create(app.environment, GroupDraft("own", "Own", {"carrier": "HA"}), token)
    own = KEYS.mint(token)
    assert (await app.panels(own)).status_code == 200
    assert (await app.panels(own, path)).status_code == 404
    assert (await app.client.post(path, json={})).status_code == 401


async def test_a_group_that_has_ended_is_not_previewed(app: Previewed) -> None:
    """Neither anew, nor by an address or a session from before its end date: it sees nothing. A later date lets the
    session go on. Red when a session looks for the group alone."""

    async def end(seconds: float | None) -> None:
        ends = None if seconds is None else app.clock() + timedelta(seconds=seconds)
        await app.store.groups.update(app.environment, "acme", GroupChanges(expires_at=ends))

    await end(30)
    address, session = await app.address(), await app.session()
    assert (await app.panels(session)).status_code == 200
    app.clock.advance(30)
    expired = (401, "user_group_expired")
    refused = await app.ask()
    assert (refused.status_code, refused.json()["error"]["field"]) == (422, "/user_group_id")
    for answer in (await app.redeem(address), await app.panels(session)):
        assert (answer.status_code, answer.json()["error"]["code"]) == expired
    await end(None)
    assert (await app.panels(session)).status_code == 200
    assert (await app.ask()).status_code == 200


async def test_a_suspended_group_is_not_previewed(app: Previewed) -> None:
    """Neither anew, nor by an address or a session from before. Red when only its end date is looked at."""
    address, session = await app.address(), await app.session()
    assert (await app.panels(session)).status_code == 200
    await app.store.groups.update(app.environment, "acme", GroupChanges(suspended=True))
    refused = await app.ask()
    assert (refused.status_code, refused.json()["error"]["field"]) == (422, "/user_group_id")
    assert "resume it" in refused.json()["error"]["message"]
    for answer in (await app.redeem(address), await app.panels(session)):
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "user_group_suspended")
    await app.store.groups.update(app.environment, "acme", GroupChanges(suspended=False))
    assert (await app.panels(session)).status_code == 200


async def test_an_address_opens_a_dashboard_as_a_group_once(app: Previewed) -> None:
    """With the group's rows and words, and a mark for the page to draw. The code is in the fragment, which no server
    sees; the group's token is nowhere. Red when the code stays good, and when the token is the answer."""
    address = await app.address()
    assert address.startswith(f"{app.prefix}/dashboards/sales/flights#code=")
    opened = await app.redeem(address)
    session = opened.json()["token"]
    assert (await app.redeem(address)).status_code == 410
    answer = await app.panels(session, definition=True, live=True)
    first, panel, end = [json.loads(line) for line in answer.text.splitlines()]
    assert first["dashboard"]["title"] == "Departures of HA"
    assert first["dashboard"]["preview"] == {"id": "acme", "name": "Acme Ltd", "environment": "production"}
    assert panel["rows"] == [[6]]
    assert end == {"end": True}  # it does not stay open, though it was asked to
    issued = await app.store.groups.get(app.environment, "acme")
    assert issued is not None
    token = KEYS.mint(issued.token)
    assert not any(token in text for text in (address, opened.text, answer.text))
    own = await app.panels(token, definition=True)
    assert "preview" not in json.loads(own.text.splitlines()[0])["dashboard"]


async def test_a_preview_shows_what_a_viewer_sees(app: Previewed) -> None:
    """The audit trail has the viewer's id. Red when the session forgets the viewer."""
    wanted = WANTED | {"dashboard": "mine", "as_viewer": {"id": "ada", "route": "A-B"}}
    address = (await app.ask(wanted)).json()["address"]
    app.clock.advance(599)
    session = (await app.redeem(address)).json()["token"]
    app.clock.advance(599)
    answer = await app.panels(session, "/dashboards/mine/-/panels")
    assert answer.status_code == 200, answer.text
    assert json.loads(answer.text.splitlines()[0])["rows"] == [["ada", 6]]
    entries = await app.store.audit.list()
    assert [each.details for each in entries if each.action.startswith("preview.")] == [
        {"dashboard": "mine", "viewer": "ada"}
    ] * 2


async def test_a_preview_as_a_viewer_who_was_just_revoked(app: Previewed) -> None:
    """It shows what a pass of the next second would show. A revocation ends the previews that were opened before. Red
    when the preview counts as a pass of this second: 401 ``pass_revoked``, which means the caller's API token."""
    wanted = WANTED | {"dashboard": "mine", "as_viewer": {"id": "ada", "route": "A-B"}}

    async def status(session: str) -> int:
        return (await app.panels(session, "/dashboards/mine/-/panels")).status_code

    async def open_session() -> str:
        return str((await app.redeem((await app.ask(wanted)).json()["address"])).json()["token"])

    before = await open_session()
    assert await status(before) == 200
    issued = await app.store.groups.get(app.environment, "acme")
    assert issued is not None
    await app.store.groups.update(app.environment, "acme", revoking_changes(issued.group, "ada", app.clock()))
    assert await status(await open_session()) == 200
    assert await status(before) == 401


@pytest.mark.parametrize("as_viewer", [{"id": ""}, {"id": 1}, {"a": 2**60}, {"a": {"b": {"c": {"d": {"e": 1}}}}}])
async def test_a_preview_has_no_viewer_that_a_pass_cannot_have(app: Previewed, as_viewer: Any) -> None:
    """Red when the values are checked only as the session opens."""
    answer = await app.ask(WANTED | {"as_viewer": as_viewer})
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, "/as_viewer")


async def test_address_and_session_end_after_ten_minutes(app: Previewed) -> None:
    """Each by itself: an address that nobody opened, and a session that somebody still has. Red without an end."""
    unused, used = await app.address(), await app.address()
    app.clock.advance(599)
    session = (await app.redeem(used)).json()["token"]
    app.clock.advance(1)
    assert (await app.redeem(unused)).status_code == 410
    assert (await app.panels(session)).status_code == 200
    app.clock.advance(599)
    assert (await app.panels(session)).status_code == 401


async def test_a_preview_follows_its_group(app: Previewed) -> None:
    """It shows what is written now, also after a rotation: it never was the token. A group that is deleted has none."""
    address, session = await app.address(), await app.session()
    issued = await app.store.groups.get(app.environment, "acme")
    assert issued is not None
    new = {"key_id": KEYS.active_id, "nonce": make_token().nonce}
    await app.store.groups.rotate(app.environment, issued.token, **new)
    assert (await app.panels(session)).status_code == 200
    await app.store.groups.delete(app.environment, "acme")
    assert (await app.panels(session)).status_code == 401
    assert (await app.redeem(address)).status_code == 410


async def test_the_session_is_for_the_data_of_one_dashboard(app: Previewed) -> None:
    """Not for another one, not for a code of the group, and not for anything of the API. Red when the guard stands
    before other routes, and when it does not compare the dashboard."""
    session = await app.session()
    assert (await app.panels(session, "/dashboards/other/-/panels")).status_code == 403
    assert (await app.panels(session, "/dashboards/sales/flights/-/embed-code")).status_code == 401
    assert (await app.panels(session, f"{PANELS}/1-1/download", format="csv")).status_code == 200
    for secret in (session, app.secret):
        headers = {"Authorization": f"Token {secret}"}
        got = await app.client.post("/api/user", json={"user_group_id": "acme"}, headers=headers)
        assert got.status_code == (401 if secret == session else 403)
    assert (await app.ask(secret=session)).status_code == 401
    introspecting = await app.api_token(Scope.INTROSPECT)
    headers = {"Authorization": f"Token {introspecting}"}
    asked = await app.client.post("/oauth/introspect", data={"token": session}, headers=headers)
    assert asked.json() == {"active": False}


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"user_group_id": "nobody", "dashboard": "sales/flights"}, 404, "unknown_group"),
        ({"user_group_id": "acme", "dashboard": "missing"}, 404, "not_found"),
        ({"user_group_id": "acme"}, 422, "invalid_body"),
        ({"user_group_id": "acme", "dashboard": "other", "token": True}, 422, "invalid_body"),
    ],
)
async def test_what_cannot_be_previewed_is_refused(app: Previewed, body: Any, status: int, code: str) -> None:
    """With the errors of the API."""
    answer = await app.ask(body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert not [each for each in await app.store.audit.list() if each.action == "preview.created"]


async def test_a_preview_needs_the_scope_in_the_groups_environment(app: Previewed) -> None:
    """A token that provisions may not look at what a customer sees, and one of another environment finds no group. Red
    without the scope, and when groups of every environment are found."""
    assert (await app.ask(secret=await app.api_token(Scope.PROVISION, Scope.INTROSPECT))).status_code == 403
    assert (await app.ask(secret="ugkc_" + "A" * 49)).status_code == 401
    other = await app.store.environments.create("other", Tag.TESTING)
    assert (await app.ask(secret=await app.api_token(Scope.PREVIEW, environment=other))).status_code == 404


async def test_who_previewed_what_as_whom_is_recorded(app: Previewed) -> None:
    """That it was asked for, with the request, and that it was opened; no secret."""
    session = await app.session()
    asked, opened = [each for each in await app.store.audit.list() if each.action.startswith("preview.")]
    assert [asked.action, opened.action] == ["preview.created", "preview.opened"]
    for entry in (asked, opened):
        assert entry.author.name.startswith("api token ")
        assert entry.author.name.endswith("(support)")
        assert (entry.environment, entry.subject) == ("production", "acme")
        assert entry.details == {"dashboard": "sales/flights"}
    assert asked.author.request_id == "r-7"
    assert session.removeprefix("ugpv_") not in repr((asked, opened))


def test_the_key_of_a_session_is_masked_like_a_token() -> None:
    """In logs, and where names are stored. Red when only tokens are known."""
    key = "ugpv_" + "aB3-" * 10 + "xyz"
    assert holds_token(f"see {key}")
    assert mask_within(f"see {key}") == "see ugpv_…"
