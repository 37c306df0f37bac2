"""A query is run for a sample of groups: which groups, how many at a time, and which fail and why."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tenantry.backends.memory import MemoryStore
from tenantry.editor.runs.group_search import spread_groups
from tenantry.groups import Environment, GroupDraft, Tag
from tenantry.testing import make_token
from tests.editor.served import ENVIRONMENT, EditorSite, served_editor

TEXT = "select day from flights where carrier = {{ carrier }} limit 3"


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[EditorSite]:
    async with served_editor(tmp_path) as served:
        yield served


async def add(store: MemoryStore, environment: Environment, names: list[str], **properties: Any) -> None:
    for name in names:
        await store.groups.get_or_create(
            environment, GroupDraft(name, f"Group {name}", properties, {"main": "warehouse"}), make_token()
        )


async def sample(site: EditorSite, **more: Any) -> list[dict[str, Any]]:
    return await site.lines("sample", environment=ENVIRONMENT, path="queries/a.sql", text=TEXT, **more)


async def test_it_lists_the_groups_that_fail_and_why(site: EditorSite) -> None:
    """With the place in the text. Red when the first failure ends the sample, or is not counted."""
    environment = await site.store.environments.get(ENVIRONMENT)
    assert environment is not None
    await add(site.store, environment, ["no_carrier"])
    await add(site.store, environment, ["mapped_elsewhere"], carrier="HA")
    lines = await sample(site)
    assert lines.pop() == {"done": {"ok": 3, "failed": 1}}
    found = {line["group"]: line for line in lines}
    assert {name: line.get("rows") for name, line in found.items()} == {
        "ha": 3, "ua": 3, "mapped_elsewhere": 3, "no_carrier": None,
    }  # fmt: skip
    assert found["ha"]["name"] == "Airline HA"
    error = found["no_carrier"]["error"]
    assert (error["code"], TEXT[error["from"] : error["to"]]) == ("missing_variable", "carrier")


async def test_one_that_fails_in_the_editor_does_not_end_the_others(
    site: EditorSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Red without the last ``except``."""
    from tenantry.editor.runs import samples

    prepare = samples.prepare_query

    async def fails(workbench: Any, queries: Any, body: Any, group: Any) -> Any:
        if group.provided_id == "ha":
            raise RuntimeError("k3y-c4n4ry")
        return await prepare(workbench, queries, body, group)

    monkeypatch.setattr(samples, "prepare_query", fails)
    lines = await sample(site)
    assert lines[-1] == {"done": {"ok": 1, "failed": 1}}
    assert "k3y-c4n4ry" not in repr(lines)


async def test_the_chosen_group_is_in_it(site: EditorSite) -> None:
    """Also if it is not one of those that the spread finds, and once. Red without ``chosen``."""
    environment = await site.store.environments.get(ENVIRONMENT)
    assert environment is not None
    await add(site.store, environment, [f"g{number}" for number in range(30)], carrier="HA")
    for group in ("ha", "g17", "g29"):
        lines = await sample(site, group=group, size=4)
        groups = [line["group"] for line in lines if "group" in line]
        assert group in groups
        assert len(set(groups)) == len(groups) == 4
    lines = await sample(site, group="nobody", size=1)
    assert [line["group"] for line in lines if "group" in line] == ["ha"]


async def test_only_a_few_run_at_a_time(site: EditorSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red without the semaphore."""
    from tenantry.editor.runs import samples

    environment = await site.store.environments.get(ENVIRONMENT)
    assert environment is not None
    await add(site.store, environment, [f"g{number}" for number in range(20)], carrier="HA")
    run, running, most = samples.Samples._run, 0, 0

    async def counted(self: Any, *given: Any) -> Any:
        nonlocal running, most
        running += 1
        most = max(most, running)
        try:
            return await run(self, *given)
        finally:
            running -= 1

    monkeypatch.setattr(samples.Samples, "_run", counted)
    lines = await sample(site, size=20)
    assert lines[-1] == {"done": {"ok": 20, "failed": 0}}
    assert most == 2


@pytest.mark.parametrize("size", [0, 51])
async def test_the_size_has_limits(size: int, site: EditorSite) -> None:
    answer = await site.post("sample", environment=ENVIRONMENT, path="queries/a.sql", text=TEXT, size=size)
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, "/size")


@pytest.mark.parametrize("count", [0, 1, 2, 3, 10, 99, 257])
@pytest.mark.parametrize("size", [1, 2, 7, 50])
async def test_the_groups_are_spread_over_all(count: int, size: int) -> None:
    """The first and the last are in it, each group at most once, and as many as there are. Red when the first groups
    are taken, and when gaps between the numbers of groups repeat one."""
    store = MemoryStore()
    environment = await store.environments.create("production", Tag.CUSTOMER)
    other = await store.environments.create("staging", Tag.TESTING)
    for number in range(count):
        await add(store, other, [f"x{number}"] if number % 3 else [])  # numbers of other groups lie between
        await add(store, environment, [f"g{number}"])
    found = [int(group.provided_id[1:]) async for group in spread_groups(store.groups, environment, size)]
    assert found == sorted(set(found))
    assert len(found) <= size
    if count:
        assert len(found) >= min(size, count) * 0.6
        assert found[0] == 0
    if count > 1 and size > 1:
        assert found[-1] == count - 1
