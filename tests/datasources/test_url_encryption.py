"""URLs of data sources at rest: what a stolen row shows, what opens it, and what does not."""

from __future__ import annotations

import json
import secrets
import sys
from base64 import urlsafe_b64decode
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from tenantry.datasources import display_url, encrypt_url, secret_state
from tenantry.datasources.url import source_revision
from tenantry.datasources.url_secrets.encryption import decrypt_url, encrypting_keys
from tenantry.errors import InvalidSource, SecretUnavailable, SourceUnavailable
from tenantry.groups import RegisteredSource
from tenantry.tokens import TOKEN_SALT, KeyRing, SigningKey
from tests.datasources.conftest import PRODUCTION, STAGING

CANARY = "s3cr3t-c4n4ry"
SECRET = secrets.token_bytes(32)
FIRST, SECOND = SigningKey("k1", SECRET), SigningKey("k2", secrets.token_bytes(32))
RING = KeyRing([FIRST, SECOND])
URL = f"postgresql://reader:{CANARY}@db.example.com:5432/sales?sslmode=require"


def stored(url: str = URL, keys: KeyRing = RING) -> RegisteredSource:
    return RegisteredSource("ds_1", "sales", PRODUCTION, encrypt_url(url, keys, PRODUCTION, "ds_1"))


@pytest.mark.parametrize(
    "url",
    [
        URL,
        f"postgresql://reader:{CANARY}%40%2F%3F@h/d",
        f"postgresql://h/d?password={CANARY}&options=-c%20x%3D1",
        f"mysql://u:{CANARY}@h/d?ssl_ca=/a.pem",
        f"mysql://u:{CANARY}@h/d?tenantry_timezone=Europe/Vienna",
        f"snowflake://u:{CANARY}@a/d/s?token={CANARY}&warehouse=w",
        f"databricks://token:{CANARY}@h?http_path=/sql/1.0/warehouses/1",
        f"mssql+pyodbc:///?odbc_connect=PWD%3D{CANARY}",
        f"mssql+pymssql://u:{CANARY}@h/d?a={CANARY}1&a={CANARY}2",
        f"mysql://u:env:PASSWORD@h/d?token={CANARY}",
    ],
)
def test_a_stored_url_shows_all_but_its_secrets(url: str) -> None:
    """What opens it gives the very text back. Red when options were kept as they are."""
    source = stored(url)
    assert CANARY not in source.url
    assert display_url(source.url).replace("***", "%2A%2A%2A") == display_url(url).replace("***", "%2A%2A%2A")
    assert (secret_state(url), secret_state(source.url)) == ("plain", "encrypted")
    assert decrypt_url(source, RING) == url
    assert encrypting_keys(source.url) == {"k1", "k2"}


@pytest.mark.parametrize(
    ("url", "state"),
    [
        ("sqlite:////a.db", None),
        ("duckdb:////a.duckdb?memory_limit=4GiB", None),
        ("postgresql://reader@h/d?sslmode=require&connect_timeout=3", None),
        ("postgresql://reader:@h/d", None),
        ("postgresql://reader:env:PASSWORD@h/d", "reference"),
        ("snowflake://u@a/d?token=file:/run/secrets/token", "reference"),
    ],
)
def test_a_url_without_secrets_is_stored_as_it_is(url: str, state: str | None) -> None:
    """And needs no key."""
    assert stored(url).url == url
    assert secret_state(url) == state


