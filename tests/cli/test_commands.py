"""What each command prints, where, and how it fails."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from engines.ports import free_port
from tenantry.backends.sql import SQLStore
from tenantry.cli import commands
from tenantry.dashboards.preview.previews import Previews
from tenantry.groups import Author
from tenantry.tokens import TOKEN_PATTERN
from tenantry.tokens.keys import SigningKeys
from tests.cli.conftest import Terminal


def test_keys_new_prints_the_path_alone_and_never_overwrites(terminal: Terminal, folder: Path) -> None:
    """Red when the file is opened without O_EXCL: the second call would succeed."""
    assert terminal("keys", "new").out == "tenantry.keys\n"
    before = (folder / "tenantry.keys").read_bytes()
    assert stat.S_IMODE((folder / "tenantry.keys").stat().st_mode) == 0o600
    assert "[invalid_keys]" in terminal("keys", "new", fails=1).err
    assert (folder / "tenantry.keys").read_bytes() == before


def test_keys_rotate_list_and_remove(terminal: Terminal, folder: Path) -> None:
    """Rotation adds an active key and keeps the old one; no command shows a secret."""
    terminal("keys", "new")
    terminal("migrate")
    second = terminal("keys", "rotate").out.strip()
    listed = terminal("keys", "list", "--json")
    assert [(row["id"] == second, row["active"]) for row in listed.json()] == [(False, False), (True, True)]
    lines = [line for line in (folder / "tenantry.keys").read_text().splitlines() if not line.startswith("#")]
    secrets = [word for line in lines for word in line.split() if len(word) > 30]
    assert len(secrets) == 2
    assert not any(secret in listed.out for secret in secrets)
    first = listed.json()[0]["id"]
    assert terminal("keys", "remove", first).out == f"{first}\n"
    assert "[invalid_keys]" in terminal("keys", "remove", second, fails=1).err


def test_a_key_that_groups_need_is_counted_and_stays(ready: Terminal) -> None:
    """Red when ``keys remove`` counts nothing, or only the live tokens: a token in its grace period would end early.
    Also red when the two are one number: the advice for a group with a new token was to rotate it."""
    for name in ("acme", "globex"):
        ready("group", "create", name)
    ready("data-source", "create", "a", "--no-check", "--url", "postgresql://reader:secret@127.0.0.1:1/sales")
    ready("keys", "rotate")

    def counts() -> list[tuple[str, int, int, int]]:
        rows = ready("keys", "list", "--json").json()
        return [(row["id"], row["groups"], row["in_grace"], row["sources"]) for row in rows]

    assert counts() == [("k1", 2, 0, 1), ("k2", 0, 0, 1)]
    assert "the tokens of 2 user groups are signed by it" in ready("keys", "remove", "k1", fails=1).err
    ready("group", "rotate", "acme")
    ready("group", "rotate", "globex", "--grace-seconds", "3600")
    assert counts() == [("k1", 0, 1, 1), ("k2", 2, 0, 1)]
    refused = ready("keys", "remove", "k1", fails=1).err
    assert "the old token of 1 user group is signed by it. The last grace period ends on " in refused
    assert "UTC: wait until then, or add --force" in refused
    assert "group rotate" not in refused
    ready("group", "rotate", "globex")
    assert ready("keys", "remove", "k1").out == "k1\n"
    assert counts() == [("k2", 2, 0, 1)]


def test_a_key_is_removed_in_the_grace_period_of_its_tokens(ready: Terminal) -> None:
    """The groups have new tokens, so no advice remains, doctor is content, and a rotation finds nothing to do. Red when
    tokens in their grace period count as the tokens of their groups."""
    ready("group", "create", "acme")
    ready("environment", "set-grace", "production", "3600")
    ready("keys", "rotate")
    rotate = ("group", "rotate", "--signed-by", "k1", "--yes")
    assert ready(*rotate).err == "1 rotated, 0 failed\n"
    removed = ready("keys", "remove", "k1", "--force").err
    assert "the old token of 1 user group is refused within the staleness bound. The groups have new ones." in removed
    assert "signing_key_missing" not in removed
    assert ready("keys", "list").err == ""
    assert ready("doctor").err == ""
    assert ready(*rotate).err == "0 rotated, 0 failed\n"


def test_keys_are_listed_without_a_store(terminal: Terminal, folder: Path) -> None:
    """Red when the list ends with the store's error."""
    terminal("keys", "new")
    listed = terminal("keys", "list", "--json")
    assert [(row["id"], row["groups"], row["sources"]) for row in listed.json()] == [("k1", None, None)]
    assert "tenantry migrate" in listed.err
    assert not (folder / "tenantry.db").exists()


