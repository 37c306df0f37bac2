from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeAlias

from tenantry.database import TIMEZONE_OPTION, replace_secrets
from tenantry.datasources.url import parse_url
from tenantry.datasources.url_secrets.encryption import decrypt_url, is_encrypted
from tenantry.datasources.url_secrets.references import Reference, references
from tenantry.errors import InvalidKeys, SecretUnavailable
from tenantry.groups import RegisteredSource
from tenantry.tokens import KeyRing
from tenantry.tokens.keys import DEFAULT_PATH, SigningKeys

Keys: TypeAlias = KeyRing | str | Path | None
"""The keys that decrypt URLs, or the path of a key file. None: the file that TENANTRY_KEYS names, otherwise the file at
the default path. The file is read when the first encrypted URL is used."""

_VARIABLE: Final = "TENANTRY_KEYS"


@dataclass(frozen=True, slots=True)
class ConnectableSource:
    """A source whose URL contains its secrets as plain text, neither encrypted nor as references."""

    source: RegisteredSource
    read: dict[Reference, str] = field(default_factory=dict, repr=False)

    def is_current(self) -> bool:
        try:
            return all(each.read(self.source.id) == value for each, value in self.read.items())
        except SecretUnavailable:
            return False


class UrlSecrets:
    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    def resolve(self, source: RegisteredSource) -> ConnectableSource:
        """Decrypt the source's URL, and replace references by their secrets. Raises SecretUnavailable,
        InvalidSource."""
        url = decrypt_url(source, self._ring(source)) if is_encrypted(source.url) else source.url
        parsed = parse_url(url)
        named = references(parsed)
        read = {each: each.read(source.id) for each in named.values()}
        if read:
            filled = replace_secrets(parsed, {text: read[each] for text, each in named.items()})
            url = filled.render_as_string(hide_password=False)
        elif TIMEZONE_OPTION in url:
            url = parsed.render_as_string(hide_password=False)
        return ConnectableSource(source if url == source.url else replace(source, url=url), read)

    def _ring(self, source: RegisteredSource) -> KeyRing:
        if isinstance(self._keys, KeyRing):
            return self._keys
        path = self._keys or os.environ.get(_VARIABLE) or DEFAULT_PATH
        try:
            self._keys = SigningKeys.from_file(path)
        except InvalidKeys as error:
            problem = error.message
        else:
            return self._keys
        raise SecretUnavailable(
            f"the URL of data source {source.id} is encrypted, but the keys to decrypt it cannot be used: {problem} "
            f"(in Python, pass the keys with DataSources(…, keys=…))"
        )
