"""References in place of a password: ``env:NAME`` and ``file:/path``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tenantry.datasources import display_url, registration_notes
from tenantry.datasources.url_secrets.references import Reference, parse_reference
from tenantry.datasources.url_secrets.resolution import UrlSecrets
from tenantry.errors import InvalidSource, SecretUnavailable
from tenantry.groups import RegisteredSource
from tests.datasources.conftest import PRODUCTION

CANARY = "s3cr3t@c4n4ry/ü"


def connected_with(url: str) -> str:
    return UrlSecrets(None).resolve(RegisteredSource("ds_1", "sales", PRODUCTION, url)).source.url


def test_a_reference_is_read_where_it_stands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In the password and in options that may be secrets; whatever is in it. One trailing line end goes, no more."""
    monkeypatch.setenv("SALES_PASSWORD", CANARY)
    quoted = "s3cr3t%40c4n4ry%2F%C3%BC"
    assert connected_with("mysql://u:env:SALES_PASSWORD@h:1/d?ssl_ca=/a") == f"mysql://u:{quoted}@h:1/d?ssl_ca=%2Fa"
    file = tmp_path / "password"
    for content in (CANARY, f"{CANARY}\n", f"{CANARY}\r\n"):
        file.write_bytes(content.encode())
        assert connected_with(f"mysql://u:file:{file}@h/d") == f"mysql://u:{quoted}@h/d"
        assert connected_with(f"snowflake://u@a/d?token=file:{file}") == f"snowflake://u@a/d?token={quoted}"
    file.write_text(" spaces stay \n")
    assert parse_reference(f"file:{file}").read("ds_1") == " spaces stay "
    file.write_text("env:SALES_PASSWORD")  # a secret, and no reference again
    assert connected_with(f"mysql://u:file:{file}@h/d") == "mysql://u:env%3ASALES_PASSWORD@h/d"


def test_what_is_not_there_is_named_and_never_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The variable, or the file, and what is wrong with it. A FIFO is not waited for."""
    monkeypatch.setenv("EMPTY", "")
    monkeypatch.setenv("BYTES", "\udcff")
    monkeypatch.setenv("LINES", f"{CANARY}\n{CANARY}")
    for name, content in (("empty", b""), ("line", b"\n"), ("lines", b"a\nb\n"), ("bytes", b"\xff\xfe")):
        (tmp_path / name).write_bytes(content)
    (tmp_path / "large").write_bytes(b"x" * 70_000)
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    for reference, problem in (
        (Reference("env", "EMPTY"), "environment variable EMPTY, which is not set in this process, or is empty"),
        (Reference("env", "ABSENT_ONE"), "environment variable ABSENT_ONE, which is not set"),
        (Reference("env", "BYTES"), "is not UTF-8"),
        (Reference("env", "LINES"), "contains a line break or another control character"),
        (Reference("file", f"{tmp_path}/none"), f"file {tmp_path}/none, which cannot be read: No such file"),
        (Reference("file", f"{tmp_path}/empty"), "which is empty"),
        (Reference("file", f"{tmp_path}/line"), "which is empty"),
        (Reference("file", f"{tmp_path}/lines"), "contains a line break"),
        (Reference("file", f"{tmp_path}/bytes"), "is not UTF-8"),
        (Reference("file", f"{tmp_path}/large"), "larger than 64 KiB"),
        (Reference("file", f"{tmp_path}/folder"), "is not a plain file"),
        (Reference("file", f"{tmp_path}/fifo"), "is not a plain file"),
    ):
        with pytest.raises(SecretUnavailable, match=problem) as caught:
            reference.read("ds_1")
        assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("mysql://u:env:@h/d", "is a reference: write `env:NAME`"),
        ("mysql://u:env:A-B@h/d", "is a reference: write `env:NAME`"),
        ("mysql://u:file:relative@h/d", "file:/absolute/path"),
        ("mysql://u:env:TENANTRY_DATABASE@h/d", "cannot name a variable that begins with TENANTRY_"),
        ("postgresql://u@h/d?password=env:", "is a reference"),
        ("postgresql://u@h/d?tenantry_encrypted=v1~k1.AAAA", "works only for the data source that it was encrypted"),
    ],
)
def test_what_nobody_may_register(url: str, problem: str) -> None:
    """Red when it was found by the first query. TENANTRY_DATABASE may hold the password of the store."""
    with pytest.raises(InvalidSource, match=problem):
        registration_notes(url)


def test_a_reference_is_shown() -> None:
    """It is no secret."""
    for url in ("mysql://u:env:PASSWORD@h/d", "mysql://u:file:/run/secrets/x@h/d", "snowflake://u@a/d?token=env:T"):
        assert display_url(url) == url
