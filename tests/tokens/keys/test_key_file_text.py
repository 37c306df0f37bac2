"""The text of a key file: what is refused, what the error says, and what a rotation changes."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from datetime import UTC, datetime
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenantry.errors import InvalidKeys
from tenantry.tokens.keys import KeyFile, new_key_file, parse_keys

NOW = datetime(2026, 1, 31, 9, 0, 0, 999, tzinfo=UTC)


def secret(name: str) -> bytes:
    """A strong secret that is the same in each run."""
    return sha256(b"a test of the key sheet, " + name.encode()).digest()


def spelled(raw: bytes) -> str:
    """As the fourth field has it."""
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


A, B, C = spelled(secret("a")), spelled(secret("b")), spelled(secret("c"))
DAY = "2026-01-31T09:00:00Z"


def test_a_new_key_file_says_what_it_is_and_reads_back() -> None:
    """Whoever opens the file learns that it is secret; times are kept to the second."""
    text = new_key_file(secret("a"), NOW).text()
    assert text.startswith("# Signing keys of Tenantry. SECRET")
    assert text.splitlines()[-1] == f"k1  {DAY}  active       {A}"
    key_file = parse_keys(text)
    assert key_file.active.key.secret == secret("a")
    assert key_file.active.created_at == NOW.replace(microsecond=0)
    assert key_file.text() == text


def test_a_rotation_adds_a_key_and_keeps_the_rest() -> None:
    """The old key only verifies; comments of the operator stay where they are."""
    text = f"# ours\n\nk1 {DAY} active {A}\n# asked for by Ann\n"
    key_file = parse_keys(parse_keys(text).rotated(secret("b"), NOW).text())
    assert [(entry.key.id, entry.key.secret, entry.active) for entry in key_file.entries] == [
        ("k1", secret("a"), False),
        ("k2", secret("b"), True),
    ]
    assert [line for line in key_file.lines if isinstance(line, str)] == ["# ours", "", "# asked for by Ann"]


def test_ids_go_on_after_the_active_one_and_never_repeat_one_in_use() -> None:
    """k9 is followed by ka, kz by l0, zz by 00; an id that is there is passed over."""
    expected = {"k9": "ka", "kz": "l0", "zz": "00"}
    for active, following in expected.items():
        key_file = parse_keys(f"{active} {DAY} active {A}\n").rotated(secret("b"), NOW)
        assert key_file.active.key.id == following
    assert (
        parse_keys(f"k2 {DAY} verify-only {B}\nk1 {DAY} active {A}\n").rotated(secret("c"), NOW).active.key.id == "k3"
    )


def test_a_removed_id_does_not_come_back_with_the_next_key() -> None:
    """k1 removed, the key after k2 is k3: a group that still names k1 must not be signed by another key."""
    key_file = parse_keys(f"k1 {DAY} verify-only {A}\nk2 {DAY} active {B}\n").without("k1").rotated(secret("c"), NOW)
    assert [entry.key.id for entry in key_file.entries] == ["k2", "k3"]


def test_the_active_key_cannot_be_removed() -> None:
    """Something must sign. Red when ``without`` does not look at the state."""
    key_file = parse_keys(f"k1 {DAY} verify-only {A}\nk2 {DAY} active {B}\n")
    with pytest.raises(
        InvalidKeys, match="k2 is the active signing key: run `tenantry keys rotate` before you remove it"
    ):
        key_file.without("k2")
    with pytest.raises(InvalidKeys, match="no signing key has this id; the ids are k1, k2"):
        key_file.without("k9")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no key is active"),
        ("# only words\n", "no key is active"),
        (f"k1 {DAY} verify-only {A}\n", "no key is active"),
        (f"k1 {DAY} active {A}\nk2 {DAY} active {B}\n", r"line 2: a second active key \(the first is on line 1\)"),
        (f"\n# x\nk1 {DAY} active {A}\nk1 {DAY} verify-only {B}\n", "line 4: has the same id as line 3"),
        (f"k1 {DAY} active {A}\nk2 {DAY} verify-only {A}\n", "line 2: has the same secret as line 1"),
        (f"k1 {DAY} active\n", "line 1: 3 fields instead of 4"),
        (f"k1 {DAY} active {A} # mine\n", "line 1: 6 fields instead of 4"),
        (f"{A}\n", "line 1: 1 fields instead of 4"),
        (
            f"k1 {DAY} Active {A}\n",
            "line 1: the third field, the state, must be one of active, verify-only, audit-only",
        ),
        (f"k1 {A} active {DAY}\n", "line 1: the second field must be a time"),
        (f"k1 2026-02-30T09:00:00Z active {A}\n", "line 1: the second field must be a time"),
        (f"k1 {DAY} active {A}=\n", "line 1: the fourth field, the secret, must be base64url"),
        (f"k1 {DAY} active {A[:-1]}+\n", "line 1: the fourth field, the secret, must be base64url"),
        (f"k1 {DAY} active {A}AA\n", "line 1: the fourth field, the secret, must be base64url"),
        (f"k1 {DAY} active {A[:-1]}B\n", "line 1: the fourth field, the secret, must be base64url"),
        (f"K1 {DAY} active {A}\n", "line 1: the id of a signing key is two characters"),
        (f"{A} {DAY} active {A}\n", "line 1: the id of a signing key is two characters"),
        (f"k1 {DAY} active {spelled(secret('a')[:31])}\n", "line 1: the secret of signing key k1 has 31 bytes"),
        (f"k1 {DAY} active {'A' * 43}\n", "line 1: the secret of k1 repeats itself; .*tenantry keys new"),
    ],
    ids=lambda value: value if value.startswith(("line", "no line")) else "",
)
def test_a_bad_key_file_is_refused_by_line_and_never_shown(text: str, message: str) -> None:
    """Each error names the line and the fix; even a secret in the wrong field is not shown.

    Red when a message quotes a field, or when the check that it names is left out.
    """
    with pytest.raises(InvalidKeys, match=message) as caught:
        parse_keys(text)
    assert not any(hidden[:8] in repr(caught.value) for hidden in (A, B))


@given(st.text())
def test_whatever_is_in_a_key_file_only_invalid_keys_is_raised(text: str) -> None:
    """A file of another kind, given by mistake, gets an error and no traceback."""
    with pytest.raises(InvalidKeys):
        parse_keys(text)


@given(st.lists(st.text(alphabet="k12 \tactive#-only:TZ\n" + A, max_size=60), max_size=4))
def test_what_is_parsed_is_written_and_parsed_the_same(parts: list[str]) -> None:
    """Near misses of a key file: either refused or stable through writing."""
    try:
        key_file = parse_keys("\n".join([*parts, f"k1 {DAY} active {A}"]))
    except InvalidKeys:
        return
    assert parse_keys(key_file.text()) == key_file
    assert isinstance(key_file, KeyFile)


def test_line_ends_of_another_system_are_taken() -> None:
    """An editor may write CR LF."""
    assert parse_keys(f"# x\r\nk1 {DAY} active {A}\r\n").active.key.id == "k1"


def test_no_repr_shows_a_secret() -> None:
    """Neither of an entry nor of the whole file."""
    key_file = parse_keys(f"k1 {DAY} active {A}\nk0 {DAY} audit-only {B}\n")
    assert A not in repr(key_file)
    assert repr(secret("a")) not in repr(key_file)
    assert repr(key_file.audit_keys["k0"]) not in repr(key_file)


def test_a_weak_secret_is_never_written() -> None:
    """A broken source of randomness is an error before a key of it signs anything."""
    with pytest.raises(InvalidKeys, match="random secret repeats itself"):
        new_key_file(bytes(32), NOW)
    with pytest.raises(InvalidKeys, match="random number generator"):
        new_key_file(secret("a"), NOW).rotated(bytes(range(32)), NOW)


def test_all_ids_can_be_used_up() -> None:
    """1,296 keys are a mistake that is an error, not an endless loop."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    ids = [high + low for high in digits for low in digits]
    lines = [f"{name} {DAY} {'active' if name == 'k1' else 'verify-only'} {spelled(secret(name))}" for name in ids]
    with pytest.raises(InvalidKeys, match="all 1,296 key ids are taken"):
        parse_keys("\n".join(lines)).rotated(secret("new"), NOW)
