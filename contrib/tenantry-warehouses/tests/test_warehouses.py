"""Cloud warehouses, where no client is needed: URLs, what is said at registration, and the texts that read."""

from __future__ import annotations

import sys

import pytest

from tenantry.datasources import DataSources, check_url, display_url, registration_notes
from tenantry.errors import InvalidSource, NotOneStatement, QueryFailed
from tenantry.sql import SQLTemplate
from tenantry_warehouses.databricks import text_refusal
from tenantry_warehouses.statements import ReadingStatements
from tests.directory import Directory, group

CANARY = "k3y-c4n4ry"
SNOWFLAKE = f"snowflake://u:{CANARY}@account/db/schema?warehouse=w&role=r"
BIGQUERY = "bigquery://project/dataset?location=EU"
CLIENTS = ("snowflake", "snowflake.connector", "google.cloud", "google.cloud.bigquery", "databricks", "databricks.sql")
DATABRICKS = f"databricks://token:{CANARY}@host?http_path=/sql/1.0/warehouses/1"


@pytest.mark.parametrize(
    ("url", "engine"),
    [
        (SNOWFLAKE, "snowflake"),
        (
            f"snowflake://u@a/db?authenticator=snowflake_jwt&private_key_file=/k&private_key_file_pwd={CANARY}",
            "snowflake",
        ),
        (BIGQUERY, "bigquery"),
        ("bigquery://project?credentials_path=/key.json&maximum_bytes_billed=1000", "bigquery"),
        (DATABRICKS, "databricks"),
    ],
)
def test_the_engine_of_a_url(url: str, engine: str) -> None:
    """And nothing secret of it is shown."""
    assert check_url(url) == engine
    assert CANARY not in display_url(url)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        (f"snowflake://u:{CANARY}@account", "account/database/schema"),
        ("snowflake://account/db", "user:password@account"),
        (f"{SNOWFLAKE}&passcode={CANARY}", "accepts each of these options once"),
        (f"{SNOWFLAKE}&warehouse=x", "accepts each of these options once"),
        (f"{SNOWFLAKE}&authenticator=externalbrowser", "all others need a person to log in"),
        (f"{SNOWFLAKE}&protocol=http&host=example.com", "protocol=http"),
        (f"{SNOWFLAKE}&protocol=http", "protocol=http"),
        (f"bigquery://u:{CANARY}@project/d", "bigquery://project/dataset"),
        ("bigquery://project/d?endpoint=http://example.com", "https://"),
        ("bigquery://project/d?maximum_bytes_billed=1GB", "whole number"),
        ("databricks://host?http_path=/x", "databricks://token:TOKEN@host"),
        (f"databricks://token:{CANARY}@host", "databricks://token:TOKEN@host"),
        (f"{DATABRICKS}&_tls_no_verify=true", "accepts each of these options once"),
    ],
)
def test_a_bad_url_is_refused_with_the_fix(url: str, says: str) -> None:
    """When it is registered. Options are those that are known alone: a client has some that switch TLS off."""
    with pytest.raises(InvalidSource) as caught:
        check_url(url)
    assert says in caught.value.message
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("url", [SNOWFLAKE, BIGQUERY, DATABRICKS])
def test_registration_says_who_holds_it_and_what_it_lacks(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No warehouse has a read-only session; all stop queries."""
    for module in CLIENTS:
        monkeypatch.setitem(sys.modules, module, None)
    read_only, missing = registration_notes(url)
    assert "only statements that read" in read_only
    assert f"pip install 'tenantry-warehouses[{url.partition(':')[0]}]'" in missing


@pytest.mark.parametrize("url", [SNOWFLAKE, BIGQUERY, DATABRICKS])
async def test_a_missing_client_is_said_by_the_first_query(
    url: str, directory: Directory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the line that installs it."""
    for module in CLIENTS:
        monkeypatch.setitem(sys.modules, module, None)
    directory.add(1, url)
    async with DataSources(directory) as sources:
        with pytest.raises(InvalidSource, match="pip install"):
            await sources.fetch(group(main="ds_1"), "main", "select 1 as x")


def test_the_engine_is_asked_once_for_a_text() -> None:
    """A text that it refuses is asked for again. Red without the cache, and when refusals were cached as good."""
    statements = ReadingStatements("ds_1", "snowflake")
    asked: list[str | None] = []

    def check(sql: str, reason: str | None) -> None:
        def ask() -> str | None:
            asked.append(reason)
            return reason

        statements.check(SQLTemplate(sql).bind({}, "qmark", dialect="snowflake"), ask)

    check("select 1", None)
    check("select 1", "no")
    assert asked == [None]
    for _ in range(2):
        with pytest.raises(NotOneStatement, match="no"):
            check("select 2", "no")
    assert asked == [None, "no", "no"]
    with pytest.raises(NotOneStatement):
        check("insert into t values (1)", None)
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("dialect", "paramstyle", "call"),
    [
        ("snowflake", "qmark", "select identifier({{ v }})"),
        ("bigquery", "named_at", "select * from external_query({{ v }})"),
        ("databricks", "named", "select identifier({{ v }})"),
    ],
)
def test_a_value_never_becomes_sql(dialect: str, paramstyle: str, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The finished text is looked at once more. Red without the look in ``ReadingStatements``."""
    monkeypatch.setattr("tenantry.sql.parsing.parser.check_dynamic_sql", lambda *_: None)
    bound = SQLTemplate(call).bind({"v": "select 1"}, paramstyle, dialect=dialect)
    with pytest.raises(QueryFailed, match="a value never becomes SQL"):
        ReadingStatements("ds_1", dialect).check(bound, lambda: None)


@pytest.mark.parametrize(
    "sql",
    [
        "with t as (select 1) insert into x select * from t",
        "WITH t AS (select 1) DELETE FROM x",
        "with t as (select 1) /* c */ merge into x using t on true when matched then delete",
        "with t as (select 1) from t insert into x select 1",
        "select 1; select 2",
        "select 'never ends",
    ],
)
def test_words_that_write_are_refused_on_databricks(sql: str) -> None:
    """Spark takes `with … insert`. Red when the first word alone was looked at."""
    assert text_refusal(sql) is not None


@pytest.mark.parametrize(
    "sql",
    [
        "select 'insert; it''s' as x, `delete`, updated_at from t -- merge\n;",
        'select "update" as x',
        "select replace(a, 'x', 'y'), a[0] from t where b in (select c from d)",
        "select '{{ x }}' as braces",
    ],
)
def test_texts_that_read_run_on_databricks(sql: str) -> None:
    """Such words in strings, names and comments write nothing."""
    assert text_refusal(sql) is None
