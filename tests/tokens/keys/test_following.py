"""SigningKeys that follow their file: a new key signs, a removed one is gone, and a broken file changes nothing."""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from tenantry.datasources.url_secrets.encryption import encrypt_url
from tenantry.datasources.url_secrets.resolution import UrlSecrets
from tenantry.errors import InvalidKeys, InvalidToken, SecretUnavailable, SigningKeyMissing
from tenantry.groups import RegisteredSource, Tag, Token
from tenantry.testing import make_environment
from tenantry.tokens import SigningKey, draft_token
from tenantry.tokens.keys import SigningKeys, create_key_file, remove_key, rotate_key_file, signing_keys


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A key file with k1."""
    create_key_file(tmp_path / "tenantry.keys")
    return tmp_path / "tenantry.keys"


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each use looks at the file, and a new key signs at once."""
    for name in ("CHECK_SECONDS", "UNKNOWN_KEY_SECONDS", "SIGNS_AFTER"):
        monkeypatch.setattr(signing_keys, name, 0.0)


def _token(keys: SigningKeys, key_id: str = "k1") -> str:
    return keys.mint(draft_token(Tag.CUSTOMER, key_id, secrets.token_bytes))


@pytest.mark.usefixtures("at_once")
def test_a_rotation_is_followed(path: Path) -> None:
    """The new key signs and verifies, the old one verifies. Red when the file is read once."""
    keys = SigningKeys.from_file(path)
    old = _token(keys)
    rotate_key_file(path)
    assert (keys.active_id, keys.ids, keys.removals) == ("k2", ("k1", "k2"), 0)
    assert keys.read(old).key_id == "k1"
    assert keys.read(_token(keys, "k2")).key_id == "k2"
    assert list(keys.url_keys) == ["k1", "k2"]


