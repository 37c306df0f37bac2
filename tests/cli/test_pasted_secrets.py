"""A token that was pasted into a command where a name belongs is neither kept nor shown."""

from __future__ import annotations

import asyncio
import secrets

import pytest

from tenantry.backends.sql import SQLStore
from tenantry.groups import GroupDraft, Tag
from tenantry.testing import make_token
from tenantry.tokens import mint_api_token
from tests.cli.conftest import Said, Terminal

SECRET = mint_api_token(Tag.CUSTOMER, secrets.token_bytes)


def assert_nowhere(said: Said) -> None:
    assert SECRET[10:40] not in said.out + said.err


@pytest.mark.parametrize(
    "words",
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
    ids=lambda words: " ".join(words).replace(SECRET, "SECRET"),
)
def test_a_token_in_the_place_of_a_name(ready: Terminal, words: tuple[str, ...]) -> None:
    """Refused, in words that do not repeat it. Red without the mask of messages, and where a name is kept unseen."""
    said = None
    for code in (1, 2):
        try:
            said = ready(*words, fails=code)
            break
        except AssertionError:
            continue
    assert said is not None
    assert_nowhere(said)
    for listing in ("group", "environment", "api-token", "data-source"):
        assert_nowhere(ready(listing, "list", "--json"))


def test_what_was_kept_when_nobody_looked_is_masked(ready: Terminal) -> None:
    """A group from before is listed by what tells it apart, and can be deleted.

    Red without the mask in tables and in JSON.
    """

    async def add() -> None:
        store = SQLStore("sqlite:///tenantry.db")
        (place,) = await store.environments()
        await store.get_or_create(place, GroupDraft(SECRET, SECRET, {"a": SECRET}), make_token())
        await store.aclose()

    asyncio.run(add())
    for words in (
        ("group", "list"),
        ("group", "list", "--json"),
        ("group", "get", SECRET),
        ("group", "get", SECRET, "--json"),
    ):
        said = ready(*words)
        assert f"ugkc_…{SECRET[-4:]}" in said.out
        assert_nowhere(said)
    assert_nowhere(ready("group", "delete", SECRET, fails=1, given="n\n"))
    said = ready("group", "delete", SECRET, "--yes")
    assert f"ugkc_…{SECRET[-4:]}" in said.out
    assert_nowhere(said)
    assert ready("group", "list", "--json").json() == []
