"""What whoever registers a data source is told: who holds it read-only, whether it stops, what it lacks."""

from __future__ import annotations

import logging
import tomllib
from pathlib import Path

import pytest

from tenantry.datasources import DataSources, Enforcement, ReadOnlyBy, registration_notes
from tenantry.datasources.engines import engine as engines
from tenantry.datasources.engines.registry import BUILT_IN
from tests.datasources.conftest import Directory, group
from tests.datasources.test_engines import EchoDriver

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]


def test_a_source_that_is_held_says_nothing() -> None:
    """Its engine refuses writes and stops queries, and its package is here."""
    assert registration_notes("sqlite:///a.db") == []
    assert registration_notes("postgresql://u:secret@h/db") == []


@pytest.mark.parametrize("url", ["mysql://u:secret@h/db", "duckdb:///a.duckdb", "postgres://u:secret@h/db"])
def test_a_missing_package_is_named_with_its_install_line(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first query said it before. Red without the check."""
    monkeypatch.setattr(engines, "find_spec", lambda _: None)
    (note,) = registration_notes(url)
    engine = BUILT_IN[url.partition(":")[0]]
    assert f"{engine.package} is not installed: pip install '{engine.install}'" in note


def test_a_module_in_a_missing_package_is_missing() -> None:
    """Python raises for it."""
    assert not engines.is_installed("no_such_package.module")
    assert engines.is_installed("tenantry.sql")


@pytest.mark.parametrize("scheme", BUILT_IN)
def test_every_engine_says_which_extra_brings_its_client(scheme: str) -> None:
    """The extra is one of ours and brings the package."""
    engine = BUILT_IN[scheme]
    assert bool(engine.package) == bool(engine.module) == bool(engine.install)
    if engine.install:
        extra = engine.install.removeprefix("tenantry[").removesuffix("]")
        package = engine.package.partition(" ")[0].lower()
        assert any(each.lower().startswith(package) for each in PROJECT["optional-dependencies"][extra])


async def _warnings(driver: type[EchoDriver], directory: Directory, caplog: pytest.LogCaptureFixture) -> list[str]:
    directory.add(1, "echo://host/name")
    with caplog.at_level(logging.WARNING, logger="tenantry"):
        async with DataSources(directory, engines={"echo": driver}) as sources:
            await sources.fetch(group(main="ds_1"), "main", "select 1")
    return [record.getMessage() for record in caplog.records]


async def test_an_own_engine_that_says_nothing_is_reported(
    directory: Directory, caplog: pytest.LogCaptureFixture
) -> None:
    """It is taken for one that nothing holds. Red when only built-in engines were looked at."""
    read_only, stop = await _warnings(EchoDriver, directory, caplog)
    assert "only the rights of the database user keep data source ds_1 read-only" in read_only
    assert "cannot be stopped" in stop


@pytest.mark.parametrize(
    ("enforcement", "words"),
    [
        (Enforcement(), []),
        (Enforcement(ReadOnlyBy.STATEMENT), ["only statements that read"]),
        (Enforcement(ReadOnlyBy.ENGINE, can_stop=False), ["cannot be stopped"]),
    ],
)
async def test_an_own_engine_is_reported_by_what_it_says(
    enforcement: Enforcement, words: list[str], directory: Directory, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing for one that holds its queries."""
    driver = type("DeclaredDriver", (EchoDriver,), {"enforcement": enforcement})
    reported = await _warnings(driver, directory, caplog)
    assert len(reported) == len(words)
    assert all(word in text for word, text in zip(words, reported, strict=True))