@pytest.mark.usefixtures("at_once")
def test_a_change_is_logged_with_the_ids(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Operators see which key signs on which host. Red without the log entry."""
    keys = SigningKeys.from_file(path)
    rotate_key_file(path)
    assert keys.active_id == "k2"
    assert "the active key is k2; the keys are k1, k2" in caplog.text


@pytest.mark.usefixtures("at_once")
def test_a_thread_does_not_wait_for_another_that_reads(path: Path) -> None:
    """It goes on with the keys that it has. Red when it waits for the lock."""
    keys = SigningKeys.from_file(path)
    rotate_key_file(path)
    changed: list[bool] = []
    with keys._reading:
        asking = Thread(target=lambda: changed.append(keys.refresh()), daemon=True)
        asking.start()
        asking.join(60)
        assert changed == [False]
    assert keys.refresh() is True


def _use(keys: SigningKeys, use: str, parts: Token, token: str) -> None:
    match use:
        case "read":
            keys.read(token)
        case "mint":
            keys.mint(parts)
        case _:
            keys.url_keys["k1"]


@pytest.mark.usefixtures("at_once")
def test_a_removed_key_is_gone_for_every_use(path: Path) -> None:
    """It neither verifies nor signs nor opens a URL, and ``removals`` says so. Red when only ``read`` looks again."""
    rotate_key_file(path)
    parts = draft_token(Tag.CUSTOMER, "k1", secrets.token_bytes)
    for use in ("read", "mint", "url_keys"):
        before = path.read_bytes()
        keys = SigningKeys.from_file(path)
        token = keys.mint(parts)
        remove_key(path, "k1")
        with pytest.raises((InvalidToken, SigningKeyMissing, KeyError)):
            _use(keys, use, parts, token)
        assert (keys.removals, keys.ids) == (1, ("k2",))
        path.write_bytes(before)


@pytest.mark.usefixtures("at_once")
def test_another_secret_under_the_same_id_is_another_key(path: Path) -> None:
    """What the old one signed is refused, and counts as removed. Red when only ids are compared."""
    keys = SigningKeys.from_file(path)
    token = _token(keys)
    path.unlink()
    create_key_file(path)
    with pytest.raises(InvalidToken):
        keys.read(token)
    assert (keys.removals, keys.ids) == (1, ("k1",))


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (lambda path: path.unlink(), "there is no signing-key file"),
        (lambda path: path.write_text(""), "no key is active"),
        (lambda path: path.write_bytes(path.read_bytes()[:-20]), "use at least 32"),
        (
            lambda path: path.write_bytes(path.read_bytes()[: path.read_bytes().index(b"\nk2")]),
            "no key is active",
        ),
        (lambda path: path.write_bytes(b"\xff" * 99), "non-ASCII"),
        (lambda path: path.chmod(0o644), "mode 0644"),
        (lambda path: (path.unlink(), path.mkdir()), "not a plain file"),
    ],
    ids=["vanished", "empty", "cut-in-a-secret", "cut-before-a-key", "bytes", "readable", "folder"],
)
def test_a_file_that_cannot_be_used_changes_nothing(
    path: Path, harm: Callable[[Path], Any], told: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The keys that were read before go on, no forgery is taken, and the log says once what is wrong and when it is
    good again; no line of it has a secret. Red when the error is raised, and when it is logged at each look."""
    rotate_key_file(path)
    keys, whole = SigningKeys.from_file(path), path.read_bytes()
    known = [_token(keys), _token(keys, "k2")]
    forged = _token(SigningKeys([SigningKey("k1", secrets.token_bytes(32))]))
    with caplog.at_level(logging.INFO, "tenantry.keys"):
        harm(path)
        for _ in range(3):
            assert [keys.read(token).key_id for token in known] == ["k1", "k2"]
            assert keys.active_id == "k2"
            with pytest.raises(InvalidToken):
                keys.read(forged)
        assert told in (keys.problem or "")
        assert len(caplog.records) == 1
        assert keys.problem in caplog.text
        if path.is_dir():
            path.rmdir()
        path.write_bytes(whole)
        path.chmod(0o600)
        assert keys.read(known[0]).key_id == "k1"
    assert keys.problem is None
    assert "can be used again" in caplog.records[-1].message
    assert keys.removals == 0
    assert not any(line.split()[3] in caplog.text for line in whole.decode().splitlines() if line.startswith("k"))
    with pytest.raises(InvalidKeys):
        SigningKeys.from_file(path.with_name("none"))


def test_a_file_that_was_written_within_one_moment_is_noticed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same size, time and inode. Red when the file's status is compared instead of its contents."""
    monkeypatch.setattr(signing_keys, "CHECK_SECONDS", 0.0)
    keys, status = SigningKeys.from_file(path), path.stat()
    token = _token(keys)
    other = path.with_name("other")
    create_key_file(other)
    path.write_bytes(other.read_bytes())
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(InvalidToken):
        keys.read(token)


def test_another_process_that_has_read_the_file_is_understood_at_once(path: Path) -> None:
    """Its new key is unknown here, though the file was looked at a moment ago: it is looked at again. Red when a token
    of an unknown key is refused without a look."""
    here = SigningKeys.from_file(path)
    assert here.refresh() is False
    rotate_key_file(path)
    time.sleep(2 * signing_keys.UNKNOWN_KEY_SECONDS)
    token = _token(SigningKeys.from_file(path), "k2")
    assert here.read(token).key_id == "k2"


def test_the_key_before_signs_for_a_moment(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that nobody meets a token of a key that was read everywhere but there. Not where it is gone. Red when the new
    key signs at once (checked: SIGNS_AFTER 0)."""
    now = 1_000.0
    monkeypatch.setattr(signing_keys, "time", SimpleNamespace(monotonic=lambda: now))
    keys = SigningKeys.from_file(path)
    rotate_key_file(path)
    assert keys.refresh() is True
    now += 0.99 * signing_keys.SIGNS_AFTER
    assert keys.active_id == "k1"
    now += 0.02 * signing_keys.SIGNS_AFTER
    assert keys.active_id == "k2"
    rotate_key_file(path)
    remove_key(path, "k2")
    keys.refresh()
    assert (keys.active_id, keys.ids) == ("k3", ("k1", "k3"))


def test_a_change_that_another_thread_reads_is_not_undone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes just when the key that was read before is to sign, and takes that key away. Red when that key is made
    the active one without a second look: nothing can be signed any more."""
    keys = SigningKeys.from_file(path)
    monkeypatch.setattr(signing_keys, "SIGNS_AFTER", 0.0)
    rotate_key_file(path)
    assert keys.refresh() is True
    looks: list[bool] = []

    def monotonic() -> float:
        looks.append(True)
        if len(looks) == 2:  # after the look at the file: the one at whether the next key is due
            rotate_key_file(path)
            remove_key(path, "k2")
            assert keys.refresh() is True
        return time.monotonic()

    monkeypatch.setattr(signing_keys, "time", SimpleNamespace(monotonic=monotonic))
    monkeypatch.setattr(signing_keys, "CHECK_SECONDS", 3600.0)
    assert (keys.active_id, keys.ids) == ("k1", ("k1", "k3"))
    assert keys.active_id == "k3"
    assert keys.read(_token(keys, "k3")).key_id == "k3"


def test_a_forgery_reads_no_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a known key never; of unknown keys some twenty times a second at most, however many come. Red when the look
    comes before the signature."""
    reads = 0
    real = signing_keys.read_private

    def counted(of: Path) -> bytes:
        nonlocal reads
        reads += 1
        return real(of)

    keys = SigningKeys.from_file(path)
    forged = _token(SigningKeys([SigningKey("k1", secrets.token_bytes(32))]))
    monkeypatch.setattr(signing_keys, "read_private", counted)
    monkeypatch.setattr(signing_keys, "CHECK_SECONDS", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(signing_keys, "UNKNOWN_KEY_SECONDS", 0.0)  # else the time since the keys were read hides a look
        for text in (forged, "x" * 97, "ugtc_K2_" + forged[8:], "xxxc_zz_" + forged[8:], ""):
            for _ in range(50):
                with pytest.raises(InvalidToken):
                    keys.read(text)
        assert reads == 0
    begun = time.monotonic()
    for _ in range(500):
        with pytest.raises(InvalidToken):
            keys.read(f"ugtc_zz_{forged[8:]}")
    assert reads <= 2 + (time.monotonic() - begun) / signing_keys.UNKNOWN_KEY_SECONDS


@pytest.mark.usefixtures("at_once")
def test_the_urls_of_data_sources_are_opened_with_the_keys_of_now(path: Path) -> None:
    """In a process that opened one before, one that was encrypted for a new key opens, and one for a key that was
    removed does not. Red when ``url_keys`` are those of the start."""
    secret = UrlSecrets(path)
    url, place = "postgresql://u:s3cr3t-value@h/d", make_environment()

    def stored() -> RegisteredSource:
        return RegisteredSource("ds_1", "a", place, encrypt_url(url, SigningKeys.from_file(path), place, "ds_1"))

    first = stored()
    assert secret.resolve(first).source.url == url
    rotate_key_file(path)
    remove_key(path, "k1")
    assert secret.resolve(stored()).source.url == url
    with pytest.raises(SecretUnavailable):
        secret.resolve(first)


def test_keys_that_were_given_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They have no file, whatever lies about."""
    monkeypatch.chdir(tmp_path)
    keys = SigningKeys([SigningKey("k1", secrets.token_bytes(32))])
    create_key_file("tenantry.keys")
    rotate_key_file("tenantry.keys")
    assert keys.refresh() is False
    assert (keys.ids, keys.problem) == (("k1",), None)


def test_a_relative_path_is_that_of_the_start(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A program that changes its folder later goes on to read the same file."""
    monkeypatch.chdir(path.parent)
    keys = SigningKeys.from_file(path.name)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    rotate_key_file(path)
    assert keys.refresh() is True
