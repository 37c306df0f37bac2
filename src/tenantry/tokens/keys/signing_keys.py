from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Final, Self

from tenantry.errors import InvalidKeys
from tenantry.groups import Token
from tenantry.tokens import KEY_ID_PATTERN, KeyRing, MessageAuthenticator, SigningKey
from tenantry.tokens.keys.key_file import KeyFile, checked_keys
from tenantry.tokens.keys.private_file import read_private

_log = logging.getLogger("tenantry.keys")

CHECK_SECONDS: Final = 1.0
"""If the last read of the key file is more than this many seconds ago, the file is read again before a key is used."""

# With 0, every forged token would cause a read.
UNKNOWN_KEY_SECONDS: Final = 0.05
"""Like CHECK_SECONDS, but for a token with an unknown key id, because the key may be new."""

SIGNS_AFTER: Final = 0.25
"""For this many seconds after a rotation, the former active key still signs. In this time, other processes can read the
new key."""


class SigningKeys(KeyRing):
    """A KeyRing with fixed keys, or with those of a file (``from_file``)."""

    def __init__(
        self, keys: Sequence[SigningKey], active: str | None = None, *, audit_keys: Mapping[str, bytes] | None = None
    ) -> None:
        super().__init__(keys, active, audit_keys=audit_keys)
        self._path: Path | None = None
        self._digest = b""
        self._checked_at = 0.0
        self._reading = Lock()
        self._next_active: tuple[str, float] | None = None

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Return the keys of a file. Later changes to the file are noticed within a second.

        Raises InvalidKeys if the file is missing, malformed or accessible to others, or has a weak key. If a later read
        fails, the old keys stay in use, the failure is logged, and ``problem`` says why."""
        place = Path(path).absolute()
        raw = read_private(Path(path))
        contents = checked_keys(path, raw)
        keys = cls(_keys_of(contents), contents.active.key.id, audit_keys=contents.audit_keys)
        keys._path, keys._digest, keys._checked_at = place, sha256(raw).digest(), time.monotonic()
        return keys

    def refresh(self, *, within: float = 0.0) -> bool:
        if self._path is None or time.monotonic() - self._checked_at < within:
            return False
        if not self._reading.acquire(blocking=False):  # another thread reads it
            return False
        try:
            self._checked_at = time.monotonic()
            return self._read_again(self._path)
        finally:
            self._reading.release()

    def _read_again(self, path: Path) -> bool:
        try:
            raw = read_private(path)
            # Compare the content: two writes in quick succession can leave the same time and size.
            digest = sha256(raw).digest()
            changed = digest != self._digest
            contents = checked_keys(path, raw) if changed else None
        except InvalidKeys as error:
            if error.message != self.problem:
                self.problem = error.message
                _log.warning("the keys read before stay in use: %s", error.message)
            return False
        if self.problem is not None:
            self.problem = None
            _log.warning("the signing-key file %s can be used again", path)
        if contents is not None:
            self._digest = digest
            self._replace(contents)
        return changed

    def _replace(self, contents: KeyFile) -> None:
        before, removals = self._url_keys, self.removals
        new = KeyRing(_keys_of(contents), contents.active.key.id, audit_keys=contents.audit_keys)
        gone = [key_id for key_id, key in before.items() if new._url_keys.get(key_id) != key]
        state = dict(vars(new))
        self._next_active = None
        if new._active != self._active and self._active in new.ids and self._active not in gone:
            self._next_active = new._active, time.monotonic() + SIGNS_AFTER
            state["_active"] = self._active
        self.__dict__.update(state, removals=removals + bool(gone))  # one step, so that threads never see a mixture
        removed = f"; {', '.join(gone)} removed" if gone else ""
        _log.warning(
            "the signing-key file has changed: the active key is %s; the keys are %s%s",
            new._active,
            ", ".join(new.ids),
            removed,
        )

    def _promote(self, following: tuple[str, float]) -> None:
        # Do nothing if another thread has read a later change of the file.
        if self._reading.acquire(blocking=False):
            try:
                if self._next_active is following:
                    self._active, self._next_active = following[0], None
            finally:
                self._reading.release()

    # --- uses of the keys; each use first checks the file for changes ---

    @property
    def active_id(self) -> str:
        self.refresh(within=CHECK_SECONDS)
        following = self._next_active
        if following is not None and time.monotonic() >= following[1]:
            self._promote(following)
        return self._active

    @property
    def ids(self) -> tuple[str, ...]:
        self.refresh(within=CHECK_SECONDS)
        return super().ids

    @property
    def url_keys(self) -> dict[str, bytes]:
        self.refresh(within=CHECK_SECONDS)
        return super().url_keys

    def mint(self, token: Token) -> str:
        self.refresh(within=CHECK_SECONDS)
        return super().mint(token)

    def read(self, text: str | bytes) -> Token:
        token = super().read(text)  # first, so that no file is read for a forged token with a known key id
        return super().read(text) if self.refresh(within=CHECK_SECONDS) else token

    def _mac_of(self, head: bytes) -> MessageAuthenticator | None:
        mac = self._macs.get(head)
        if mac is None and _names_a_key(head) and self.refresh(within=UNKNOWN_KEY_SECONDS):
            mac = self._macs.get(head)
        return mac


def _keys_of(contents: KeyFile) -> list[SigningKey]:
    return [entry.key for entry in contents.entries]


def _names_a_key(head: bytes) -> bool:
    return head[:3] == b"ugt" and KEY_ID_PATTERN.fullmatch(head[5:7].decode("latin-1")) is not None
