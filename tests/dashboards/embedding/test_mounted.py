"""Embedding in a mount of dashboards: the element's files, hosts of the store and of a group, codes over HTTP."""

from __future__ import annotations

import asyncio
import gzip
import re
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tenantry import DataSources, Resolver, UserGroup, UserGroupMiddleware, mint_pass, mount_dashboards
from tenantry.backends.memory.environments import MemoryEnvironments
from tenantry.backends.memory.tables import MemoryTables
from tenantry.clock import utc_now
from tenantry.dashboards import assets
from tenantry.dashboards.embedding.allowed_hosts import AllowedHosts
from tenantry.dashboards.embedding.routes import ELEMENT_FILES, ELEMENT_VERSION, Embedding
from tenantry.errors import StoreUnavailable
from tenantry.groups import Environment, GroupChanges, GroupDraft, Tag
from tenantry.testing import FrozenClock, MemoryStore, make_token
from tenantry.tokens import claims_of, read_pass, sign_pass
from tests.dashboards import mounts
from tests.dashboards.served import write_files
from tests.resolver.fake import KEYS

pytestmark = pytest.mark.usefixtures("mount")

FILES = {"dashboards/sales.yaml": "title: Sales\nrows: [{heading: A}]\n"}
CODE = "/dashboards/sales/-/embed-code"
REDEEM = "/dashboards/-/redeem"


class Mounted:
    """A mount with embedding on a store in memory, and the groups acme and bolt in production."""

    def __init__(self, folder: Path, clock: FrozenClock, environment: str | None = None) -> None:
        self.store = MemoryStore(clock=clock)
        self.lists: dict[str, list[str]] = {}
        self.resolver = resolver = Resolver(
            self.store, keys=KEYS, environment=environment, clock=clock.monotonic, time_of_day=clock
        )
        embedding = Embedding(self.store, KEYS, self._hosts_of, time_of_day=clock)
        write_files(folder, FILES)

        def mount_on(app: Any) -> None:
            self.app = app
            sources = DataSources(self.store)
            mount_dashboards(app, folder / "dashboards", resolver, sources, frame_ancestors=(), embedding=embedding)

        self.prefix = mounts.current.prefix
        transport = httpx2.ASGITransport(mounts.current.build(resolver, mount_on))
        self.http = httpx2.AsyncClient(transport=transport, base_url=f"http://dash.test{self.prefix}")

    def _hosts_of(self, group: UserGroup) -> list[str]:
        return self.lists.get(group.provided_id, ["https://app.test", "https://*.app.test"])

    async def environment(self) -> Environment:
        found = await self.store.environments.get("production")
        return found or await self.store.environments.create("production", Tag.CUSTOMER)

    async def token(self, name: str = "acme") -> str:
        environment = await self.environment()
        made = await self.store.groups.get_or_create(
            environment, GroupDraft(name, name), make_token(key_id=KEYS.active_id)
        )
        return KEYS.mint(made.token)

    async def rotate(self, grace_seconds: int = 0) -> None:
        issued = await self.store.groups.get(await self.environment(), "acme")
        assert issued is not None
        await self.store.groups.rotate(
            issued.group.environment,
            issued.token,
            key_id=KEYS.active_id,
            nonce=make_token().nonce,
            grace_seconds=grace_seconds,
        )

    async def follow(self, location: str) -> httpx2.Response:
        return await self.http.get(f"http://dash.test{location}")

    async def issue(self, token: str) -> httpx2.Response:
        return await self.http.post(CODE, headers={"X-User-Group-Token": token})

    async def redeem(self, body: Any) -> httpx2.Response:
        return await self.http.post(REDEEM, json=body)


@pytest.fixture
def clock() -> FrozenClock:
    # Passes for cookies are made by the machine's clock.
    return FrozenClock(utc_now().replace(microsecond=0))


@pytest.fixture
async def mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: FrozenClock) -> AsyncIterator[Mounted]:
    bundles = tmp_path / "static" / "bundles"
    bundles.mkdir(parents=True)
    for name in ("page.js", "page.css", *ELEMENT_FILES):
        (bundles / name).write_text(f"/* {name} */" * 50)
    monkeypatch.setattr(assets, "files", lambda package: tmp_path)
    made = Mounted(tmp_path, clock)
    yield made
    await made.http.aclose()


