"""The PostgreSQL guide, statement by statement, on a real server: roles, pools, a pooler, a backup that is restored."""

from __future__ import annotations

import re
import secrets
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import anyio
import psycopg
import pytest

from benchmarks.acceptance.faults.postgres import PostgresServer
from engines.debian_packages import require
from engines.pgbouncer import PACKAGES, PgBouncer, pooled_as
from engines.postgres import Postgres
from engines.postgres_programs import installed_programs
from engines.reverse_proxies import FILES
from tenantry import Resolver
from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import migrate
from tenantry.errors import InvalidToken, StoreUnavailable
from tenantry.groups import Environment, GroupChanges, GroupDraft, GroupRotation, Issued, SourceDraft, Tag
from tenantry.groups.usage_sums import HourlyUsage, Usage, UsageBatch, UsageKey
from tenantry.provisioning import issue_api_token
from tenantry.testing import make_token
from tests.provisioning.http.conftest import make_keys

PAGE = (FILES.parents[1] / "docs" / "deploy" / "postgresql.md").read_text("utf-8")
RIGHTS = (FILES / "postgresql" / "rights.sql").read_text("utf-8")
CONNECTIONS = 8
"""Of one event loop: four that read and four that write."""


@dataclass
class Database:
    """``url(role)`` is the database as one of the guide's roles, which have names of their own here."""

    server: Postgres
    prefix: str

    @property
    def name(self) -> str:
        return f"{self.prefix}store"

    def url(self, role: str) -> str:
        parts = urlsplit(self.server.url)
        netloc = f"{self.prefix}{role}@{parts.netloc.rpartition('@')[2]}"
        return urlunsplit(parts._replace(netloc=netloc, path=f"/{self.name}"))

    def written(self, text: str) -> str:
        """A text of the guide, with the names of here."""
        named = text.replace("tenantry_", self.prefix)
        return re.sub(r"\b(database|connect) tenantry\b", rf"\1 {self.name}", named)

    def psql(self, url: str, script: str) -> str:
        command = [installed_programs() / "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url, "-f", "-"]
        done = subprocess.run(command, input=self.written(script), capture_output=True, text=True, check=False)
        if done.returncode:
            raise PermissionError(done.stderr)
        return done.stdout.strip()

    def run(self, program: str, *words: str) -> None:
        command = [str(installed_programs() / program), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def database(postgres: Postgres) -> Iterator[Database]:
    """As the guide makes it: roles, tables, rights. The rights twice, as after an upgrade."""
    made = Database(postgres, f"g{secrets.token_hex(4)}_")
    made.psql(postgres.url, (FILES / "postgresql" / "roles.sql").read_text("utf-8"))
    migrate(made.url("owner"))
    for _ in range(2):
        made.psql(made.url("owner"), RIGHTS)
    yield made
    postgres.execute(f"drop database {made.name} with (force)")
    for role in ("owner", "serve", "app", "look"):
        postgres.execute(f"drop role {made.prefix}{role}")


@pytest.fixture
async def serve(database: Database) -> AsyncIterator[SQLStore]:
    """What ``tenantry serve`` has: the tables are up to date, so it needs no right to alter them."""
    migrate(database.url("serve"))
    store = SQLStore(database.url("serve"))
    yield store
    await store.aclose()


@pytest.fixture
async def app(database: Database) -> AsyncIterator[SQLStore]:
    store = SQLStore(database.url("app"))
    yield store
    await store.aclose()


async def provision(store: SQLStore, name: str) -> tuple[Environment, Issued]:
    environment = await store.environments.create(name, Tag.CUSTOMER)
    return environment, await store.groups.get_or_create(environment, GroupDraft("acme", "Acme"), make_token())


async def test_the_role_of_serve_does_all_that_the_command_line_does(serve: SQLStore, database: Database) -> None:
    """And cannot alter tables, nor the audit trail. Red without the right to sequences: no row gets a number."""
    environment, issued = await provision(serve, "of-serve")
    await serve.ready()
    await issue_api_token(serve.api_tokens, environment)
    await serve.sources.create(environment, f"ds_{secrets.token_hex(4)}", SourceDraft("warehouse", "sqlite:////a.db"))
    await serve.groups.update(environment, "acme", GroupChanges(name="Acme Ltd"))
    again = await serve.groups.rotate(environment, issued.token, key_id="k1", nonce=secrets.token_bytes(16))
    assert again.token.version == issued.token.version + 1
    rotation = GroupRotation(again, "k2", secrets.token_bytes(16))
    assert await serve.groups.write_many(environment, [rotation]) != [None]
    assert (await serve.environments.count_tokens())["k2"].live == 1
    await serve.groups.delete(environment, "acme")
    assert [entry.action for entry in await serve.audit.list(environment="of-serve")][-1] == "group.deleted"
    for forbidden in (
        "drop table audit",
        "alter table user_groups add column x int",
        "alter table audit disable trigger all",
        "truncate audit",
        "create table public.mine (x int)",
        "update audit set author = 'nobody'",
        "delete from audit",
    ):
        with pytest.raises(PermissionError, match=r"must be owner|permission denied|audit"):
            database.psql(database.url("serve"), forbidden)


async def test_the_role_of_an_app_resolves_and_writes_nothing(
    serve: SQLStore, app: SQLStore, database: Database
) -> None:
    """It caches, follows changes, reads data sources and uses codes up. Red when one of its grants is taken away."""
    environment, issued = await provision(serve, "of-app")
    await serve.sources.create(environment, f"ds_{secrets.token_hex(4)}", SourceDraft("warehouse", "sqlite:////a.db"))
    keys = make_keys()
    resolver = Resolver(app, keys=keys, patience=60.0)
    token = keys.mint(issued.token)
    await app.ready()
    assert (await resolver.resolve(token)).provided_id == "acme"
    with anyio.fail_after(60):
        while resolver.peek(token.encode()) is None:  # cached: it could note its lease
            await resolver.resolve(token)
            await anyio.sleep(0.05)
    source = (await app.sources.get_at_snapshot(environment, "warehouse")).source
    assert source is not None
    await app.codes.add(b"d" * 32, purpose="download", payload="{}", lifetime=60.0)
    assert await app.codes.redeem(b"d" * 32, purpose="download") == "{}"
    assert await app.environments.embedding_hosts() is not None
    hour = datetime(2026, 11, 25, 12, tzinfo=UTC)
    used = HourlyUsage(hour, UsageKey("of-app", "acme", ""), Usage(resolves=1))
    for number in (1, 2):
        await app.usage.add(UsageBatch(b"w" * 16, number, [used]))
    await serve.groups.rotate(environment, issued.token, key_id="k1", nonce=secrets.token_bytes(16))
    with pytest.raises(InvalidToken):
        await resolver.resolve(token)
    with pytest.raises(StoreUnavailable, match="permission denied"):
        await app.groups.get_or_create(environment, GroupDraft("globex", "Globex"), make_token())
    for forbidden in (
        "select from audit",
        "select from api_tokens",
        "delete from user_groups",
        "delete from generation",
    ):
        with pytest.raises(PermissionError, match="permission denied"):
            database.psql(database.url("app"), forbidden)
    await resolver.aclose()


async def test_the_role_of_people_sees_no_part_of_a_token(serve: SQLStore, database: Database) -> None:
    """It reads who did what, and which groups there are. Red when it may read the whole table of groups."""
    await provision(serve, "of-people")

    def read(script: str) -> str:
        return database.psql(database.url("look"), script)

    assert "group.created" in read("select action from audit where environment = 'of-people'")
    assert "acme" in read("select provided_id, name, properties, expires_at from user_groups")
    for forbidden in (
        "select nonce from user_groups",
        "select handle from user_groups",
        "select url from data_sources",
        "select digest from api_tokens",
        "insert into environments (name) values ('mine')",
    ):
        with pytest.raises(PermissionError, match=r"permission denied|read-only"):
            read(forbidden)


def sql_of(heading: str) -> str:
    """The SQL of the page under a heading."""
    section = PAGE[PAGE.index(f"## {heading}\n") :]
    found = re.search(r"^```sql\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert found is not None, heading
    return found[1]


async def test_the_connections_of_a_process(serve: SQLStore, database: Database) -> None:
    """At most eight, however much is asked at once, as the page counts them. Red with a larger pool, or none."""
    environment, _ = await provision(serve, "of-pools")
    async with anyio.create_task_group() as tasks:
        for number in range(60):
            tasks.start_soon(serve.groups.get, environment, "acme")
            tasks.start_soon(serve.groups.get_or_create, environment, GroupDraft(f"g{number}", "G"), make_token())
    counted = await anyio.to_thread.run_sync(
        database.psql, database.server.url, sql_of("Pools").replace("'tenantry'", f"'{database.name}'")
    )
    of_serve = dict(line.split("|") for line in counted.splitlines())
    assert 2 <= int(of_serve[f"{database.prefix}serve"]) <= CONNECTIONS


@contextmanager
def guide_pooler(database: str, users: str) -> Iterator[PgBouncer]:
    """A PgBouncer with the page's ``pgbouncer.ini`` as it is, but for the address of the server, the pooler's port and
    the folder of the file of users. ``database``: the URL of the database; ``users``: the contents of that file."""
    require(*PACKAGES)
    found = re.search(r"^```ini\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    server = urlsplit(database)
    name = server.path.removeprefix("/")

    def written(port: int, folder: Path) -> str:
        (folder / "userlist.txt").write_text(users)
        text = found[1]
        for line, here in (
            (
                "tenantry = host=db.internal dbname=tenantry\n",
                f"{name} = host=127.0.0.1 port={server.port} dbname={name}\n",
            ),
            ("listen_port = 6432\n", f"listen_port = {port}\n"),
            ("/etc/pgbouncer/userlist.txt\n", f"{folder}/userlist.txt\n"),
        ):
            assert text.count(line) == 1, line
            text = text.replace(line, here)
        return text

    with pooled_as(written, "transaction") as pooler:
        yield pooler


def with_password(url: str, password: str) -> str:
    return url.replace("@", f":{password}@", 1)


async def test_the_pooler_of_the_guide(serve: SQLStore, database: Database) -> None:
    """The file of the page, before this server: the store works through it, migrations too, and all roles together
    have at most the connections that the page promises. Red without ``listen_addr`` (nothing listens on the port),
    and without ``max_db_connections`` (each role has 20)."""
    server, password = database.server, secrets.token_hex(8)
    for role in ("serve", "app"):
        server.execute(f"alter role {database.prefix}{role} password '{password}'")
    users = await anyio.to_thread.run_sync(database.psql, server.url, sql_of("Poolers"))
    counted = (
        f"select count(*) from pg_stat_activity where datname = '{database.name}' and usename like '{database.prefix}%'"
    )
    with guide_pooler(database.url("serve"), users) as pooler:

        def through(role: str) -> str:
            return with_password(pooler.url(database.url(role)), password)

        await anyio.to_thread.run_sync(migrate, through("serve"))
        store = SQLStore(through("serve"))
        await store.ready()
        await provision(store, "of-pooler")
        await store.aclose()
        server.disconnect(database.url("serve"))

        async def wait_for_lock(role: str) -> None:
            async with await psycopg.AsyncConnection.connect(through(role), autocommit=True) as connection:
                await connection.execute("select pg_advisory_xact_lock_shared(32)")

        async def connections() -> int:
            return int(await anyio.to_thread.run_sync(server.execute, counted))

        holder = await psycopg.AsyncConnection.connect(
            urlunsplit(urlsplit(server.url)._replace(path=f"/{database.name}"))
        )
        await holder.execute("select pg_advisory_xact_lock(32)")
        async with anyio.create_task_group() as tasks:
            before = pooler.log().count("login attempt")
            for role in ("serve", "app") * 25:
                tasks.start_soon(wait_for_lock, role)
            with anyio.fail_after(60):
                while pooler.log().count("login attempt") < before + 50 or await connections() < 20:
                    await anyio.sleep(0.05)
            assert max([await connections() for _ in range(20)]) == 20
            await holder.close()
    server.disconnect(database.url("serve"))


async def test_the_pooler_soon_finds_a_server_that_restarts() -> None:
    """While the server is away, PgBouncer tries to log in again within seconds, by the times in its own log; the store
    works when the server is back. Red without ``server_login_retry``: the next attempt comes after 15 s."""
    with PostgresServer() as server, guide_pooler(url := server.create_database(), '"postgres" "word"') as pooler:
        await anyio.to_thread.run_sync(migrate, url)
        store = SQLStore(with_password(pooler.url(url), "word"))
        await store.ready()
        server.stop_at_once()
        attempts: list[datetime] = []
        with anyio.fail_after(60):
            while len(attempts) < 4:
                with pytest.raises(StoreUnavailable):
                    await store.ready()
                failed = re.findall(r"^(\S+ \S+) \w+ .*closing because: connect failed", pooler.log(), re.MULTILINE)
                attempts = [datetime.fromisoformat(time) for time in failed]
                await anyio.sleep(0.05)
        assert min(later - before for before, later in pairwise(attempts)).total_seconds() < 10
        await anyio.to_thread.run_sync(server.start)
        with anyio.fail_after(60):
            while True:
                try:
                    await store.ready()
                    break
                except StoreUnavailable:
                    await anyio.sleep(0.05)
        await store.aclose()


async def test_the_drill(database: Database, tmp_path: Path, postgres: Postgres) -> None:
    """A backup is restored while an app runs that knows what came after it, and writes go on from there.

    The app drops all that it knew, also where the store has as many changes again by then; a token that was rotated
    after the backup is good again, as the page says, and the one that it was rotated to is dead.

    Red without the new id: the app takes the changes since the backup for those that it has seen, and goes on
    accepting the token of a group that was deleted since.
    """
    store = SQLStore(database.url("serve"))
    environment, issued = await provision(store, "of-drill")
    other = await store.groups.get_or_create(environment, GroupDraft("globex", "Globex"), make_token())
    keys = make_keys()
    (tmp_path / "run").mkdir(mode=0o700)
    app = SQLStore(database.url("app"), run_dir=tmp_path / "run")  # on another host
    resolver = Resolver(app, keys=keys, patience=60.0)
    saved = tmp_path / "tenantry.dump"
    dump, restore = commands()
    await anyio.to_thread.run_sync(lambda: database.run(*(filled(word, database, saved) for word in dump)))

    rotated = await store.groups.rotate(environment, issued.token, key_id="k1", nonce=secrets.token_bytes(16))
    known = keys.mint(other.token)
    await resolver.resolve(known)
    assert (await resolver.resolve(keys.mint(rotated.token))).token_version == 2
    with pytest.raises(InvalidToken):
        await resolver.resolve(keys.mint(issued.token))
    before = (await store.changes(None)).generation

    await store.aclose()  # every `tenantry serve` is stopped

    async def go_on() -> None:
        """As many writes as the app knows of, and one more; the first one deletes a group that it has cached."""
        again = SQLStore(database.url("serve"))
        await again.groups.delete(environment, "globex")
        while (await again.changes(None)).generation <= before:
            await again.groups.update(environment, "acme", GroupChanges(name=secrets.token_hex(4)))
        await again.aclose()

    def lost_time() -> None:
        database.run(*(filled(word, database, saved) for word in restore))
        database.psql(database.url("owner"), sql_of("Backups, and a drill"))
        database.psql(database.url("owner"), RIGHTS)
        anyio.run(go_on)

    asleep = threading.Thread(target=lost_time)
    asleep.start()
    asleep.join()  # this loop does nothing meanwhile, as an app whose host sleeps
    with anyio.fail_after(60):
        while True:
            try:
                await resolver.resolve(known)
            except InvalidToken:
                break
            await anyio.sleep(0.1)
    assert (await resolver.resolve(keys.mint(issued.token))).token_version == 1
    with pytest.raises(InvalidToken):
        await resolver.resolve(keys.mint(rotated.token))
    await resolver.aclose()
    await app.aclose()


def commands() -> list[list[str]]:
    """``pg_dump`` and ``pg_restore`` of the page, word by word."""
    return [line.split() for line in re.findall(r"^ +(pg_(?:dump|restore) .*)$", PAGE, re.MULTILINE)]


def filled(word: str, database: Database, saved: Path) -> str:
    """A word of a command of the page, for here."""
    if word.startswith("postgresql://"):
        return database.url("owner")
    return str(saved) if word == "tenantry.dump" else word


async def test_a_replica(serve: SQLStore, app: SQLStore, database: Database, tmp_path: Path) -> None:
    """A server that takes no writes, as a standby is one. Tokens are resolved; nothing is cached while nobody has noted
    a lease as long at the primary, for it cannot be noted here; after that answers are cached that are as old as the
    replica. Red when the lease is not noted before it is used."""
    _, issued = await provision(serve, "of-replica")
    database.psql(database.url("owner"), "update generation set longest_lease = 0")
    (tmp_path / "run").mkdir(mode=0o700)
    url = f"{database.url('app')}?options=-c%20default_transaction_read_only%3Don"
    replica = SQLStore(url, run_dir=tmp_path / "run")
    resolver = Resolver(replica, keys=make_keys(), patience=60.0)
    token = make_keys().mint(issued.token)
    for _ in range(3):
        assert (await resolver.resolve(token)).provided_id == "acme"
        assert resolver.peek(token.encode()) is None
    with pytest.raises(StoreUnavailable):
        await replica.changes(None, lease=5.0)
    await app.changes(None, lease=5.0)
    with anyio.fail_after(60):
        while resolver.peek(token.encode()) is None:
            await resolver.resolve(token)
            await anyio.sleep(0.1)
    await resolver.aclose()
    await replica.aclose()