def test_a_store_without_tables_says_what_to_run(terminal: Terminal, folder: Path) -> None:
    """Exit code 3 tells a script that the store is at fault; no empty database appears."""
    result = terminal("environment", "list", fails=3)
    assert "tenantry migrate" in result.err
    assert not (folder / "tenantry.db").exists()


def test_migrate_twice(terminal: Terminal) -> None:
    """Running it again changes nothing."""
    terminal("migrate")
    assert terminal("migrate").out == ""


def test_environments(ready: Terminal) -> None:
    """Create prints the name alone; list shows the tag; a name is taken once."""
    assert ready("environment", "create", "staging", "--tag", "Testing").out == "staging\n"
    assert [row["tag"] for row in ready("environment", "list", "--json").json()] == ["Customer", "Testing"]
    assert "[already_exists]" in ready("environment", "create", "staging", "--tag", "Testing", fails=1).err


def test_the_only_environment_need_not_be_named_and_one_of_several_must(ready: Terminal) -> None:
    """Nothing is guessed when there is a choice."""
    ready("api-token", "list")
    ready("environment", "create", "staging", "--tag", "Testing")
    result = ready("api-token", "list", fails=1)
    assert "--environment" in result.err
    assert "production, staging" in result.err
    assert "tenantry environment create" in ready("api-token", "list", "--environment", "nope", fails=1).err


def test_api_tokens_are_shown_once_and_kept_as_a_hash(ready: Terminal, folder: Path) -> None:
    """Red when the secret is stored: its bytes would be in the file."""
    secret = ready(
        "api-token", "create", "--label", "backend", "--scope", "provision", "--scope", "introspect"
    ).out.strip()
    assert secret.startswith("ugkc_")
    row = ready("api-token", "list", "--json").json()[0]
    assert (row["label"], row["scopes"], row["hint"]) == ("backend", ["introspect", "provision"], secret[-4:])
    stored = b"".join(path.read_bytes() for path in folder.glob("tenantry.db*"))
    assert secret.encode() not in stored
    assert ready("api-token", "revoke", str(row["id"])).out == f"{row['id']}\n"
    assert ready("api-token", "list", "--json").json()[0]["revoked_at"]
    assert "[unknown_api_token]" in ready("api-token", "revoke", "99", fails=1).err


def test_a_revocation_says_how_many_previews_it_ended(ready: Terminal, folder: Path) -> None:
    """In words and in JSON; the second time it is none. Red when a preview does not end with its API token."""
    ready("api-token", "create", "--scope", "preview")
    ready("group", "create", "acme")

    async def preview() -> None:
        store = SQLStore(f"sqlite:///{folder}/tenantry.db")
        (environment,) = await store.environments.list()
        (token,) = await store.api_tokens.list(environment)
        for _ in range(3):
            await Previews(store).issue(environment, "acme", "sales", Author("ann"), None, api_token_id=token.id)
        await store.aclose()

    asyncio.run(preview())
    said = ready("api-token", "revoke", "1", "--json")
    assert said.json()["ended_previews"] == 3
    assert "Previews that ended with it, opened or not: 3." in said.err
    assert "opened or not: 0." in ready("api-token", "revoke", "1").err