def test_the_element_is_small() -> None:
    """At most 3 KB by gzip, as it is built: it stands on the pages of others."""
    built = files("tenantry") / "static" / "bundles" / "embed.js"
    assert len(gzip.compress(built.read_bytes(), 9)) <= 3_000


def test_the_version_in_the_address_is_that_of_the_messages() -> None:
    """A host that wrote ``v1`` into its page speaks version 1 with the frame. Red when one is raised alone:
    the major version is one number."""
    sources = Path(__file__).parents[3] / "frontend" / "src" / "dashboards" / "embed"
    said = [re.findall(r"PROTOCOL = (\d+);", (sources / name).read_text()) for name in ("element.js", "child.js")]
    assert said == [[str(ELEMENT_VERSION)]] * 2


@pytest.mark.parametrize("folder", ["v1/", ""])
@pytest.mark.parametrize("name", ELEMENT_FILES)
async def test_every_page_may_take_the_element(mounted: Mounted, folder: str, name: str) -> None:
    """With CORS, without which no page of another origin gets a module, and not for ever: its address has no hash. Red
    when it is sent as the other browser files are."""
    answer = await mounted.http.get(f"/dashboards/-/{folder}{name}")
    assert answer.status_code == 200
    assert name in answer.text
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert answer.headers["cache-control"] == "public, max-age=300"
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_the_frame_names_the_hosts_of_the_store(mounted: Mounted) -> None:
    """Those of every environment that its resolver accepts, in the policy and for the page's script."""
    await mounted.store.environments.set_embedding_hosts(await mounted.environment(), ["https://app.test", "'self'"])
    other = await mounted.store.environments.create("other", Tag.TESTING)
    await mounted.store.environments.set_embedding_hosts(other, ["https://staging.test", "https://app.test"])
    page = await mounted.http.get("/dashboards/sales")
    listed = "https://app.test 'self' https://staging.test"
    assert page.headers["content-security-policy"].endswith(f"frame-ancestors {listed}")
    assert f'content="{listed.replace(chr(39), "&#x27;")}"' in page.text
    assert page.headers["cross-origin-embedder-policy"] == "require-corp"


async def test_a_code_of_a_group_that_has_ended_opens_nothing(mounted: Mounted, clock: FrozenClock) -> None:
    """It says so, for the page has other words for that than for a code that was used; and a group that has ended gets
    no code. Red when the token is made again without a look at the end date."""
    token = await mounted.token()
    await mounted.store.groups.update(
        await mounted.environment(), "acme", GroupChanges(expires_at=clock() + timedelta(seconds=30))
    )
    code = (await mounted.issue(token)).json()
    clock.advance(30)
    for answer in (await mounted.redeem(code), await mounted.issue(token)):
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "user_group_expired")
    assert (await mounted.redeem(code)).status_code == 410


async def test_a_code_of_a_suspended_group_opens_nothing(mounted: Mounted) -> None:
    """Red when a pass is made without a look at the group: the page then got a pass that is refused."""
    code = (await mounted.issue(await mounted.token())).json()
    await mounted.store.groups.update(await mounted.environment(), "acme", GroupChanges(suspended=True))
    answer = await mounted.redeem(code)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "user_group_suspended")


async def test_hosts_are_read_again_within_the_bound(clock: FrozenClock) -> None:
    """Nobody at first; then those of the one environment that is meant. Red when they are read once, or at each
    frame."""
    store = MemoryStore()
    production = await store.environments.create("production", Tag.CUSTOMER)
    await store.environments.set_embedding_hosts(
        await store.environments.create("other", Tag.TESTING), ["https://other.test"]
    )
    hosts = AllowedHosts(
        store.environments, "production", further=["https://own.test"], staleness=5, clock=clock.monotonic
    )
    assert await hosts.of_frame() == ("https://own.test",)
    await store.environments.set_embedding_hosts(production, ["https://app.test"])
    clock.advance(4.9)
    assert await hosts.of_frame() == ("https://own.test",)
    clock.advance(0.1)
    assert await hosts.of_frame() == ("https://own.test", "https://app.test")


