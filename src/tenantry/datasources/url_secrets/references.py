"""References that a URL contains in place of a password: ``env:NAME`` and ``file:/path``. The process that connects
reads the secret. No message contains a secret."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from sqlalchemy.engine import URL

from tenantry.database import ENCRYPTED_OPTION, is_reference, secret_values
from tenantry.errors import InvalidSource, SecretUnavailable

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OWN: Final = "TENANTRY_"
_LARGEST: Final = 64 * 1024
_HELP: Final = (
    "a password or option that begins with `env:` or `file:` is a reference: write `env:NAME` for an environment "
    "variable, or `file:/absolute/path`"
)


@dataclass(frozen=True, slots=True)
class Reference:
    kind: Literal["env", "file"]
    name: str

    def read(self, source_id: str) -> str:
        """Return the secret. Raises SecretUnavailable, which names the variable or file, if it has no valid secret."""
        value, problem = self._variable() if self.kind == "env" else self._file()
        if any(each < " " or each == "\x7f" for each in value):
            problem = "contains a line break or another control character: a secret must be one line"
        elif any("\ud800" <= each <= "\udfff" for each in value):  # surrogateescape decodes invalid bytes to these
            problem = "is not UTF-8"
        if problem:
            what = f"environment variable {self.name}" if self.kind == "env" else f"file {self.name}"
            raise SecretUnavailable(f"data source {source_id} refers to the {what}, which {problem}")
        return value

    def _variable(self) -> tuple[str, str]:
        value = os.environ.get(self.name, "")
        return value, "" if value else "is not set in this process, or is empty"

    def _file(self) -> tuple[str, str]:
        try:
            raw = _read(self.name)
        except OSError as error:
            return "", f"cannot be read: {error.strerror}"
        if raw is None or len(raw) > _LARGEST:
            return "", "is not a plain file, or is larger than 64 KiB"
        value = raw.decode(errors="surrogateescape").removesuffix("\n").removesuffix("\r")
        return value, "" if value else "is empty"


def _read(path: str) -> bytes | None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a FIFO must not block
    try:
        return os.read(descriptor, _LARGEST + 1) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    finally:
        os.close(descriptor)


def parse_reference(text: str) -> Reference:
    """Parse ``env:NAME`` or ``file:/path``. Raises InvalidSource for an invalid reference, or for a variable whose name
    begins with TENANTRY_."""
    kind, _, name = text.partition(":")
    if kind == "file" and "\0" not in name and Path(name).is_absolute():
        return Reference("file", name)
    if kind != "env" or not _NAME.fullmatch(name):
        raise InvalidSource(_HELP, field="/url")
    if name.startswith(_OWN):
        raise InvalidSource(
            "a reference cannot name a variable that begins with TENANTRY_: use another variable", field="/url"
        )
    return Reference("env", name)


def references(url: URL) -> dict[object, Reference]:
    """Return the references in a URL's password and secret options, each keyed by its text. Raises InvalidSource."""
    return {each: parse_reference(str(each)) for each in secret_values(url) if is_reference(each)}


def check_secrets(url: URL) -> None:
    """Raise InvalidSource if a URL to register has an invalid reference or is already encrypted."""
    references(url)
    if ENCRYPTED_OPTION in url.query:
        raise InvalidSource(
            f"a URL with {ENCRYPTED_OPTION} works only for the data source that it was encrypted for: write the URL "
            f"with its password, without {ENCRYPTED_OPTION}",
            field="/url",
        )