def test_data_sources_mask_passwords(ready: Terminal) -> None:
    """A password goes in through stdin and comes out nowhere. Red when the row prints ``url`` itself."""
    url = "postgresql://reader:hunter2hunter2@db.example/sales"
    made = ready("data-source", "create", "warehouse", "--no-check", "--url", "-", given=url + "\n")
    assert made.out.startswith("ds_")
    listed = ready("data-source", "list", "--no-check")
    assert "db.example" in listed.out
    assert "hunter2" not in made.out + made.err + listed.out + listed.err
    assert "[already_exists]" in ready("data-source", "create", "warehouse", "--no-check", "--url", url, fails=1).err
    assert ready("data-source", "delete", "warehouse").out == made.out
    assert "hunter2" not in ready("data-source", "create", "x", "--url", "oracle://u:hunter2@h/d", fails=1).err


def test_a_data_source_that_nothing_holds_says_so(ready: Terminal) -> None:
    """On stderr, beside the id; one that is held says nothing. Red without the notes."""
    made = ready("data-source", "create", "lake", "--no-check", "--trusted", "--url", "mssql+pymssql://u:hunter2@h/d")
    assert made.out.startswith("ds_")
    assert "Warning: only the rights of the database user keep mssql read-only" in made.err
    assert "Warning: a query on mssql cannot be stopped" in made.err
    assert "hunter2" not in made.err
    assert "Warning" not in ready("data-source", "create", "file", "--no-check", "--url", "sqlite:///a.db").err


def test_a_data_source_is_registered_with_its_session_variables(ready: Terminal) -> None:
    """They are shown in the list; what no database could take is refused, before anything is stored."""
    url = "postgresql://reader@127.0.0.1:1/sales"
    tenant, plan = "app.tenant={{user_group.id}}", "app.plan = {{ user_group.properties.plan }}"
    made = ready("data-source", "create", "sales", "--no-check", "--url", url, "--session", tenant, "--session", plan)
    session = {"app.tenant": "{{ user_group.id }}", "app.plan": "{{ user_group.properties.plan }}"}
    listed = ready("data-source", "list", "--no-check", "--json").json()
    assert [(row["id"], row["session"]) for row in listed] == [(made.out.strip(), session)]
    for address, given in ((url, "role={{ user_group.id }}"), (url, "app.tenant"), ("sqlite:///w.db", tenant)):
        refused = ready("data-source", "create", "other", "--url", address, "--session", given, fails=1)
        assert "[invalid_source]" in refused.err
    twice = ready("data-source", "create", "other", "--url", url, "--session", tenant, "--session", tenant, fails=1)
    assert "declared twice" in twice.err
    assert len(ready("data-source", "list", "--no-check", "--json").json()) == 1


def test_data_source_names_leave_our_own_ids_free(ready: Terminal) -> None:
    """A caller's id can never be taken for one of ours."""
    assert "[invalid_source]" in ready("data-source", "create", "ds_mine", "--url", "sqlite:///w.db", fails=1).err


def test_a_file_source_is_kept_with_its_whole_path(ready: Terminal, folder: Path) -> None:
    """A relative path means the folder where the command ran, whichever process opens it later."""
    ready("data-source", "create", "w", "--no-check", "--url", "sqlite:///w.db")
    assert ready("data-source", "list", "--json").json()[0]["url"] == f"sqlite:///{folder}/w.db"


def test_group_create_prints_the_token_alone_and_is_idempotent(ready: Terminal) -> None:
    """The same id gives the same group and token, unchanged."""
    first = ready("group", "create", "acme", "--name", "Acme", "--property", "region=eu", "--property", "seats=[1,2]")
    assert TOKEN_PATTERN.fullmatch(first.out.strip())
    assert ready("group", "create", "acme", "--property", "region=us").out == first.out
    assert ready("group", "get", "acme", "--token").out == first.out
    shown = ready("group", "get", "acme", "--json")
    assert shown.json()["properties"] == {"region": "eu", "seats": [1, 2]}
    assert first.out.strip() not in shown.out


