"""What whoever registers a data source is told: who holds it read-only, whether it stops, what it lacks."""

from __future__ import annotations

import logging
import tomllib
from pathlib import Path

import pytest

from tenantry.datasources import DataSources, Enforcement, ReadOnlyBy, registration_notes
from tenantry.datasources.engines import built_in
from tenantry.datasources.engines.built_in import BUILT_IN
from tenantry.datasources.url import ENGINES
from tests.datasources.conftest import Directory, group
from tests.datasources.test_engines import EchoDriver

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]


def test_a_source_that_is_held_says_nothing() -> None:
    """Its engine refuses writes and stops queries, and its package is here."""
    assert registration_notes("sqlite:///a.db") == []
    assert registration_notes("postgresql://u:secret@h/db") == []


def test_a_trusted_dialect_says_that_nothing_holds_it() -> None:
    """Neither read-only nor stopped. Red when ``registration_notes`` looked at built-in engines only."""
    read_only, stop = registration_notes("mssql+pymssql://u:secret@h/db", trusted=True)
    assert "nothing holds mssql read-only but the rights of its user" in read_only
    assert "cannot be stopped" in stop
    assert "secret" not in read_only + stop


@pytest.mark.parametrize("url", ["mysql://u:secret@h/db", "duckdb:///a.duckdb", "postgres://u:secret@h/db"])
def test_a_missing_package_is_named_with_its_install_line(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first query said it before. Red without the check."""
    monkeypatch.setattr(built_in, "find_spec", lambda _: None)
    (note,) = registration_notes(url)
    engine = BUILT_IN[ENGINES[url.partition(":")[0]]]
    assert f"{engine.package} is not installed: pip install 'tenantry[{engine.extra}]'" in note


def test_a_module_in_a_missing_package_is_missing() -> None:
    """Python raises for it."""
    assert not built_in.is_installed("no_such_package.module")
    assert built_in.is_installed("tenantry.sql")


@pytest.mark.parametrize("name", sorted(set(ENGINES.values())))
def test_every_engine_says_what_holds_it_and_which_extra_brings_it(name: str) -> None:
    """An engine of a URL is in the table, and its extra is one of ours and brings its package."""
    engine = BUILT_IN[name]
    assert bool(engine.package) == bool(engine.module) == bool(engine.extra)
    if engine.extra:
        assert any(
            each.lower().startswith(engine.package.lower()) for each in PROJECT["optional-dependencies"][engine.extra]
        )


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
    assert "nothing holds data source ds_1 read-only" in read_only
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