class _Environments(MemoryEnvironments):
    """Counts the questions for hosts; ``is_down``: and answers none; ``goes_on``: only then."""

    def __init__(self) -> None:
        super().__init__(MemoryTables(utc_now))
        self.asked, self.is_down = 0, False
        self.goes_on = asyncio.Event()
        self.goes_on.set()

    async def embedding_hosts(self) -> Mapping[str, tuple[str, ...]]:
        self.asked += 1
        await self.goes_on.wait()
        if self.is_down:
            raise StoreUnavailable("down")
        return await super().embedding_hosts()


async def test_an_outage_within_the_bound_is_not_seen(clock: FrozenClock) -> None:
    """The lease is renewed before its end; after that nobody may embed, until the store answers again. Red when it is
    renewed at its end only, and when it has none."""
    environments = _Environments()
    await environments.set_embedding_hosts(
        await environments.create("production", Tag.CUSTOMER), found := ("https://app.test",)
    )
    hosts = AllowedHosts(environments, "production", staleness=5, clock=clock.monotonic)
    assert await hosts.of_frame() == found
    clock.advance(4)
    assert await hosts.of_frame() == found
    async with asyncio.timeout(60):
        while environments.asked < 2:
            await asyncio.sleep(0)
    await asyncio.sleep(0)
    environments.is_down = True
    clock.advance(4.9)
    assert await hosts.of_frame() == found
    clock.advance(0.1)
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await hosts.of_frame()
    environments.is_down = False
    assert await hosts.of_frame() == found


async def test_all_frames_wait_for_one_question(clock: FrozenClock) -> None:
    """One who leaves stops it for nobody; one that is as old as the bound is not waited for. Red when each frame asks,
    and when a question is shared however old it is."""
    environments = _Environments()
    hosts = AllowedHosts(environments, "production", staleness=5, clock=clock.monotonic)
    environments.goes_on.clear()
    first, *others = [asyncio.ensure_future(hosts.of_frame()) for _ in range(20)]
    await asyncio.sleep(0)
    first.cancel()
    clock.advance(5)
    late = asyncio.ensure_future(hosts.of_frame())
    async with asyncio.timeout(60):
        while environments.asked < 2:
            await asyncio.sleep(0)
        environments.goes_on.set()
        assert await asyncio.gather(late, *others) == [()] * 20
    assert (environments.asked, first.cancelled()) == (2, True)


async def test_a_code_gives_a_pass_once(mounted: Mounted, clock: FrozenClock) -> None:
    """A pass of an hour, for dashboards alone, and never the token with which the code was requested. Neither answer
    may be cached. Red if the token is given out."""
    token = await mounted.token()
    issued = await mounted.issue(token)
    assert (issued.status_code, issued.headers["cache-control"]) == (200, "no-store")
    first, second = [await mounted.redeem(issued.json()) for _ in range(2)]
    assert first.status_code == 200
    assert token not in first.text
    given = read_pass(KEYS, first.json()["token"].encode(), clock)
    assert (given.token.decode(), given.viewer.id, given.viewer.scope) == (token, None, ("dashboard",))
    assert given.viewer.expires_at == clock() + timedelta(hours=1)
    assert first.headers["cache-control"] == "no-store"
    assert (second.status_code, second.json()["error"]["code"]) == (410, "code_used")


async def test_a_code_of_a_pass_gives_the_same_viewer_until_the_same_end(mounted: Mounted, clock: FrozenClock) -> None:
    """Its attributes and scope too, and no pass after that end. Red if the code is one of the group, so that a viewer
    gets another hour, or what only the token may open."""
    seconds = int(clock().timestamp())
    claims = {"iat": seconds, "exp": seconds + 30, "viewer": {"region": "eu"}, "sub": "ada", "scope": "dashboard:sales"}
    codes = [(await mounted.issue(sign_pass(await mounted.token(), claims))).json() for _ in range(2)]
    clock.advance(29)
    given = (await mounted.redeem(codes[0])).json()["token"]
    assert claims_of(read_pass(KEYS, given.encode(), clock).viewer) == claims
    clock.advance(1)
    late = await mounted.redeem(codes[1])
    assert (late.status_code, late.json()["error"]["code"]) == (401, "pass_expired")


