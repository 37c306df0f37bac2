"""A token that was pasted into a command where a name belongs is neither stored nor shown."""

from __future__ import annotations

import asyncio
import secrets

import pytest

from tenantry.backends.sql import SQLStore
from tenantry.groups import GroupDraft, Tag
from tenantry.testing import make_token
from tenantry.tokens import mint_api_token
from tests.cli.conftest import CommandResult, Terminal

SECRET = mint_api_token(Tag.CUSTOMER, secrets.token_bytes)


def assert_nowhere(result: CommandResult) -> None:
    assert SECRET[10:40] not in result.out + result.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("group", "create", SECRET),
        ("group", "create", "acme", "--name", SECRET),
        ("group", "create", "acme", "--property", f"a={SECRET}"),
        ("group", "get", SECRET),
        ("group", "get", SECRET, "--token"),
        ("group", "update", SECRET, "--name", "x"),
        ("group", "rotate", SECRET),
        ("group", "delete", SECRET, "--yes"),
        ("environment", "create", SECRET, "--tag", "Testing"),
        ("api-token", "create", "--label", f"of {SECRET}"),
        ("data-source", "create", SECRET, "--url", "sqlite:///elsewhere.db"),
        ("data-source", "remove", SECRET),
        ("group", "list", "--environment", SECRET),
    ],
    ids=lambda arguments: " ".join(arguments).replace(SECRET, "SECRET"),
)
def test_a_token_instead_of_a_name(ready: Terminal, arguments: tuple[str, ...]) -> None:
    """Refused, in words that do not repeat it. Red without the mask of messages, and where a name is not checked."""
    result = None
    for code in (1, 2):
        try:
            result = ready(*arguments, fails=code)
            break
        except AssertionError:
            continue
    assert result is not None
    assert_nowhere(result)
    for listing in ("group", "environment", "api-token", "data-source"):
        assert_nowhere(ready(listing, "list", "--json"))


def test_what_was_kept_when_nobody_looked_is_masked(ready: Terminal) -> None:
    """A group from before is listed by what tells it apart, and can be deleted.

    Red without the mask in tables and in JSON.
    """

    async def add() -> None:
        store = SQLStore("sqlite:///tenantry.db")
        (environment,) = await store.environments.list()
        await store.groups.get_or_create(environment, GroupDraft(SECRET, SECRET, {"a": SECRET}), make_token())
        await store.aclose()

    asyncio.run(add())
    for arguments in (
        ("group", "list"),
        ("group", "list", "--json"),
        ("group", "get", SECRET),
        ("group", "get", SECRET, "--json"),
    ):
        result = ready(*arguments)
        assert f"ugkc_…{SECRET[-4:]}" in result.out
        assert_nowhere(result)
    assert_nowhere(ready("group", "delete", SECRET, fails=1, given="n\n"))
    result = ready("group", "delete", SECRET, "--yes")
    assert f"ugkc_…{SECRET[-4:]}" in result.out
    assert_nowhere(result)
    assert ready("group", "list", "--json").json() == []