def test_group_update_merges(ready: Terminal) -> None:
    """What is not named stays, and null removes a property. Red when one --property replaces all."""
    ready("group", "create", "acme", "--property", "region=eu", "--property", "tier=1")
    result = ready("group", "update", "acme", "--property", "tier=2", "--property", "plan=pro", "--json").json()
    assert result["properties"] == {"region": "eu", "tier": 2, "plan": "pro"}
    result = ready("group", "update", "acme", "--property", "tier=null", "--name", "A", "--json").json()
    assert (result["name"], result["properties"]) == ("A", {"region": "eu", "plan": "pro"})


def test_group_update_replaces_whole_and_leaves_the_rest(ready: Terminal) -> None:
    """As PUT does: absent stays, given is replaced whole, --clear is null."""
    ready("group", "create", "acme", "--property", "region=eu", "--property", "tier=1")
    result = ready("group", "update", "acme", "--property", "region=us", "--replace", "--json").json()
    assert (result["name"], result["properties"]) == ("acme", {"region": "us"})
    assert ready("group", "update", "acme", "--clear", "properties", "--json").json()["properties"] is None
    assert "[unknown_group]" in ready("group", "update", "nope", "--name", "x", fails=1).err


def test_group_update_takes_one_schema_out_of_the_mapping(ready: Terminal) -> None:
    """The others stay; one that is not mapped is no error, as with null in PATCH. Red when it is the name of a source,
    or when it passes over what contradicts it."""
    for name in ("one", "two"):
        ready("data-source", "create", name, "--no-check", "--url", "sqlite:///w.db")
    ready("group", "create", "acme", "--map", "main=one", "--map", "old=one", "--map", "older=one")
    update = ("group", "update", "acme", "--json")
    changed = ready(*update, "--unmap", "old", "--unmap", "older", "--unmap", "none", "--map", "main=two").json()
    assert changed["mapping"] == {"main": "two"}
    for given, said in (
        (("--unmap", "main", "--map", "main=one"), "--unmap and --map of 'main' contradict each other"),
        (("--unmap", "main", "--replace"), "leave out --unmap, and give every schema to keep with --map"),
        (("--unmap", "main", "--clear", "mapping"), "contradict each other"),
        (("--map", "main="), "no data source is given for 'main': use --unmap to remove it"),
    ):
        assert said in " ".join(ready(*update, "--name", "New", *given, fails=2).err.split())
    shown = ready("group", "get", "acme", "--json").json()
    assert (shown["name"], shown["mapping"]) == ("acme", {"main": "two"})
    assert ready(*update, "--unmap", "main").json()["mapping"] == {}


def test_a_mapping_must_name_a_registered_source(ready: Terminal) -> None:
    """The error names the command that registers one."""
    result = ready("group", "create", "acme", "--map", "main=nowhere", fails=1)
    assert "[unknown_data_source]" in result.err
    assert "tenantry data-source create" in result.err


def test_group_rotate_and_delete(ready: Terminal) -> None:
    """Rotation prints another token; a deleted group is gone, and its id is free for a new one."""
    first = ready("group", "create", "acme").out
    second = ready("group", "rotate", "acme", "--grace-seconds", "60").out
    assert first != second
    assert ready("group", "delete", "acme", given="n\n", fails=1).out == ""
    assert ready("group", "delete", "acme", "--yes").out == "acme\n"
    assert "[unknown_group]" in ready("group", "get", "acme", fails=1).err
    assert ready("group", "create", "acme").out not in (first, second)