async def test_a_host_chooses_how_long_the_pass_of_a_code_is_valid(mounted: Mounted, clock: FrozenClock) -> None:
    """Up to a day from its redemption, and never longer than the pass that requested the code. Red when ``seconds`` of
    a viewer's request prolongs the access."""
    token, seconds = await mounted.token(), int(clock().timestamp())
    short = sign_pass(token, {"iat": seconds + 50, "exp": seconds + 100, "sub": "ada"})

    async def lifetime(credential: str, asked: Any) -> float | str:
        code = await mounted.http.post(CODE, headers={"X-User-Group-Token": credential}, json={"seconds": asked})
        if code.status_code != 200:
            return str(code.json()["error"].get("field"))
        given = (await mounted.redeem(code.json())).json()["token"]
        return (read_pass(KEYS, given.encode(), clock).viewer.expires_at - clock()).total_seconds()

    for asked, of_token, of_pass in ((86_400, 86_400, 100), (None, 3_600, 100), (10, 10, 60)):
        assert (await lifetime(token, asked), await lifetime(short, asked)) == (of_token, of_pass)
    for wrong in (86_401, 0, -1, "60", 1.5, True):
        assert await lifetime(token, wrong) == "/seconds", wrong
    unknown = await mounted.http.post(CODE, headers={"X-User-Group-Token": token}, json={"second": 1})
    assert (unknown.status_code, unknown.json()["error"]["field"]) == (422, "/second")


async def test_a_code_of_a_revoked_viewer_gives_nothing(mounted: Mounted, clock: FrozenClock) -> None:
    """Red if the code is one of the group, so that the viewer comes back."""
    seconds = int(clock().timestamp())
    claims = {"iat": seconds, "exp": seconds + 30, "sub": "ada"}
    issued = (await mounted.issue(sign_pass(await mounted.token(), claims))).json()
    revoked = GroupChanges(revoked_viewers={"ada": seconds + 1})
    await mounted.store.groups.update(await mounted.environment(), "acme", revoked)
    late = await mounted.redeem(issued)
    assert (late.status_code, late.json()["error"]["code"]) == (401, "pass_revoked")


async def test_a_pass_opens_the_dashboards_of_its_scope(mounted: Mounted) -> None:
    """Another dashboard is one that does not exist. Red if a mount looks at the kind alone."""
    token = await mounted.token()

    async def status(scope: str | None) -> int:
        return (await mounted.issue(mint_pass(token, "ada", scope=scope))).status_code

    found = {scope: await status(scope) for scope in (None, "dashboard:sal*", "dashboard:finance", "app")}
    assert found == {None: 200, "dashboard:sal*": 200, "dashboard:finance": 404, "app": 403}


async def test_a_code_ends_after_a_minute_or_a_rotation(mounted: Mounted, clock: FrozenClock) -> None:
    """Red when what is redeemed is the token that is live by then."""
    token = await mounted.token()
    late, rotated = [(await mounted.issue(token)).json() for _ in range(2)]
    await mounted.rotate()
    assert (await mounted.redeem(rotated)).status_code == 410
    clock.advance(61)
    assert (await mounted.redeem(late)).status_code == 410


async def test_an_old_token_within_its_grace_gets_no_code(mounted: Mounted) -> None:
    """It would be one for the live token, and outlive the grace; nor does a pass that it signed. Red when the group
    alone is looked at."""
    token = await mounted.token()
    await mounted.rotate(grace_seconds=600)
    for old in (token, mint_pass(token, "ada")):
        answer = await mounted.issue(old)
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "token_already_rotated")
        assert old not in answer.text


