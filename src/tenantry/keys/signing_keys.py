"""SigningKeys: the key ring of a key file."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from tenantry.keys.key_file import read_keys
from tenantry.tokens import KeyRing


class SigningKeys(KeyRing):
    """A KeyRing that can be read from a file. A program reads it once, at its start: a rotation needs a restart."""

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Reads the file that ``tenantry keys new`` made.

        Raises InvalidKeys when the file is missing, malformed (naming the line), may be read or written by group or
        others, or holds a key that is short, guessable or published. No message ever shows a secret.
        """
        sheet = read_keys(path)
        return cls([entry.key for entry in sheet.entries], active=sheet.active.key.id)