def test_a_grace_is_the_environments_own(ready: Terminal, folder: Path) -> None:
    """Set for it, a rotation that names none has it; one that names 0 has none. Red when the default is 0."""
    assert ready("environment", "set-grace", "production", "60").out == "production\n"
    assert ready("environment", "list", "--json").json()[0]["grace_seconds"] == 60
    made = ready("environment", "create", "testing", "--tag", "Testing", "--grace-seconds", "5", "--json").json()
    assert made["grace_seconds"] == 5
    old = ready("group", "create", "acme", "--environment", "production").out.strip()
    ready("group", "rotate", "acme", "--environment", "production")
    assert _is_good(folder, old)
    live = ready("group", "get", "acme", "--token", "--environment", "production").out.strip()
    ready("group", "rotate", "acme", "--environment", "production", "--grace-seconds", "0")
    assert not _is_good(folder, old)
    assert not _is_good(folder, live)
    ready("environment", "set-grace", "production", "86401", fails=2)
    assert "[unknown_environment]" in ready("environment", "set-grace", "nope", "1", fails=1).err


def test_who_may_embed_is_the_environments_own(ready: Terminal) -> None:
    """Set whole, listed, none at first and again. Red when what is no origin is kept: it would be sent in a header."""
    assert ready("environment", "list", "--json").json()[0]["embedding_hosts"] == []
    hosts = ["https://app.example.com", "https://*.example.org:8443"]
    assert ready("environment", "set-embedding", "production", *hosts).out == "production\n"
    assert ready("environment", "list", "--json").json()[0]["embedding_hosts"] == hosts
    assert " ".join(hosts) in ready("environment", "list").out
    for wrong in ("https://a.example/path", "*", "https://a.example; script-src *", "app.example.com"):
        assert "HOSTS" in ready("environment", "set-embedding", "production", wrong, fails=1).err
    assert ready("environment", "set-embedding", "production", "--json").json()["embedding_hosts"] == []
    assert ready("environment", "list", "--json").json()[0]["embedding_hosts"] == []
    assert "[unknown_environment]" in ready("environment", "set-embedding", "nope", fails=1).err


def _is_good(folder: Path, token: str) -> bool:
    async def find() -> bool:
        store = SQLStore(f"sqlite:///{folder / 'tenantry.db'}")
        try:
            return await store.find(SigningKeys.from_file(folder / "tenantry.keys").read(token)) is not None
        finally:
            await store.aclose()

    return asyncio.run(find())