async def _opened(mounted: Mounted, name: str, given: str | None = None) -> tuple[str, str, str]:
    """A group's first address, with its token or the ``given`` pass: where it leads, and the name and the value of the
    cookie."""
    token = given or await mounted.token(name)
    answer = await mounted.http.get(f"/dashboards/sales?city=Brno&USER_GROUP_TOKEN={token}&group=x")
    assert answer.status_code == 303
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"
    cookie, *attributes = answer.headers["set-cookie"].split("; ")
    assert sorted(attributes) == ["HttpOnly", "Max-Age=3600", "Path=/", "SameSite=Lax", "Secure"]
    assert token not in answer.headers["location"]
    return answer.headers["location"], *cookie.split("=", 1)


async def test_a_direct_visit_has_a_cookie_of_its_group(mounted: Mounted) -> None:
    """The token in the first address becomes a cookie with a pass. The cookie's name has the group's public handle, as
    the clean address has. Two groups in one browser do not mix: each request names its own. Red when the first cookie
    is taken, and when the cookie has the token."""
    ways = {name: await _opened(mounted, name) for name in ("acme", "bolt")}
    cookies = {"Cookie": "; ".join(f"{name}={value}" for _, name, value in ways.values())}
    for location, name, given in ways.values():
        handle = name.removeprefix("__Host-tenantry-")
        assert location == f"{mounted.prefix}/dashboards/sales?city=Brno&group={handle}"
        assert (await mounted.resolver.resolve(given.encode())).handle.hex() == handle[:16]
        assert (await mounted.follow(location)).status_code == 200
        answer = await mounted.http.post(CODE, headers=cookies | {"X-User-Group-Handle": handle})
        assert (await mounted.redeem(answer.json())).json() == {"token": given}


async def test_a_pass_in_the_first_address_is_the_cookie(mounted: Mounted) -> None:
    """The cookie has the viewer and the end of the pass. Red if it has a pass of the whole group."""
    given = mint_pass(await mounted.token(), "ada", seconds=30)
    _, _, value = await _opened(mounted, "acme", given)
    assert value == given


@pytest.mark.parametrize("is_inside", [False, True], ids=["alone", "inside"])
async def test_two_viewers_of_a_group_do_not_mix(mounted: Mounted, is_inside: bool) -> None:
    """Each address shows what its own viewer sees, also after another viewer of the group has come in the same browser.
    Red when the name of the cookie is made from the group alone."""
    if is_inside:
        mounted.app.add_middleware(UserGroupMiddleware, resolver=mounted.resolver)
    token = await mounted.token()
    passes = [
        mint_pass(token, "ann"),
        mint_pass(token, "bob"),
        mint_pass(token, "bob", {"region": "eu"}),
        mint_pass(token, "bob", scope="dashboard:sal*"),
        mint_pass(token, None, {"region": "eu"}),
        mint_pass(token),
        token,
    ]
    ways = [await _opened(mounted, "acme", given) for given in passes]
    cookies = {name: value for _, name, value in ways}
    assert len(cookies) == len(passes)
    sent = "; ".join(f"{name}={value}" for name, value in cookies.items())
    for location, _, value in ways:
        named = {"Cookie": sent, "X-User-Group-Handle": location.partition("&group=")[2]}
        answer = await mounted.http.post(CODE, headers=named)
        assert (await mounted.redeem(answer.json())).json() == {"token": value}


async def test_a_later_visit_of_a_viewer_takes_the_place_of_the_first(mounted: Mounted) -> None:
    """Red when each visit adds a cookie: after some visits a browser would send more than a server accepts."""
    token = await mounted.token()
    attributes = {"teams": ["a", "b"], "limits": {"rows": 1.5}}
    names = {
        (await _opened(mounted, "acme", mint_pass(token, "ann", attributes, seconds=seconds)))[1]
        for seconds in (60, 70, 80)
    }
    assert len(names) == 1


