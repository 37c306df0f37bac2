"""Seals audit entries. A check of the seals finds each change to the entries that somebody made without an audit key. A
seal is a MAC of the entry and the previous seal. A writer without keys adds entries without seals; the next seal covers
them.

To find that the newest entries were removed, a check needs a head: the number and MAC of an entry, noted outside the
store (docs/decisions/0074-audit-chain.md)."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Final, Protocol

from tenantry.groups import AuditEntry, ChainHead, Seal, to_micros

_NOTHING: Final = bytes(32)
"""The "previous MAC" of the first seal."""


class ChainKeys(Protocol):
    @property
    def active_id(self) -> str: ...

    @property
    def audit_keys(self) -> Mapping[str, bytes]:
        """The audit keys (32 bytes), by the id of their signing key. Removed signing keys are included."""
        ...


def content_of(entry: AuditEntry) -> bytes:
    author, details = entry.author, dict(entry.details)
    parts = [entry.number, to_micros(entry.at), author.name, author.request_id, entry.action]
    return json.dumps([*parts, entry.environment, entry.subject, details], sort_keys=True).encode()


def seal_entries(
    keys: ChainKeys, head: ChainHead | None, after: int, unsealed: Iterable[AuditEntry], entries: Iterable[AuditEntry]
) -> list[AuditEntry]:
    """Return ``entries`` with seals that continue the chain after ``head``. The first new seal also covers
    ``unsealed``: the older entries without seals, whose numbers are above ``after``."""
    key_id = keys.active_id
    key, mac = keys.audit_keys[key_id], _NOTHING if head is None else head.mac
    sealed, between = [], [content_of(entry) for entry in unsealed]
    for entry in entries:
        mac = _mac(key, mac, after, between, content_of(entry))
        sealed.append(replace(entry, seal=Seal(key_id, after, mac)))
        after, between = entry.number, []
    return sealed


def _mac(key: bytes, before: bytes, after: int, between: Collection[bytes], content: bytes) -> bytes:
    digests = sha256(b"".join(sha256(each).digest() for each in between)).digest()
    return hmac.digest(key, before + after.to_bytes(8, "big") + digests + content, "sha256")


# --- formats: a seal in its column, a head on the command line ---

_COLUMN: Final = 2 + 8 + 32
_HEAD: Final = re.compile(r"([0-9]{1,19})-([0-9a-f]{64})")


def write_seal(seal: Seal) -> bytes:
    return seal.key_id.encode("ascii") + seal.after.to_bytes(8, "big") + seal.mac


NO_SEAL: Final = Seal("", 0, b"")
"""``read_seal`` returns this for a seal that it cannot read. Somebody must have altered such a seal, so the check
always rejects NO_SEAL."""


def read_seal(column: object) -> Seal:
    if not isinstance(column, bytes | memoryview) or len(column) != _COLUMN:
        return NO_SEAL
    column = bytes(column)
    return Seal(column[:2].decode("latin-1"), int.from_bytes(column[2:10], "big"), column[10:])


def write_head(head: ChainHead) -> str:
    return f"{head.number}-{head.mac.hex()}"


def read_head(text: str) -> ChainHead | None:
    found = _HEAD.fullmatch(text.strip().lower())
    return None if found is None else ChainHead(int(found[1]), bytes.fromhex(found[2]))


# --- the check ---


@dataclass(frozen=True, slots=True)
class Fault:
    number: int
    """Number of the first missing or invalid entry."""
    reason: str


@dataclass(slots=True)
class ChainCheck:
    """Checks a chain of audit entries. Call ``add`` for each entry in order, then ``finish``."""

    keys: Mapping[str, bytes]
    expected: list[ChainHead] = field(default_factory=list)
    """Heads that were noted outside the store. The check fails if the trail lacks one of them."""
    sealed: int = 0
    begins_after: int | None = None
    """Number of the last entry before the chain begins. If an earlier check found a different number, somebody has
    restarted the chain."""
    before: int = 0
    """How many entries are before the chain."""
    unsealed: int = 0
    """How many entries without a seal were added since the chain began."""
    left_out: int = 0
    """How many of the ``unsealed`` entries are not covered by the next seal."""
    first_unsealed: int | None = None
    head: ChainHead | None = None
    """The last sealed entry that was checked. To check only the entries after a known head, pass that head."""
    fault: Fault | None = None
    _between: list[tuple[int, bytes]] = field(default_factory=list)

    def add(self, entry: AuditEntry) -> None:
        if self.fault is not None:
            return
        if entry.number < 1:
            self.fault = Fault(entry.number, "it was inserted later: the first entry of a trail has the number 1")
            return
        if entry.seal is None:
            self._between.append((entry.number, content_of(entry)))
            return
        self.fault = self._fault_of(entry, entry.seal)
        if self.fault is not None:
            return
        if self.head is None:
            self.begins_after = entry.seal.after
        self._count([number for number, _ in self._between], entry.seal.after)
        self._between.clear()
        self.sealed += 1
        self.head = ChainHead(entry.number, entry.seal.mac)
        self.expected = [each for each in self.expected if each != self.head]

    def _fault_of(self, entry: AuditEntry, seal: Seal) -> Fault | None:
        last = 0 if self.head is None else self.head.number
        numbers = [number for number, _ in self._between]
        first = next((number for number in numbers if self.head is not None or number > seal.after), entry.number)
        if seal == NO_SEAL:
            return Fault(entry.number, "it has values that were never written")
        if seal.key_id not in self.keys:
            return Fault(entry.number, f"it was sealed with the key {seal.key_id}, which is not in the key file")
        if self.head is not None and seal.after < last:
            return Fault(
                first, f"entry {entry.number} was sealed after entry {seal.after}, but now follows entry {last}"
            )
        if self.head is not None and seal.after != last and seal.after not in numbers:
            missing = f"entry {entry.number} was sealed after entry {seal.after}, which is missing"
            return Fault(min(first, last + 1), missing)
        before = _NOTHING if self.head is None else self.head.mac
        between = [content for number, content in self._between if number > seal.after]
        expected = _mac(self.keys[seal.key_id], before, seal.after, between, content_of(entry))
        if not hmac.compare_digest(expected, seal.mac):
            changed = "it" if first == entry.number else f"one of the entries {first} to {entry.number}"
            return Fault(first, f"{changed} was changed after it was sealed, or an earlier entry was replaced")
        return None

    def _count(self, numbers: list[int], after: int) -> None:
        if self.head is None:
            self.before = sum(number <= after for number in numbers)
            numbers = [number for number in numbers if number > after]
        self.unsealed += len(numbers)
        self.left_out += sum(number <= after for number in numbers)
        if numbers and self.first_unsealed is None:
            self.first_unsealed = numbers[0]

    def finish(self) -> None:
        if self.fault is not None:
            return
        if self.head is None and not self.expected:
            self.before = len(self._between)
        else:
            self._count([number for number, _ in self._between], 0 if self.head is None else self.head.number)
        if self.expected:
            lost, last = min(self.expected, key=lambda head: head.number), 0 if self.head is None else self.head.number
            if lost.number > last:
                self.fault = Fault(last + 1, f"the trail ends at {last}, but it once reached at least {lost.number}")
            else:
                self.fault = Fault(lost.number, "it is not the entry that `audit head` printed")
