"""Queries of a pass: whose values they have, and with whom they share a result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tenantry.datasources import DataSources, ResultCache
from tenantry.errors import MissingVariable
from tests.datasources.conftest import Directory, group, sqlite_file
from tests.groups.viewers import make_viewer

OF_REGION = "select count(*) as n from orders where region = {{ viewer.region }}"
OF_PERSON = "select count(*) as n, {{ viewer.id }} as who from orders"


@pytest.fixture
def sources(tmp_path: Path, directory: Directory, open_sources: Callable[..., DataSources]) -> DataSources:
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    return open_sources(cache=ResultCache())


async def test_the_viewer_of_the_variables_is_that_of_the_group(sources: DataSources) -> None:
    """Red when ``check_owner`` compares the group alone: one viewer then gets the rows of another."""
    acme = group(main="ds_1")
    ada, bob = acme.with_viewer(make_viewer("ada")), acme.with_viewer(make_viewer("bob"))
    assert await sources.fetch(ada, "main", OF_PERSON, ada.with_params({"a": 1})) == [{"n": 3, "who": "ada"}]
    for runs, variables in ((ada, bob.variables), (acme, bob.variables), (ada, acme.variables)):
        for template in (OF_PERSON, "select 1"):
            with pytest.raises(ValueError, match="another viewer"):
                await sources.fetch(runs, "main", template, variables)
    # Variables without a group, and the group's own with another viewer: red when only a copied group is compared.
    bobs = {"viewer": bob.variables["viewer"]}
    for runs, viewer in ((ada, bobs), (acme, bobs), (ada, {"viewer": None})):
        for variables in (viewer, {**viewer, "user_group": runs.variables["user_group"]}):
            with pytest.raises(ValueError, match="another viewer"):
                await sources.fetch(runs, "main", "select 1", variables)
    with pytest.raises(ValueError, match="another viewer"):
        await sources.fetch(ada, "main", "select 1", {"user_group": ada.variables["user_group"]})
    own = {"viewer": {"id": "ada"}}
    assert await sources.fetch(ada, "main", OF_PERSON, own) == [{"n": 3, "who": "ada"}]
    with pytest.raises(MissingVariable, match="viewer"):
        await sources.fetch(acme, "main", OF_PERSON, acme.variables)


async def test_values_of_nobody_serve_every_viewer(sources: DataSources) -> None:
    """They read nothing of a viewer. Red when a query with values of its own is refused as soon as it is a viewer's."""
    acme = group(main="ds_1")
    ada = acme.with_viewer(make_viewer("ada"))
    for runs in (acme, ada):
        assert await sources.fetch(runs, "main", "select {{ n }} as n", {"n": 3}) == [{"n": 3}]
        with pytest.raises(MissingVariable, match="viewer"):
            await sources.fetch(runs, "main", OF_PERSON, {"n": 3})


async def test_viewers_share_what_has_the_same_values(sources: DataSources) -> None:
    """Another region is another query, and so is another person where the query reads ``viewer.id``. Red when the key
    leaves the viewer out, and when it holds the whole viewer."""
    acme = group(main="ds_1")
    viewers = [make_viewer("ada", region="eu"), make_viewer("bob", region="eu"), make_viewer("cyd", region="us")]
    seen = [acme.with_viewer(each) for each in viewers]

    async def keys(template: str) -> list[str]:
        return [await sources.fingerprint(each, "main", template) for each in seen]

    ada, bob, cyd = await keys(OF_REGION)
    assert (ada == bob, ada == cyd) == (True, False)
    assert len({*await keys(OF_PERSON)}) == 3
    assert len({*await keys("select count(*) from orders")}) == 1