@pytest.mark.parametrize("is_inside", [False, True], ids=["alone", "inside"])
async def test_the_cookies_of_many_viewers_do_not_add_up(mounted: Mounted, is_inside: bool) -> None:
    """A browser keeps those of the latest visits. Red when nothing removes the others: by default nginx refuses a
    request with more than 8 KiB of cookies, so for an hour each request to the host would fail."""
    if is_inside:
        mounted.app.add_middleware(UserGroupMiddleware, resolver=mounted.resolver)
    token, jar = await mounted.token(), {"own": "x" * 200, "__Host-tenantry-no name": "x" * 5_000}
    made: list[str] = []
    for number in range(30):
        given = mint_pass(token, f"viewer {number}", {"text": "a" * 300})
        sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in jar.items())}
        answer = await mounted.http.get(f"/dashboards/sales?USER_GROUP_TOKEN={given}", headers=sent)
        assert answer.status_code == 303
        first, *gone = [each.split("; ") for each in answer.headers.get_list("set-cookie")]
        made.append(first[0].partition("=")[0])
        jar[made[-1]] = given
        for pair, *attributes in gone:
            assert sorted(attributes) == ["HttpOnly", "Max-Age=0", "Path=/", "SameSite=Lax", "Secure"]
            del jar[pair.partition("=")[0]]
    kept = [name for name in jar if name in made]
    assert kept == made[-len(kept) :]
    assert len(kept) > 3
    assert sum(len(name) + len(jar[name]) for name in kept[:-1]) <= 4_096
    assert len(jar) == len(kept) + 2


async def test_a_cookie_of_an_earlier_version_opens_nothing(mounted: Mounted) -> None:
    """Its name had the group's handle alone, so that nobody knows whose page asks. The page says that the access has
    ended. Red when the name is not compared with the viewer."""
    given = mint_pass(await mounted.token(), "ann")
    _, name, _ = await _opened(mounted, "acme", given)
    handle = name.removeprefix("__Host-tenantry-")[:16]
    visit = {"Cookie": f"__Host-tenantry-{handle}={given}", "X-User-Group-Handle": handle}
    answer = await mounted.http.post(CODE, headers=visit)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_token")


async def test_a_direct_visit_within_a_middleware_of_the_whole_app(mounted: Mounted) -> None:
    """It takes the token out of the address before the mount sees it, and puts it into the cookie that the mount
    answers with: nothing in between sees the token, also when the group is known already. Red when the mount looks for
    a token in the address alone: the page then had neither cookie nor handle, and the address kept the token."""
    seen: list[str] = []

    class Between:
        def __init__(self, app: ASGIApp) -> None:
            self.app = app

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            seen.append(repr(scope))

            async def see(message: Message) -> None:
                seen.append(repr(message))
                await send(message)

            await self.app(scope, receive, see)

    mounted.app.add_middleware(Between)
    mounted.app.add_middleware(UserGroupMiddleware, resolver=mounted.resolver)
    for _ in range(2):
        location, name, given = await _opened(mounted, "acme")
        handle = name.removeprefix("__Host-tenantry-")
        assert (await mounted.resolver.resolve(given.encode())).handle.hex() == handle[:16]
        assert location == f"{mounted.prefix}/dashboards/sales?city=Brno&group={handle}"
    assert seen
    assert await mounted.token() not in "".join(seen)
    assert given not in "".join(seen)
    page = await mounted.follow(location)
    assert (page.status_code, "set-cookie" in page.headers) == (200, False)
    answer = await mounted.http.post(CODE, headers={"Cookie": f"{name}={given}", "X-User-Group-Handle": handle})
    assert (await mounted.redeem(answer.json())).json() == {"token": given}
    page = await mounted.http.get("/dashboards/sales", headers={"X-User-Group-Token": given})
    assert (page.status_code, "set-cookie" in page.headers) == (200, False)


@pytest.mark.parametrize("scope", ["dashboard", "dashboard:sal*", None])
async def test_a_direct_visit_with_a_pass_within_a_middleware_of_the_whole_app(
    mounted: Mounted, scope: str | None
) -> None:
    """As without that middleware, whose kind is not in the scope. Red when the mount asks for the group that the outer
    middleware lets into the app: 403."""
    mounted.app.add_middleware(UserGroupMiddleware, resolver=mounted.resolver)
    given = mint_pass(await mounted.token(), "ada", scope=scope)
    location, name, value = await _opened(mounted, "acme", given)
    assert value == given
    assert (await mounted.follow(location)).status_code == 200
    named = {"Cookie": f"{name}={given}", "X-User-Group-Handle": name.removeprefix("__Host-tenantry-")}
    assert (await mounted.http.post(CODE, headers=named)).status_code == 200