def test_group_list_shows_every_group_and_no_token(ready: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also beyond one page."""
    monkeypatch.setattr("tenantry.cli.group.PAGE", 2)
    tokens = [ready("group", "create", f"g{number}").out.strip() for number in range(5)]
    result = ready("group", "list", "--json")
    assert [row["id"] for row in result.json()] == [f"g{number}" for number in range(5)]
    assert not any(token in result.out for token in tokens)


def test_group_list_of_a_part(ready: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit, cursor and filter together, over several pages; stderr says whether there are more, and how to go on."""
    monkeypatch.setattr("tenantry.cli.group.PAGE", 2)
    for number in range(6):
        ready("group", "create", f"g{number}", "--name", "Even" if number % 2 == 0 else "Odd")
    first = ready("group", "list", "--limit", "3", "--json")
    assert [row["id"] for row in first.json()] == ["g0", "g1", "g2"]
    after = str(first.json()[-1]["team_id"])
    assert f"--after {after}" in first.err
    rest = ready("group", "list", "--limit", "3", "--after", after, "--json")
    assert [row["id"] for row in rest.json()] == ["g3", "g4", "g5"]
    assert "--after" not in rest.err
    assert [row["id"] for row in ready("group", "list", "--match", "odd", "--json").json()] == ["g1", "g3", "g5"]
    assert [row["id"] for row in ready("group", "list", "--match", "g4", "--json").json()] == ["g4"]
    assert ready("group", "list", "--match", "nobody").err == "none\n"
    ready("group", "list", "--limit", "0", fails=2)


def test_a_removed_signing_key_is_named_and_rotation_mends_it(ready: Terminal) -> None:
    """A group whose key is gone can still be rotated by its id."""
    ready("group", "create", "acme")
    ready("keys", "rotate")
    removed = ready("keys", "remove", "k1", "--force")
    assert "the token of 1 user group is refused" in removed.err
    assert "tenantry group rotate --signed-by k1" in removed.err
    assert "1 user group is signed by k1, which is not in this file" in ready("keys", "list").err
    assert "[signing_key_missing]" in ready("group", "get", "acme", "--token", fails=1).err
    ready("group", "rotate", "acme")
    ready("group", "get", "acme", "--token")


def test_a_leaked_key_is_removed_while_the_store_is_away(ready: Terminal, folder: Path) -> None:
    """Red when --force needs the store, and when its absence is no reason to refuse without it."""
    ready("keys", "rotate")
    away = ("--database", f"postgresql://u@127.0.0.1:{free_port()}/x")
    refused = ready("keys", "remove", "k1", *away, fails=3).err
    assert "k1 is not removed" in refused
    assert "--force" in refused
    removed = ready("keys", "remove", "k1", "--force", *away)
    assert removed.out == "k1\n"
    assert "may still need k1: " in removed.err
    assert "connection refused" in removed.err


def test_sql_render_shows_text_and_parameters(ready: Terminal, folder: Path) -> None:
    """The output is SQL: the parameters stand in comments. Values never stand in the text."""
    ready("group", "create", "acme", "--property", "region=' or 1=1 --", "--property", 'statuses=["a", "b"]')
    (folder / "orders.sql").write_text(
        "select * from orders where region = {{ region }} and status in {{ statuses }}"
        " [[ and day > {{ params.since }} ]]\n"
    )
    plain = ready("sql", "render", "orders.sql", "--group", "acme").out.splitlines()
    assert plain[0].rstrip() == "select * from orders where region = $1 and status in ($2, $3)"
    assert plain[1:] == ['-- 1: "\' or 1=1 --"', '-- 2: "a"', '-- 3: "b"']
    given = ("sql", "render", "orders.sql", "--group", "acme", "--dialect", "sqlite", "--json", "--param", "since=5")
    assert ready(*given).json()["params"] == ["' or 1=1 --", "a", "b", "5"], "text, as a query string gives it"
    assert "[unbindable_value]" in ready(*given, "--param", "since=6", fails=1).err, "two of them are a list"
    (folder / "bad.sql").write_text("select {{ nope }} as v")
    result = ready("sql", "render", "bad.sql", "--group", "acme", fails=1)
    assert "nope" in result.err
    assert "[missing_variable]" in result.err


def test_sql_render_takes_what_the_program_declares_optional(ready: Terminal, folder: Path) -> None:
    """As ``sql check`` does: else a template with ``optional`` in the program could not be looked at. A file that is
    no UTF-8 is said in one line."""
    ready("group", "create", "acme", "--property", "region=eu")
    (folder / "a.sql").write_text("select 1 where a = {{ region }} [[ and d = {{ discount }} ]]")
    rendered = ready("sql", "render", "a.sql", "--group", "acme", "--optional", "discount").out
    assert [line.rstrip() for line in rendered.splitlines()] == ["select 1 where a = $1", '-- 1: "eu"']
    assert "declare it" in ready("sql", "render", "a.sql", "--group", "acme", fails=1).err
    assert "--optional" in ready("sql", "render", "a.sql", "--group", "acme", "--optional", "a b", fails=2).err
    (folder / "latin.sql").write_bytes(b"select \xff")
    assert "1:8: this is not UTF-8" in ready("sql", "render", "latin.sql", "--group", "acme", fails=1).err


def test_sql_render_refuses_a_parameter_that_the_query_lacks(ready: Terminal, folder: Path) -> None:
    """Of those that the header declares, the ends of a range too; of a file without declarations those that it names.
    Red when such a value is passed over: the text is printed without the clause that it was meant for."""
    ready("group", "create", "acme")
    (folder / "a.sql").write_text(
        "/* ---\nparams:\n  region: {type: text}\n  period: {type: date range}\n--- */\n"
        "select 1 where {{ params.period | within(at) }} [[ and a = {{ params.region }} ]]"
    )
    render = ("sql", "render", "--group", "acme", "--json")
    refused = " ".join(ready(*render, "a.sql", "--param", "regoin=us", fails=2).err.split())
    assert "the query has no parameter regoin; there are: region, period. did you mean region?" in refused
    ends = ("--param", "period.start=2026-05-01", "--param", "period.end=2026-05-31", "--param", "region=us")
    assert ready(*render, "a.sql", *ends).json()["params"] == ["2026-05-01", "2026-06-01", "us"]
    (folder / "b.sql").write_text("select 1 [[ where a = {{ params.region }} ]]")
    assert "did you mean region?" in ready(*render, "b.sql", "--param", "regoin=us", fails=2).err
    assert ready(*render, "b.sql", "--param", "region=us").json()["params"] == ["us"]
    (folder / "c.sql").write_text("select 1")
    assert "it has none" in ready(*render, "c.sql", "--param", "regoin=us", fails=2).err


def test_sql_render_reads_query_files(ready: Terminal, folder: Path) -> None:
    """A header's dialect and parameters count, --queries is what is included from, and `optional` counts in that
    folder only. Red when the header is a comment, or the folder is not asked."""
    ready("group", "create", "acme", "--property", "region=eu")
    (folder / "queries").mkdir()
    (folder / "queries" / "mine.sql").write_text("select * from orders where region = {{ region }}")
    text = "/* ---\nparams: {rows: integer}\ndialect: sqlite\noptional: [discount]\n--- */\n"
    text += "select * from ({{> mine }}) m [[ where d = {{ discount }} ]] limit {{ params.rows }}"
    (folder / "queries" / "top.sql").write_text(text)
    given = ("--queries", "queries", "--group", "acme", "--param", "rows=5", "--json")
    rendered = ready("sql", "render", "queries/top.sql", *given).json()
    assert rendered["params"] == ["eu", 5]
    assert rendered["dialect"] == "sqlite"
    assert rendered["sql"].split()[:7] == ["select", "*", "from", "(select", "*", "from", "orders"]
    assert (
        "params.rows takes a whole number"
        in ready("sql", "render", "queries/top.sql", *given[:4], "--param", "rows=x", fails=1).err
    )
    (folder / "sent.sql").write_text(text)
    assert "sent.sql:4:1: optional is allowed only in" in ready("sql", "render", "sent.sql", *given, fails=1).err
    assert ready("sql", "render", "sent.sql", *given, "--optional", "discount").json() == rendered
    (folder / "queries" / "bad.sql").write_text("select ({{> nine }})")
    assert "did you mean mine?" in ready("sql", "render", "queries/top.sql", *given, fails=1).err


def test_settings_come_from_option_then_variable_then_file(
    ready: Terminal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The nearer one wins. Red when the order of the sources is turned round."""
    for name in ("option", "variable", "file"):
        ready("migrate", "--database", f"sqlite:///{name}.db")
        ready("environment", "create", name, "--tag", "Testing", "--database", f"sqlite:///{name}.db")
    (folder / "tenantry.toml").write_text('database = "sqlite:///file.db"\n')
    assert "file" in ready("environment", "list").out
    monkeypatch.setenv("TENANTRY_DATABASE", "sqlite:///variable.db")
    assert "variable" in ready("environment", "list").out
    assert "option" in ready("environment", "list", "--database", "sqlite:///option.db").out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("port = 99999999", ["port", "--port", "TENANTRY_PORT"]),
        ("databse = 'x'", ["databse", "database"]),
        ("database = ", ["TOML"]),
    ],
)
def test_a_bad_setting_is_named(ready: Terminal, folder: Path, text: str, words: list[str]) -> None:
    """The message says which setting, and where it can be given. It is wrong usage, as with an option. Red when it ends
    with 1."""
    (folder / "tenantry.toml").write_text(text)
    result = ready("environment", "list", fails=2)
    assert "[invalid_settings]" in result.err
    assert all(word in result.err for word in words)


def test_a_named_config_file_must_exist(ready: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A typing error in TENANTRY_CONFIG does not silently mean defaults."""
    monkeypatch.setenv("TENANTRY_CONFIG", "nope.toml")
    assert "nope.toml" in ready("environment", "list", fails=2).err


@pytest.mark.parametrize("port", ["-1", "65536", "eighty"])
@pytest.mark.parametrize("command", ["serve", "demo", "dashboards serve ."])
def test_a_bad_port_is_wrong_usage(
    ready: Terminal, folder: Path, monkeypatch: pytest.MonkeyPatch, command: str, port: str
) -> None:
    """As an option, as a variable and in the file."""
    assert "--port" in ready(*command.split(), "--port", port, fails=2).err
    (folder / "tenantry.toml").write_text(f"port = {port if port.lstrip('-').isdigit() else repr(port)}\n")
    assert "port" in ready(*command.split(), fails=2).err
    (folder / "tenantry.toml").unlink()
    monkeypatch.setenv("TENANTRY_PORT", port)
    assert "TENANTRY_PORT" in ready(*command.split(), fails=2).err


@pytest.mark.parametrize("words", [("group", "create", "a", "--property", "noequals"), ("keys", "nonsense")])
def test_wrong_usage_exits_with_2(ready: Terminal, words: tuple[str, ...]) -> None:
    """As every command line does."""
    ready(*words, fails=2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("dashboards serve . --port abc", "'abc' is not a valid integer."),
        ("audit --after x", "'x' is not a valid integer."),
        ("api-token revoke x", "'x' is not a valid integer."),
        ("dashboards new A", "Invalid value for NAME: 'A': start with a lower-case letter"),
    ],
)
def test_wrong_usage_is_named(ready: Terminal, words: str, message: str) -> None:
    """Red with click's own range, "not a valid integer range", and without NAME."""
    assert message in ready(*words.split(), fails=2).err


def test_help_needs_no_store(terminal: Terminal) -> None:
    """Every command explains itself."""
    for name in commands.commands:
        assert "Usage: tenantry" in terminal(name, "--help").out


def test_no_token_string_is_ever_at_rest(ready: Terminal, folder: Path) -> None:
    """The store keeps parts. Red when a token is written anywhere: its bytes would be found."""
    token = ready("group", "create", "acme", "--property", "region=eu").out.strip()
    ready("group", "update", "acme", "--name", "Acme")
    stored = b"".join(path.read_bytes() for path in folder.glob("tenantry.db*"))
    assert b"region" in stored
    assert token.encode() not in stored
    with closing(sqlite3.connect(folder / "tenantry.db")) as database:
        dump = "\n".join(database.iterdump())
    assert token not in dump
    assert token.split(".")[1][:43] not in dump


def test_json_is_json(ready: Terminal) -> None:
    """Each command that makes something can say it in JSON."""
    for words in (
        ("environment", "create", "e2", "--tag", "Testing"),
        ("api-token", "create", "--environment", "e2"),
        ("data-source", "create", "w", "--no-check", "--environment", "e2", "--url", "sqlite:///w.db"),
        ("group", "create", "g", "--environment", "e2"),
        ("group", "rotate", "g", "--environment", "e2"),
        ("keys", "rotate"),
    ):
        assert isinstance(json.loads(ready(*words, "--json").out), dict)
