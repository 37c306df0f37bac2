"""A preview ends with the API token that asked for it: its address, its session, and all that is open of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest
from starlette.responses import StreamingResponse

from tenantry.dashboards import Access
from tenantry.dashboards.folder import DashboardFolder
from tenantry.dashboards.panels.downloads import Downloads
from tenantry.dashboards.preview.previews import Previews
from tenantry.dashboards.single_use_codes import Purpose, SingleUseCodes
from tenantry.groups import Author, Issued, Scope
from tenantry.middleware.long_responses import ResponseCut
from tenantry.provisioning import issue_api_token
from tests.dashboards.preview.conftest import PANELS, WANTED, Previewed
from tests.dashboards.served import SOON

pytestmark = pytest.mark.usefixtures("mount")


async def revoke(app: Previewed) -> int:
    """Revokes the API token of the previews. How many of them ended."""
    (token,) = [each for each in await app.store.api_tokens.list(app.environment) if each.hint == app.secret[-4:]]
    return (await app.store.api_tokens.revoke(app.environment, token.id)).ended


async def acme(app: Previewed) -> Issued:
    issued = await app.store.groups.get(app.environment, "acme")
    assert issued is not None
    return issued


async def test_address_and_session_end_with_the_api_token(app: Previewed) -> None:
    """At the next request; a preview of another API token, and one of the command line, go on. Red when a code names no
    API token, and when a session that is opened with it does not."""
    used, unused, session = await app.address(), await app.address(), await app.session()
    used_session = (await app.redeem(used)).json()["token"]
    others = [await app.api_token(Scope.PREVIEW) for _ in range(2)]
    other = (await app.redeem((await app.ask(secret=others[0])).json()["address"])).json()["token"]
    code = await Previews(app.store, time_of_day=app.clock).issue(
        app.environment, "acme", "sales/flights", Author("ann"), None
    )
    assert await revoke(app) == 3
    assert (await app.redeem(unused)).status_code == 410
    for each in (session, used_session):
        assert (await app.panels(each)).status_code == 401
    assert (await app.panels(other)).status_code == 200
    assert (await app.redeem(f"#code={code}")).status_code == 200
    assert (await app.ask()).status_code == 401


async def test_address_and_session_end_at_the_end_of_the_api_token(app: Previewed) -> None:
    """Also a session that was opened a moment before. Red when a code has its ten minutes in any case."""
    ends = app.clock() + timedelta(seconds=60)
    app.secret, _ = await issue_api_token(
        app.store.api_tokens, app.environment, label="support", scopes=[Scope.PREVIEW], expires_at=ends
    )
    unused, used = await app.address(), await app.address()
    app.clock.advance(59)
    session = (await app.redeem(used)).json()["token"]
    assert (await app.panels(session)).status_code == 200
    app.clock.advance(1)
    assert (await app.panels(session)).status_code == 401
    assert (await app.redeem(unused)).status_code == 410


async def test_an_address_that_is_opened_while_the_api_token_is_revoked(app: Previewed) -> None:
    """The code was read before the revocation, and its session would begin after it: it does not. Red when a session
    asks for no API token."""
    previews = Previews(app.store, time_of_day=app.clock)
    address = await app.address()
    payload = await previews._codes.redeem(Purpose.PREVIEW, address.partition("#code=")[2])
    assert payload is not None
    await revoke(app)
    assert await previews.open(payload) is None


async def test_an_open_page_ends_with_the_api_token(app: Previewed) -> None:
    """The answer that waits for a query ends within the staleness bound, and the query is stopped. Red when the guard
    watches nothing."""
    session = (await app.redeem((await app.ask(WANTED | {"dashboard": "slow"})).json()["address"])).json()["token"]
    async with app.reading(session, "/dashboards/slow/-/panels") as reader:
        async with asyncio.timeout(SOON):
            while not app.sources.in_flight.by_key:
                await asyncio.sleep(0.01)
        await revoke(app)
        assert await reader.line() == {"token": "ended"}
    async with asyncio.timeout(SOON):
        while app.sources.in_flight.by_key:
            await asyncio.sleep(0.01)


async def test_a_file_is_not_had_after_its_preview(app: Previewed) -> None:
    """By an address that was asked for in the preview. Red when its code stands for the group alone."""
    session = await app.session()
    files = [(await app.panels(session, f"{PANELS}/1-1/download")).json()["address"] for _ in range(2)]
    assert (await app.client.get(files[0].removeprefix(app.prefix))).status_code == 200
    await revoke(app)
    assert (await app.client.get(files[1].removeprefix(app.prefix))).status_code == 410


@pytest.mark.parametrize("is_waiting", [True, False])
@pytest.mark.parametrize("is_revoked", [True, False])
async def test_a_file_that_is_still_sent_ends_with_its_preview(
    app: Previewed, is_revoked: bool, is_waiting: bool, tmp_path: Path
) -> None:
    """Within the staleness bound, also while it waits for its first rows. Red when the session is looked at once, and
    when the bound begins with the first rows."""
    folder = DashboardFolder(tmp_path / "dashboards")
    previews, now = Previews(app.store, time_of_day=app.clock), 0.0
    preview = await previews.find(await app.session())
    assert preview is not None
    downloads = Downloads(
        SingleUseCodes(app.store.codes), app.store.groups, Access(folder), app.sources,
        5.0, previews.seconds_left, clock=lambda: now,
    )  # fmt: skip
    group = (await acme(app)).group
    code = await downloads.issue(group, folder["many"], "1-1", {}, preview.session)
    answer = await downloads.respond(code, {})
    assert isinstance(answer, StreamingResponse)
    async with aclosing(cast("AsyncGenerator[bytes]", answer.body_iterator)) as pieces:
        if not is_waiting:
            await anext(pieces)
        if is_revoked:
            await revoke(app)
        if not is_waiting:
            assert await anext(pieces), "within the bound"
        now = 6.0
        if is_revoked:
            with pytest.raises(ResponseCut):
                await anext(pieces)
        else:
            assert await anext(pieces)