async def test_a_direct_visit_of_another_environment_is_refused(tmp_path: Path, clock: FrozenClock) -> None:
    """As it is without a middleware around it: its cookie would open nothing. Red when the group that the outer one
    has found is taken as it is."""
    mounted = Mounted(tmp_path, clock, environment="other")
    mounted.app.add_middleware(
        UserGroupMiddleware,
        resolver=Resolver(mounted.store, keys=KEYS, clock=clock.monotonic, time_of_day=clock),
    )
    answer = await mounted.http.get(f"/dashboards/sales?USER_GROUP_TOKEN={await mounted.token()}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_token")
    await mounted.http.aclose()


async def test_a_cookie_is_good_for_its_own_group_and_viewer_alone(mounted: Mounted) -> None:
    """And only where the page's script names the group: a form of another site cannot. A cookie with a token opens
    nothing. Red when the pass in a cookie is not compared with its name."""
    _, name, given = await _opened(mounted, "acme")
    _, other, _ = await _opened(mounted, "bolt")
    _, anns, of_ann = await _opened(mounted, "acme", mint_pass(await mounted.token(), "ann"))
    handle, other_handle = name.removeprefix("__Host-tenantry-"), other.removeprefix("__Host-tenantry-")

    async def status(cookie: str, **headers: str) -> int:
        answer = await mounted.http.post(CODE, headers={"Cookie": cookie} | headers)
        return int(answer.status_code)

    token = await mounted.token()
    assert await status(f"{name}={given}", **{"X-User-Group-Handle": handle}) == 200
    assert await status(f"{name}={token}", **{"X-User-Group-Handle": handle}) == 401
    assert await status(f"{name}={given}") == 401
    assert await status(f"{name}={given}", **{"X-User-Group-Handle": other_handle}) == 401
    assert await status(f"{other}={given}", **{"X-User-Group-Handle": other_handle}) == 401
    assert await status(f"{name}={of_ann}", **{"X-User-Group-Handle": handle}) == 401
    assert await status(f"{anns}={given}", **{"X-User-Group-Handle": anns.removeprefix("__Host-tenantry-")}) == 401
    assert await status(f"{name}=forged", **{"X-User-Group-Handle": handle}) == 401
    forged = token[:-1] + ("y" if token.endswith("x") else "x")  # one token in thirty ends with an x
    assert (await mounted.http.get(f"/dashboards/sales?USER_GROUP_TOKEN={forged}")).status_code == 401


DATA = ("/panels", "/panels/x/download", "/panels/x/explanation", "/embed-code")
"""Below a dashboard: what a token opens."""


