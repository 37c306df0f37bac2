"""The addresses that a data source may have when it comes over HTTP."""

from __future__ import annotations

import pytest

from tenantry.errors import InvalidSettings, InvalidSource
from tenantry.provisioning.http import SourceHosts
from tenantry.server.settings import load_settings

ALLOWED = ("db.example.com", "*.intern.example.com:5432", "[::1]:5432")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u@db.example.com/shop",
        "postgresql://u@DB.Example.com:7000/shop?sslmode=require&tenantry_timezone=Europe/Vienna",
        "redshift://u:p%40ss@a.b.intern.example.com:5432/shop",
        "postgresql://u@[::1]:5432/shop",
        "mysql://u@db.example.com/shop?charset=utf8mb4",
    ],
)
def test_an_allowed_address(url: str) -> None:
    SourceHosts(ALLOWED).check(url, None)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u@169.254.169.254/shop",  # metadata of a cloud
        "postgresql://u@intern.example.com:5432/shop",
        "postgresql://u@a.intern.example.com/shop",  # another port
        "postgresql://u@evil-intern.example.com:5432/shop",
        "mysql://u@[::1]/shop",
    ],
)
def test_a_host_that_is_not_allowed(url: str) -> None:
    SourceHosts(["*"]).check(url, None)
    refuse(url, *ALLOWED)


def refuse(url: str, *hosts: str) -> None:
    """The message quotes nothing of the URL."""
    with pytest.raises(InvalidSource) as refused:
        SourceHosts(hosts).check(url, None)
    assert refused.value.field == "/url"
    assert "evil" not in refused.value.message
    assert "/etc" not in refused.value.message


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u@evil.example,a.intern.example.com:5432/shop",  # libpq tries each host of a list
        "postgresql://u@evil.example%2Ca.intern.example.com:5432/shop",
        "postgresql://u@db.example.com/shop?host=evil.example",
        "postgresql://u@db.example.com/shop?hostaddr=10.0.0.1",
        "postgresql://u@db.example.com/shop?service=evil",
        "postgresql://u@db.example.com/shop?passfile=/etc/passwd",
        "postgresql://u@db.example.com/shop?sslkey=/etc/tenantry.keys",
        "postgresql://u@db.example.com/shop?tenantry_encrypted=v1~k1.AAAA",
        "postgresql://u@db.example.com/host=evil.example dbname=x",
        "postgresql:///shop",  # a socket of the server
        "postgresql://u@%2Frun%2Fpostgresql/shop",
        "mysql://u@db.example.com/shop?unix_socket=/run/mysqld.sock",
        "mysql://u@db.example.com/shop?read_default_file=/root/.my.cnf",
        "postgresql://u:file%3A%2Fetc%2Ftenantry.keys@db.example.com/shop",
        "postgresql://u:env:AWS_SECRET_ACCESS_KEY@db.example.com/shop",
        "sqlite:////etc/tenantry.db",
        "duckdb:////data/shop.duckdb",
        "chdb:////data",
        "snowflake://u:p@db.example.com/shop",
        "not a url",
    ],
)
def test_what_no_setting_allows(url: str) -> None:
    """Red with ``fnmatch`` on the host, and without the list of options."""
    refuse(url, *ALLOWED)
    refuse(url, "*")


@pytest.mark.parametrize("password", ["env:TENANTRY_KEYS", "file:/etc/tenantry.keys"])
def test_a_password_that_is_a_reference(password: str) -> None:
    """The server would send the file or the variable to the host of the caller."""
    with pytest.raises(InvalidSource) as refused:
        SourceHosts(["*"]).check("", password)
    assert refused.value.field == "/password"
    assert password not in refused.value.message


def test_without_the_setting_no_address_is_allowed() -> None:
    with pytest.raises(InvalidSource, match="api_source_hosts"):
        SourceHosts([]).check("postgresql://u@127.0.0.1/shop", None)


def test_the_setting_is_read_when_the_service_starts() -> None:
    assert load_settings(api_source_hosts=" db.example.com, *.b:1").source_hosts == ("db.example.com", "*.b:1")
    for wrong in ("db example", "a.*.b", "http://db.example.com", "db:port"):
        with pytest.raises(InvalidSettings, match="api_source_hosts"):
            load_settings(api_source_hosts=wrong)
