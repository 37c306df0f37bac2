"""Data source URLs. Error messages quote only the dialect and option names."""

from __future__ import annotations

import re
from datetime import tzinfo
from pathlib import Path
from urllib.parse import quote_plus

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from tenantry.database import ENCRYPTED_OPTION, TIMEZONE_OPTION, is_reference, replace_secrets, secret_values
from tenantry.errors import InvalidSource
from tenantry.groups import RegisteredSource
from tenantry.sql import digest
from tenantry.sql.parameters import find_zone

# Without a limit, these engines would use most of the machine's memory.
MEMORY_LIMIT = "1GiB"
"""Default memory limit. On DuckDB it applies to all queries of a file together, on chDB to each query."""

_FILE_OPTIONS = {"duckdb": frozenset({"memory_limit"}), "chdb": frozenset({"memory_limit"})}
_MEMORY = re.compile(r"([1-9][0-9]{0,5}(?:\.[0-9]{1,3})?)([KMGT])(i?)B")

FILES = frozenset({"sqlite", "duckdb", "chdb"})
MASK = "***"

_EXAMPLE = (
    "postgresql://user:password@host:5432/name, mysql://…, clickhouse://…, sqlite:////path/file.db or "
    "duckdb:////path/file.duckdb"
)


def parse_url(url: str) -> URL:
    """Parse a URL, and drop Tenantry's option for the time zone. Raises InvalidSource."""
    return _parse(url).difference_update_query([TIMEZONE_OPTION])


def source_timezone(source: RegisteredSource) -> tzinfo | None:
    """Return the time zone that the URL sets, or None. Raises InvalidSource."""
    return _timezone(_parse(source.url)) if TIMEZONE_OPTION in source.url else None


def _timezone(url: URL) -> tzinfo | None:
    name = url.query.get(TIMEZONE_OPTION)
    zone = find_zone(name)
    if name is not None and zone is None:
        raise InvalidSource(f"{TIMEZONE_OPTION} is not a time zone: write a name such as Europe/Vienna", field="/url")
    return zone


def _parse(url: str) -> URL:
    failed = True
    parsed = None
    try:
        parsed = make_url(url)
        failed = _is_misread(parsed)
    except (ArgumentError, ValueError):
        pass  # InvalidSource is raised below: its context must not be this error, which quotes the URL
    if failed or parsed is None:
        raise InvalidSource(
            f"the URL of the data source cannot be read: write {_EXAMPLE}, and in the user name and password write "
            "%40 for @, %2F for /, %3A for :",
            field="/url",
        )
    _timezone(parsed)
    return parsed


def _is_misread(url: URL) -> bool:
    in_host = url.host is not None and "@" in url.host
    return in_host or (url.get_backend_name() not in FILES and "@" in (url.database or ""))


def display_url(url: str) -> str:
    """The URL for display: secrets become ``***``; references to secrets stay. Never raises."""
    try:
        parsed = _parse(url)
    except InvalidSource:
        scheme, separator, _ = url.partition("://")
        return f"{scheme}://{MASK}" if separator and scheme.replace("+", "").isalnum() else MASK
    shown = masked(parsed.difference_update_query([ENCRYPTED_OPTION]))
    text = shown.render_as_string(hide_password=not is_reference(shown.password))
    for reference in filter(is_reference, secret_values(shown)):
        text = text.replace(quote_plus(str(reference)), str(reference))
    return text


def public_url(url: str) -> str:
    """The URL with ``***`` for each secret that is not a reference. Raises InvalidSource."""
    return masked(_parse(url)).render_as_string(hide_password=False)


def masked(url: URL) -> URL:
    return replace_secrets(url, {each: MASK for each in secret_values(url) if not is_reference(each)})


def secret_state(url: str) -> str | None:
    """Return the form of the secrets in a stored URL (``plain``, ``encrypted`` or ``reference``), or None if the URL
    has no secrets or cannot be read."""
    try:
        parsed = parse_url(url)
    except InvalidSource:
        return None
    if ENCRYPTED_OPTION in parsed.query:
        return "encrypted"
    if masked(parsed) != parsed:
        return "plain"
    return "reference" if any(secret_values(parsed)) else None


