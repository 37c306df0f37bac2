"""The check of the audit trail's chain, on trails that somebody without the key has changed."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from tenantry.backends.audit.chain import (
    NO_SEAL,
    ChainCheck,
    read_head,
    read_seal,
    seal_entries,
    write_head,
    write_seal,
)
from tenantry.clock import utc_now
from tenantry.groups import AuditEntry, Author, ChainHead, Seal
from tenantry.tokens import KeyRing, SigningKey

K1, K2, FOREIGN = (SigningKey(key_id, secrets.token_bytes(32)) for key_id in ("k1", "k2", "k2"))
OLD, KEYS = KeyRing([K1]), KeyRing([K1, K2])
NOW = utc_now()


def make_entry(number: int) -> AuditEntry:
    details = {"label": "ä 😀", "b": "1", "a": "2"}
    return AuditEntry(number, NOW, Author("ann", None), "group.created", "production", f"g{number}", details)


def make_trail(*, before: int = 0, unsealed: Sequence[int] = ()) -> list[AuditEntry]:
    """Ten entries: those up to ``before`` are from before the chain, the first five sealed by k1, the others by k2."""
    trail: list[AuditEntry] = []
    head: ChainHead | None = None
    after = before
    for number in range(1, 11):
        entry = make_entry(number)
        if number > before and number not in unsealed:
            between = [each for each in trail if each.number > after]
            (entry,) = seal_entries(OLD if number <= 5 else KEYS, head, after, between, [entry])
            assert entry.seal is not None
            head, after = ChainHead(number, entry.seal.mac), number
        trail.append(entry)
    return trail


def check(trail: Sequence[AuditEntry], *expected: ChainHead, keys: KeyRing = KEYS) -> ChainCheck:
    done = ChainCheck(keys.audit_keys, list(expected))
    for entry in trail:
        done.add(entry)
    done.finish()
    return done


def head_of(entry: AuditEntry) -> ChainHead:
    assert entry.seal is not None
    return ChainHead(entry.number, entry.seal.mac)


def test_a_trail_as_it_was_written() -> None:
    """Under two keys, by entries one at a time or many at once: the seals are the same."""
    trail = make_trail()
    done = check(trail, head_of(trail[2]), head_of(trail[9]))
    assert (done.fault, done.sealed, done.unsealed, done.before) == (None, 10, 0, 0)
    assert done.head == head_of(trail[9])
    assert seal_entries(OLD, None, 0, (), [make_entry(number) for number in range(1, 6)]) == trail[:5]
    assert check([]).fault is None


def test_entries_from_before_the_chain_and_without_the_keys_are_counted() -> None:
    """Those without a seal are covered by the next one, but for the last."""
    done = check(make_trail(before=3, unsealed=(5, 6, 10)))
    assert (done.fault, done.before, done.unsealed, done.first_unsealed, done.sealed) == (None, 3, 3, 5, 4)
    assert check(make_trail(before=10)).before == 10


def test_too_many_without_a_seal_are_left_out() -> None:
    """The seal after them says so: they are counted, and nobody else can leave any out."""
    trail = make_trail()[:4]
    trail += [make_entry(5), make_entry(6)]
    trail += seal_entries(KEYS, head_of(trail[3]), 6, (), [make_entry(7)])
    done = check(trail)
    assert (done.fault, done.unsealed, done.left_out, done.sealed) == (None, 2, 2, 5)
    del trail[4]
    assert check(trail).fault is None  # 5 is proved by nothing; 6 is what 7 follows
    del trail[4]
    assert check(trail).fault is not None


Attack = Callable[[list[AuditEntry]], None]


def _edit(index: int, **changes: object) -> Attack:
    def change(trail: list[AuditEntry]) -> None:
        trail[index] = replace(trail[index], **changes)  # type: ignore[arg-type]

    return change


def _swap(trail: list[AuditEntry]) -> None:
    first, second = trail[3], trail[4]
    trail[3] = replace(second, number=first.number)
    trail[4] = replace(first, number=second.number)


def _insert(trail: list[AuditEntry]) -> None:
    del trail[6]  # a number that was never given, as a transaction that was undone leaves one
    trail.insert(6, replace(make_entry(7), subject="forged"))


def _reseal(trail: list[AuditEntry]) -> None:
    """With a key of his own, and the chain after it made anew."""
    edited = [replace(trail[6], subject="forged"), *trail[7:]]
    trail[6:] = seal_entries(KeyRing([FOREIGN]), head_of(trail[5]), 6, (), edited)


def _forget_seals(trail: list[AuditEntry]) -> None:
    """As if a program without the keys had written it."""
    trail[6] = replace(trail[6], subject="forged", seal=None)


@pytest.mark.parametrize(
    ("attack", "number"),
    [
        (_edit(3, subject="other"), 4),
        (_edit(3, author=Author("bob")), 4),
        (_edit(3, author=Author("ann", "r-1")), 4),
        (_edit(3, action="group.deleted"), 4),
        (_edit(3, environment="staging"), 4),
        (_edit(3, at=NOW + timedelta(microseconds=1)), 4),
        (_edit(3, details={"label": "ä 😀", "b": "1"}), 4),
        (_edit(3, seal=Seal("k1", 3, bytes(32))), 4),
        (_edit(3, seal=Seal("zz", 3, bytes(32))), 4),
        (_edit(0, subject="other"), 1),
        (_edit(9, subject="other"), 10),
        (lambda trail: trail.pop(3), 4),
        (lambda trail: trail.__delitem__(slice(3, 6)), 4),
        (lambda trail: trail.pop(0), 2),
        (_swap, 4),
        (_insert, 7),
        (_reseal, 7),
        (_forget_seals, 7),
        (_edit(9, number=42), 42),
        (lambda trail: trail.insert(0, make_entry(0)), 0),
        (_edit(3, seal=NO_SEAL), 4),
        (lambda trail: trail.append(make_entry(11)), None),
    ],
)
def test_what_was_done_to_a_trail_is_found(attack: Attack, number: int | None) -> None:
    """And the first entry that is bad, or missing, has its number. Red when the MAC leaves out a part of the content,
    the MAC before it, or the number that it follows."""
    trail = make_trail()
    attack(trail)
    done = check(trail)
    if number is None:
        assert (done.fault, done.unsealed) == (None, 1)  # at the end, where whoever has no keys adds
    else:
        assert done.fault is not None
        assert done.fault.number == number


@pytest.mark.parametrize("attack", [_edit(5, subject="other"), lambda trail: trail.pop(5), _edit(6, number=99)])
def test_what_a_seal_covers_cannot_be_changed_any_more(attack: Attack) -> None:
    """Entries without a seal, from the next seal on: the first that may be bad is named. Red when a seal is of its own
    entry alone."""
    trail = make_trail(unsealed=(6, 7))
    assert check(trail).fault is None
    attack(trail)
    done = check(sorted(trail, key=lambda entry: entry.number))
    assert done.fault is not None
    assert done.fault.number in (6, 7)


def test_an_end_that_was_cut_off_is_found_by_a_head_that_was_noted() -> None:
    """What is left is a whole trail. Red when an expected head that never comes is no fault."""
    trail = make_trail()
    noted = head_of(trail[7])
    assert check(trail[:6]).fault is None
    cut = check(trail[:6], noted)
    assert cut.fault is not None
    assert cut.fault.number == 7
    assert check([], noted).fault is not None
    other = check(trail, ChainHead(8, bytes(32)))
    assert other.fault is not None
    assert other.fault.number == 8


def test_a_key_that_was_removed_still_proves_what_it_sealed() -> None:
    """By its audit key alone, from which its secret cannot be found. Without that the first entry of its is named."""
    trail = make_trail()
    left = KeyRing([K2], audit_keys={"k1": K1.audit_key})
    assert check(trail, keys=left).fault is None
    assert K1.audit_key not in (K1.secret, *KeyRing([K1]).url_keys.values())
    unknown = check(trail, keys=KeyRing([K2]))
    assert unknown.fault is not None
    assert (unknown.fault.number, "k1" in unknown.fault.reason) == (1, True)


def test_seals_and_heads_as_they_are_written() -> None:
    """They come back, and anything else is no head, and a seal that fits nowhere."""
    seal = Seal("k1", 2**63 - 1, secrets.token_bytes(32))
    assert read_seal(write_seal(seal)) == seal
    assert read_seal(memoryview(write_seal(seal))) == seal
    for other in (b"x", "x" * 42, 5):
        assert read_seal(other) == NO_SEAL
    head = ChainHead(4711, secrets.token_bytes(32))
    assert read_head(f" {write_head(head).upper()}\n") == head
    for text in ("", "4711", "4711-", f"{write_head(head)}0", "-" + "0" * 64):
        assert read_head(text) is None


def test_a_trail_whose_beginning_was_trimmed() -> None:
    """It follows the head that was noted at the cut, and no other. Red when the first seal is taken as it is."""
    trail = make_trail(unsealed=(6,))
    done = ChainCheck(KEYS.audit_keys, head=head_of(trail[4]))
    for entry in trail[5:]:
        done.add(entry)
    done.finish()
    assert (done.fault, done.sealed, done.unsealed, done.before) == (None, 4, 1, 0)
    for start in (head_of(trail[3]), ChainHead(5, bytes(32)), None):
        wrong = ChainCheck(KEYS.audit_keys, head=start)
        for entry in trail[5:]:
            wrong.add(entry)
        assert wrong.fault is not None