@pytest.mark.parametrize("address", DATA)
async def test_a_page_of_elsewhere_has_nothing_of_a_direct_visit(mounted: Mounted, address: str) -> None:
    """The browser adds the cookie whoever asks, so where the host's CORS lets a page set the header, its origin is
    checked. A token in a header is nobody's but the page's that has it. Red when the cookie becomes a header that no
    OriginCheck sees."""
    _, name, given = await _opened(mounted, "acme")
    visit = {"Cookie": f"{name}={given}", "X-User-Group-Handle": name.removeprefix("__Host-tenantry-")}

    async def code(headers: Mapping[str, str], credentials: Mapping[str, str] = visit) -> str:
        answer = await mounted.http.post(f"/dashboards/sales/-{address}", json={}, headers={**credentials, **headers})
        is_error = answer.headers["content-type"].startswith("application/json") and "error" in answer.json()
        return str(answer.json()["error"]["code"]) if is_error else ""

    foreign = [
        {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://sibling.test", "Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site"},
    ]
    assert [await code(headers) for headers in foreign] == ["origin_not_allowed"] * len(foreign)
    own = [{"Sec-Fetch-Site": "same-origin"}, {"Origin": "http://dash.test"}, {}]
    assert [await code(headers) for headers in own] == [""] * len(own)
    assert await code(foreign[0], {"X-User-Group-Token": given}) == ""


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "bad_json"),
        (b"{", 400, "bad_json"),
        (b"\xff", 400, "bad_json"),
        (b'{"code": "a", "code": "b"}', 400, "bad_json"),
        (b"[" * 300, 400, "bad_json"),
        (b"[" * 300 + b"]" * 300, 422, "invalid_body"),
        (b"[]", 422, "invalid_body"),
        (b"{}", 422, "invalid_body"),
        (b'{"code": 1}', 422, "invalid_body"),
        (b'{"code": "%s"}' % (b"x" * 65_536), 413, "body_too_large"),
        (b'{"code": "%s"}' % (b"x" * 43), 410, "code_used"),
    ],
    ids=range(11),
)
async def test_what_is_no_code_is_refused(mounted: Mounted, body: bytes, status: int, code: str) -> None:
    """As an error of whoever sent it, by the name that docs/errors.md has for it. Red when the body is read in another
    way than that of a request for panels."""
    answer = await mounted.http.post(REDEEM, content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer.json()["error"].get("field") == (None if status != 422 else "/code" if body.startswith(b"{") else "")


@pytest.mark.parametrize(
    "path", ["-%2fredeem", "sales%2f-%2Fpanels", "sales/-/panels%2Fx%2Fdownload", "sales%2f", "-/assets%2fpage.js"]
)
async def test_an_encoded_slash_is_another_address(mounted: Mounted, path: str) -> None:
    """A proxy's rule for ``/dashboards/-/redeem`` does not see ``-%2fredeem``, and the server decodes both to one. Red
    when the path is looked at as it was decoded."""
    headers = {"X-User-Group-Token": await mounted.token()}
    for method in ("GET", "POST"):
        answer = await mounted.http.request(method, f"/dashboards/{path}", json={}, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    assert (await mounted.http.get("/dashboards/sales?to=a%2Fb")).status_code == 200


async def test_what_is_no_code_costs_one_read(mounted: Mounted, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though it could be the code of a token or of a preview. Red when one is asked for after the other."""
    asked: list[str] = []

    def count(name: str) -> None:
        method = getattr(mounted.store.codes, name)

        async def counted(*arguments: Any, **named: Any) -> Any:
            asked.append(name)
            return await method(*arguments, **named)

        monkeypatch.setattr(mounted.store.codes, name, counted)

    for name in ("purpose", "read", "redeem", "add"):
        count(name)
    assert (await mounted.redeem({"code": "x" * 43})).status_code == 410
    assert asked == ["purpose"]


async def test_a_form_of_another_site_redeems_nothing(mounted: Mounted) -> None:
    """A browser sends text and forms to any site without asking. Red when the type of the body is not looked at."""
    code = (await mounted.issue(await mounted.token())).content
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        answer = await mounted.http.post(REDEEM, content=code, headers={"Content-Type": kind})
        assert answer.status_code == 415
    assert (await mounted.http.post(CODE)).status_code == 401


async def test_a_group_is_shown_only_where_it_may_be(mounted: Mounted) -> None:
    """Its own list and its environment's both have to name the page that embeds. A page that stands alone names none.
    Red when one of the two lists is not asked."""
    await mounted.store.environments.set_embedding_hosts(
        await mounted.environment(), ["https://app.test", "https://b.test"]
    )
    token = await mounted.token()

    async def status(origin: str | None) -> int:
        headers = {"X-User-Group-Token": token} | ({} if origin is None else {"X-Embedding-Origin": origin})
        answer = await mounted.http.post("/dashboards/sales/-/panels", json={}, headers=headers)
        return int(answer.status_code)

    assert await status(None) == 200
    assert await status("https://app.test") == 200
    for origin in ("https://b.test", "https://x.app.test", "https://evil.test", "null", "http://dash.test"):
        assert await status(origin) == 403
    mounted.lists["acme"] = ["https://b.test"]
    assert (await status("https://app.test"), await status("https://b.test")) == (403, 200)