def source_revision(source: RegisteredSource) -> str:
    """Return a digest of everything in a registration that affects rows."""
    # Without passwords, which do not change the rows and could be guessed from the digest.
    url = parse_url(source.url)._replace(password=None)
    rest = {name: value for name, value in url.query.items() if "pass" not in name.lower() and name.lower() != "pwd"}
    text = url.set(query=rest).render_as_string(hide_password=False)
    return digest((text, source.trusted, source.session, source.tables))


def with_password(url: str, password: str) -> str:
    """Return the URL with the password. Raises InvalidSource for a URL without a user."""
    parsed = _parse(url)
    if not parsed.username:
        raise InvalidSource(
            "the URL of the data source names no user, so it takes no password: add the user, or leave out the "
            "password",
            field="/password",
        )
    return parsed.set(password=password).render_as_string(hide_password=False)


def is_same_address(url: str, stored: str) -> bool:
    """Whether ``url`` is ``stored``, with or without its password. Raises InvalidSource."""
    if url == stored:
        return True
    given, kept = _parse(url), _parse(stored).difference_update_query([ENCRYPTED_OPTION])
    return given.password is None and _address(given) == _address(kept)


def _address(url: URL) -> tuple[object, ...]:
    return url.drivername, url.username, url.host, url.port, url.database, url.query


def resolve_url(url: str) -> str:
    """Return the URL. If it names a file or folder, make the path absolute. Raises InvalidSource."""
    # Processes with different working directories then open the same file.
    parsed = _parse(url)
    if parsed.get_backend_name() not in FILES:
        return url
    return parsed.set(database=str(file_path(parse_url(url)))).render_as_string(hide_password=False)


def missing_path(url: str) -> Path | None:
    """Return the path that the URL names if nothing exists there, otherwise None. Raises InvalidSource."""
    parsed = parse_url(url)
    path = file_path(parsed) if parsed.get_backend_name() in FILES else None
    return path if path is not None and not path.exists() else None


def file_path(url: URL) -> Path:
    """Return the path that the URL names, absolute. Raises InvalidSource."""
    name = url.get_backend_name()
    own = _FILE_OPTIONS.get(name, frozenset[str]())
    if url.host or url.username or frozenset(url.query) - own:
        known = " other than ?memory_limit=4GiB" if own else ""
        raise InvalidSource(
            f"a {name} URL is {name}:///relative/path or {name}:////absolute/path, without host, user or options"
            f"{known}",
            field="/url",
        )
    if own:
        memory_limit(url)
    if not url.database or url.database.startswith(":memory:"):
        kind = "folder" if name == "chdb" else "file"
        raise InvalidSource(
            f"a {name} URL must name a {kind}, because a database in memory would be empty", field="/url"
        )
    if "\0" in url.database or url.database.startswith("file:"):
        raise InvalidSource(f"a {name} URL takes a plain path, without `file:` or a NUL character", field="/url")
    return Path(url.database).expanduser().resolve()


def memory_limit(url: URL) -> str:
    """The memory limit in the URL, or the default. Raises InvalidSource."""
    given = url.query.get("memory_limit", MEMORY_LIMIT)
    if not isinstance(given, str) or not _MEMORY.fullmatch(given):
        name = url.get_backend_name()
        raise InvalidSource(
            f"memory_limit of a {name} URL must be a number with a unit, such as 512MiB or 4GiB", field="/url"
        )
    return given


def memory_bytes(url: URL) -> int:
    """Raises InvalidSource."""
    number, unit, binary = _MEMORY.fullmatch(memory_limit(url)).groups()  # type: ignore[union-attr]  # it was matched
    return int(float(number) * (1024 if binary else 1000) ** ("KMGT".index(unit) + 1))
