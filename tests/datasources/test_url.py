"""What a data source's URL may be, and what of it is ever shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.datasources import check_url, display_url, encrypt_url, parse_url, resolve_url, source_timezone
from tenantry.datasources.url_secrets.resolution import UrlSecrets
from tenantry.errors import InvalidSource
from tenantry.groups import RegisteredSource
from tests.datasources.conftest import PRODUCTION
from tests.resolver.fake import KEYS

CANARY = "k3y-c4n4ry"


@pytest.mark.parametrize(
    ("url", "engine"),
    [
        ("sqlite:///a.db", "sqlite"),
        ("sqlite+aiosqlite:////tmp/a.db", "sqlite"),
        ("duckdb:///a.duckdb", "duckdb"),
        ("postgresql://u:p@h/db", "postgresql"),
        ("postgresql+psycopg://u:p@h/db?sslmode=require", "postgresql"),
        ("postgres://u@/db?host=/run/postgresql", "postgresql"),
        ("mysql+pymysql://u:p@h:3306/db", "mysql"),
        ("mariadb://u:p@h/db", "mariadb"),
        ("mariadb+pymysql://u:p@h/db", "mariadb"),
        ("redshift://u:p@h:5439/db?sslmode=require", "redshift"),
        ("redshift+psycopg2://u:p@h/db", "redshift"),
        ("clickhouse://u:p@h/db?ssl_mode=disabled", "clickhouse"),
        ("chdb:////data/sales", "chdb"),
        ("chdb:///sales?memory_limit=4GiB", "chdb"),
    ],
)
def test_the_engine_of_a_url(url: str, engine: str) -> None:
    """Every driver's spelling of a dialect leads to the one engine that holds it read-only."""
    assert check_url(url) == engine


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("", "cannot be read"),
        ("nonsense", "cannot be read"),
        (f"postgresql://u:{CANARY}@h:port/db", "cannot be read"),
        (f"postgresql://u:x@{CANARY}@h/db", "%40 for @"),
        (f"postgresql:///u:{CANARY}@h/db", "%40 for @"),
        ("postgresql://u:p@h", "names no database"),
        ("mysql://u:p@h/", "names no database"),
        ("redshift://u:p@h", "names no database"),
        ("sqlite://", "must name a file"),
        ("sqlite:///:memory:", "must name a file"),
        ("duckdb:///:memory:", "must name a file"),
        ("chdb:///:memory:", "must name a folder"),
        ("chdb:///a?mode=ro", "options other than ?memory_limit=4GiB"),
        ("chdb:///a?memory_limit=all", "memory_limit of a chdb URL must be a number"),
        ("clickhouse://u:p@h", "names no database"),
        ("sqlite://a.db", "sqlite:///relative/path"),
        ("sqlite:///file:a.db?uri=true", "without host, user or options"),
        ("sqlite:///file:a.db", "plain path"),
        ("sqlite:///a.db?mode=rwc", "without host, user or options"),
        (f"duckdb:///md:x?motherduck_token={CANARY}", "without host, user or options"),
        ("sqlite:///a.db?tenantry_timezone=Vienna", "tenantry_timezone is not a time zone"),
        ("oracle+oracledb://u:p@h/db", "--trusted"),
        ("mssql+pyodbc://u:p@h/db", "--trusted"),
    ],
)
def test_a_bad_url_is_refused_with_the_mend(url: str, says: str) -> None:
    """The error points at the field and repeats nothing of the URL's secrets, not even in its context."""
    with pytest.raises(InvalidSource) as caught:
        check_url(url)
    assert says in caught.value.message
    assert caught.value.field == "/url"
    assert CANARY not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"postgresql://u:{CANARY}@h:1/db?sslmode=require", "postgresql://u:***@h:1/db?sslmode=require"),
        (f"postgresql://u@/db?host=/run&password={CANARY}", "postgresql://u@/db?host=%2Frun&password=%2A%2A%2A"),
        (f"postgresql://u@h/db?sslpassword={CANARY}", "postgresql://u@h/db?sslpassword=%2A%2A%2A"),
        (
            f"snowflake://u:{CANARY}@a/db?token={CANARY}&warehouse=w",
            "snowflake://u:***@a/db?token=%2A%2A%2A&warehouse=w",
        ),
        (f"mssql+pyodbc:///?odbc_connect=PWD%3D{CANARY}", "mssql+pyodbc:///?odbc_connect=%2A%2A%2A"),
        (f"postgresql://u:x@{CANARY}@h/db", "postgresql://***"),
        (f"postgresql://u:{CANARY}@h:port/db", "postgresql://***"),
        (f"postgresql:///u:{CANARY}@h/db", "postgresql://***"),
        (f"snowflake://u/{CANARY}@h/db", "snowflake://***"),
        (CANARY, "***"),
        ("sqlite:////data/a.db", "sqlite:////data/a.db"),
    ],
)
def test_a_shown_url_has_no_secret(url: str, shown: str) -> None:
    """The password goes, and every query parameter that is not known to be harmless.

    Red when only parameters called ``password`` were masked, and when a password was taken for the database's name.
    """
    assert display_url(url).replace("***", "%2A%2A%2A") == shown.replace("***", "%2A%2A%2A")
    assert CANARY not in display_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:////data/a.db",
        "duckdb:////a.duckdb?memory_limit=4GiB",
        "postgresql://u:p@h/db?sslmode=require",
        "postgresql://h/db",
        "clickhouse://u:p@h/db?ssl_mode=disabled",
        "chdb:////data/sales",
        "mysql://u:p@h/db",
    ],
)
def test_a_time_zone_is_for_dashboards_alone(url: str) -> None:
    """It is shown and stored, and no driver gets it. Red when libpq was asked for an option of this name."""
    zoned = f"{url}{'&' if '?' in url else '?'}tenantry_timezone=Europe%2FVienna"
    for stored in (zoned, resolve_url(zoned), encrypt_url(zoned, KEYS, PRODUCTION, "ds_1")):
        source = RegisteredSource("ds_1", "sales", PRODUCTION, stored)
        assert str(source_timezone(source)) == "Europe/Vienna"
        assert "tenantry_timezone" not in UrlSecrets(KEYS).resolve(source).source.url
        assert "tenantry_timezone=Europe" in display_url(stored)
    assert parse_url(zoned) == parse_url(url)
    assert check_url(zoned) == check_url(url)
    assert source_timezone(RegisteredSource("ds_1", "sales", PRODUCTION, url)) is None


def test_a_relative_path_is_resolved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is stored means the same file in every process; a URL of a server stays as it is, password included."""
    monkeypatch.chdir(tmp_path)
    assert resolve_url("sqlite:///data/../a.db") == f"sqlite:///{tmp_path}/a.db"
    assert resolve_url("duckdb:///a.duckdb") == f"duckdb:///{tmp_path}/a.duckdb"
    assert resolve_url("postgresql://u:p%40x@h/db") == "postgresql://u:p%40x@h/db"