def test_a_url_opens_in_its_own_row_alone_and_unchanged() -> None:
    """Neither in another environment nor as another source, nor with another host, user or option before it.

    Red when nothing was bound to it: a row that was copied over another's gave that one's password to another host.
    """
    source = stored()
    k1 = source.url.partition("~")[2].partition("~")[0]
    for changed in (
        replace(source, environment=STAGING),
        replace(source, id="ds_2"),
        replace(source, url=source.url.replace("db.example.com", "evil.example")),
        replace(source, url=source.url.replace("reader", "owner")),
        replace(source, url=source.url.replace("sslmode=require", "sslmode=disable")),
        replace(source, url=source.url.replace("~k2.", "~k2.A")),
        replace(source, url=f"{source.url.partition('~')[0]}~k2.{k1.partition('.')[2]}"),
    ):
        with pytest.raises(SecretUnavailable, match="cannot be decrypted with the key k2") as caught:
            decrypt_url(changed, RING)
        assert CANARY not in str(caught.value)
    for changed in (source.url[:-3] + "!!!", source.url.replace("=v1~", "=v2~"), source.url + "&a=b"):
        with pytest.raises(SecretUnavailable, match="cannot be read"):
            decrypt_url(replace(source, url=changed), RING)


def test_any_key_of_the_file_opens_it_and_no_other() -> None:
    """A host that has not got the new key file yet goes on, and one that has no key of it says which it lacks."""
    source = stored()
    assert decrypt_url(source, KeyRing([FIRST])) == decrypt_url(source, KeyRing([SECOND])) == URL
    third = SigningKey("k3", secrets.token_bytes(32))
    with pytest.raises(
        SecretUnavailable, match="is encrypted with the keys k1, k2, but the key file of this process has k3"
    ):
        decrypt_url(source, KeyRing([third]))
    with pytest.raises(SecretUnavailable, match="cannot be decrypted with the key k1"):
        decrypt_url(source, KeyRing([SigningKey("k1", secrets.token_bytes(32))]))
    without = encrypt_url(URL, RING, PRODUCTION, "ds_1", without="k1")
    assert encrypting_keys(without) == {"k2"}


def test_the_key_is_derived_for_this_purpose_alone() -> None:
    """By HKDF-Expand, as another library does it; it is not the key that signs tokens."""
    derived = HKDFExpand(SHA256(), 32, b"tenantry.data-source-url.v1").derive(SECRET)
    assert RING.url_keys["k1"] == derived
    assert derived not in (SECRET, FIRST.derive(TOKEN_SALT))
    assert SECRET.hex() not in repr(RING) + repr(FIRST)


def test_the_format_is_what_the_decision_says() -> None:
    """Opened by hand, as whoever has a backup and the key file could; each copy has a nonce of its own."""
    public, _, copies = stored().url.partition("&tenantry_encrypted=v1~")
    assert public == "postgresql://reader:%2A%2A%2A@db.example.com:5432/sales?sslmode=require"
    nonces = set()
    for copy in copies.split("~"):
        key_id, _, text = copy.partition(".")
        raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        bound = json.dumps(["tenantry_encrypted", "v1", key_id, PRODUCTION.id, "ds_1", public]).encode()
        assert AESGCM(RING.url_keys[key_id]).decrypt(raw[:12], raw[12:], bound).decode() == URL
        nonces.add(raw[:12])
    assert len(nonces) == 2
    assert stored().url != stored().url


def test_the_key_of_cached_results_is_not_changed_by_encryption() -> None:
    """It is made of the URL that is connected with. Red when it is made of the row: a rotation emptied every cache."""
    source = stored()
    again = replace(source, url=decrypt_url(source, RING))
    assert source_revision(again) == source_revision(replace(source, url=URL))


def test_the_package_is_asked_for_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the line that installs it. Red without the clause: an ImportError of a viewer's query."""
    source = stored()
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    for call in (stored, lambda: decrypt_url(source, RING)):
        with pytest.raises(InvalidSource, match=r"pip install 'tenantry\[encryption\]'"):
            call()
    assert stored("sqlite:////a.db").url == "sqlite:////a.db"


def test_what_a_viewer_is_told_names_no_key_and_no_file() -> None:
    """The message is for the operator."""
    error = SecretUnavailable("data source ds_1 refers to the file /run/secrets/x, which is empty")
    assert isinstance(error, SourceUnavailable)
    assert error.status == 503
    assert "/run" not in error.public_message
