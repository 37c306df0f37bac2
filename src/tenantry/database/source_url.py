from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlalchemy.engine import URL

ENCRYPTED_OPTION: Final = "tenantry_encrypted"
"""Name of the URL option whose value is the whole URL in encrypted form (docs/decisions/0069-encrypted-urls.md)."""

TIMEZONE_OPTION: Final = "tenantry_timezone"
"""Name of the URL option with the time zone of the source's rows, for dashboards. The option is not passed to
drivers."""

_PREFIXES: Final = ("env:", "file:")

# Options that contain no secret. Any other option may contain one, because each driver has its own name for "password".
_NO_SECRETS: Final = frozenset(
    {
        "application_name",
        "authenticator",
        "catalog",
        "channel_binding",
        "charset",
        "connect_timeout",
        "credentials_path",
        "dialect",
        "driver",
        "endpoint",
        "host",
        "http_path",
        "location",
        "maximum_bytes_billed",
        "memory_limit",
        "mode",
        "port",
        "private_key_file",
        "protocol",
        "role",
        "schema",
        "service",
        "ssl_ca",
        "ssl_cert",
        "ssl_key",
        "ssl_mode",
        "sslcert",
        "sslkey",
        "sslmode",
        "sslrootcert",
        "target_session_attrs",
        TIMEZONE_OPTION,
        "warehouse",
    }
)


def secret_values(url: URL) -> Iterator[object]:
    if url.password:
        yield url.password
    yield from (value for name, value in url.query.items() if name not in _NO_SECRETS)


def replace_secrets(url: URL, replacements: dict[object, str]) -> URL:
    password = replacements.get(url.password, url.password) if url.password else url.password
    query = {
        name: value if name in _NO_SECRETS else replacements.get(value, value) for name, value in url.query.items()
    }
    return url._replace(password=password).set(query=query)


def is_reference(value: object) -> bool:
    return isinstance(value, str) and value.startswith(_PREFIXES)


def lacks_secrets(url: URL) -> bool:
    """Whether a driver can use the URL only after its secrets are resolved."""
    return ENCRYPTED_OPTION in url.query or any(map(is_reference, secret_values(url)))
