"""A program for ``test_new_field``: gives a group a ``note`` and fails at the first place that does not carry it.

It runs on a copy of the package whose groups have this field.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from tenantry.backends.audit.details import update_details
from tenantry.backends.memory import MemoryStore
from tenantry.backends.redis.entry import read_entry, write_entry
from tenantry.backends.sql import SQLStore
from tenantry.cli.group_sync import compare
from tenantry.cli.groups_file import read_groups_file
from tenantry.database import migrations
from tenantry.database.tables import groups
from tenantry.errors import InvalidBody, InvalidGroupsFile
from tenantry.groups import (
    CACHE_ENTRY,
    INTROSPECTION,
    STORED_RESPONSE,
    GroupChanges,
    GroupCreation,
    GroupDraft,
    GroupUpdate,
    IdempotencyKey,
    UserGroup,
    merged_changes,
    merged_draft,
)
from tenantry.provisioning import Provisioner, check_changes, check_draft
from tenantry.provisioning.http import parse_line
from tenantry.provisioning.http.openapi import openapi_document
from tenantry.testing import make_group, make_token
from tenantry.testing.canaries import CanaryGroups
from tests.provisioning.http.conftest import make_keys, make_service

NOTE = "kept ✓"
_checked: list[str] = []


def check(where: str, found: Any, expected: Any = NOTE) -> None:
    """Ends the program with the place that lost the note."""
    if found != expected:
        sys.exit(f"not carried: {where}: {found!r}")
    _checked.append(where)


def note_of(group: Any) -> Any:
    return getattr(group, "note", "there is no such field")


def forms_and_patches(group: UserGroup) -> None:
    check("the record as a dict", group.as_dict().get("note"))
    for codec in (INTROSPECTION, CACHE_ENTRY, STORED_RESPONSE):
        document = json.loads(json.dumps(codec.encode(group)))
        given = {name: getattr(group, name) for name in ("environment", "handle") if name not in document}
        check("a JSON form", note_of(codec.decode(document, **given)))
        del document["note"]
        check("a document of an earlier version", note_of(codec.decode(document, **given)), None)
    token = make_token(handle=group.handle, version=group.token_version, tag=group.environment.tag)
    entry = read_entry(b"%019d" % 7 + write_entry("s" * 32, token, group).lstrip(b"0123456789"), "s" * 32, token)
    check("the entry in Redis", note_of(None if entry is None else entry.group))
    check("a merge patch of another field", merged_changes(group, GroupChanges(name="x")).given(), {"name": "x"})
    patch = parse_line({"user_group_id": "a", "note": NOTE}, replace=False).changes()
    check("a merge patch", merged_changes(group, patch).given(), {"note": NOTE})
    check("a merge patch of nothing", note_of(merged_draft("a", GroupChanges(note=NOTE))))
    check("the audit trail", update_details(GroupChanges(note=NOTE))["fields"], "note")
    wrong = "\0"
    for refuse in (
        lambda: check_draft(GroupDraft("a", "A", note=wrong)),
        lambda: check_changes(GroupChanges(note=wrong)),
    ):
        try:
            refuse()
        except InvalidBody as error:
            check("the limits", error.field, "/note")
        else:
            check("the limits", wrong, "InvalidBody")


async def stores(url: str) -> None:
    migrations.migrate(url)
    for store in (MemoryStore(), SQLStore(url, run_dir=sys.argv[1])):
        name = type(store).__name__
        where = await store.environments.create("production", make_group().environment.tag)
        once = IdempotencyKey("key", (bytes(32),))
        made = await store.groups.get_or_create(where, GroupDraft("acme", "Acme", note=NOTE), make_token(), once=once)
        check(f"{name}: a new group", note_of(made.group))
        check(f"{name}: found", note_of(await store.find(made.token)))
        (listed,) = await store.groups.list(where)
        check(f"{name}: listed", note_of(listed))
        await store.groups.update(where, "acme", GroupChanges(note=None))
        stored = await store.groups.get(where, "acme")
        check(f"{name}: an update, read again", note_of(stored and stored.group), None)
        again = await store.groups.get_or_create(where, GroupDraft("acme", "Acme"), make_token(), once=once)
        check(f"{name}: a replay", note_of(again.group))
        changed = await store.groups.update(where, "acme", GroupChanges(note=NOTE))
        check(f"{name}: an update", note_of(changed.group))
        renamed = await store.groups.update(where, "acme", GroupChanges(name="New"))
        check(f"{name}: another update", note_of(renamed.group))
        rotated = await store.groups.rotate(where, renamed.token, key_id="k1", nonce=bytes(16))
        check(f"{name}: a rotation", note_of(rotated.group))
        creation = GroupCreation(GroupDraft("beta", "Beta", note=NOTE), make_token())
        cleared = GroupUpdate(rotated.group, GroupChanges(note="other"))
        done = await store.groups.write_many(where, [creation, cleared])
        check(f"{name}: many writes", [note_of(each and each.group) for each in done], [NOTE, "other"])
        many = await store.groups.get_many(where, ["acme", "beta"])
        check(f"{name}: many reads", [note_of(many[each].group) for each in ("acme", "beta")], ["other", NOTE])
        wanted = read_groups_file("groups:\n  acme: {note: third}\n", "groups.yaml").groups
        difference = await compare(store, where, wanted)
        check(f"{name}: a file of groups", difference.change[0][1], {"note": {"from": "other", "to": "third"}})
        await store.aclose()


def groups_file() -> None:
    try:
        read_groups_file("groups:\n  acme: {note: 5}\n", "groups.yaml")
    except InvalidGroupsFile as error:
        check("the errors of a file of groups", "there is no such field" in str(error), False)
    else:
        check("the errors of a file of groups", "no error", "InvalidGroupsFile")


async def canaries() -> None:
    made, store = CanaryGroups([make_group(note=NOTE)], {}), MemoryStore()
    where = await store.environments.create("production", make_group().environment.tag)
    await made.provision(Provisioner(store, make_keys()), where)
    check("groups with canaries", note_of(made[0]))


async def over_http() -> None:
    service = await make_service()
    await service.ask("POST", {"user_group_id": "acme"})
    patch = {"user_group_id": "acme", "note": NOTE}
    for path in ("/api/user?dry_run=true", "/api/user"):
        answer = await service.send(
            "PATCH", json.dumps(patch).encode(), {"Content-Type": "application/json"}, path=path
        )
        check(path, answer.json()["user_group"].get("note"))
    page = await service.send("GET", b"", {}, path="/api/users")
    check("the list", page.json()["user_groups"][0].get("note"))
    sent = json.dumps({**patch, "user_group_id": "beta"}).encode() + b"\n"
    bulk = await service.send("POST", sent, {"Content-Type": "application/x-ndjson"}, path="/api/users/bulk")
    check("a bulk", json.loads(bulk.content.splitlines()[0])["user_group"].get("note"))
    schemas = openapi_document("3.1")["components"]["schemas"]
    for name in ("Merge", "MergedGroup", "ListedGroup"):
        check(f"the schema {name}", "note" in schemas[name]["properties"], True)
    gone = await service.send("DELETE", b"", {}, path="/api/user?user_group_id=acme")
    check("the answer to DELETE", gone.json()["user_group"].get("note"))
    await service.http.aclose()


if __name__ == "__main__":
    check("the column", "note" in groups.c, True)
    newest = max(path.name[:4] for path in Path(migrations.__file__).with_name("versions").glob("[0-9]*.py"))
    check("the number of the migration", migrations.HEAD, newest)
    check("the record", "note" in {each.name for each in dataclasses.fields(UserGroup)}, True)
    forms_and_patches(make_group(note=NOTE))
    asyncio.run(stores(f"sqlite:///{sys.argv[1]}/store.db"))
    groups_file()
    asyncio.run(canaries())
    asyncio.run(over_http())
    print(len(_checked))
