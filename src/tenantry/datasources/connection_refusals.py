"""The words of servers and poolers that give no further connection; the source then waits for those it has."""

from __future__ import annotations

import re
from typing import Final

from tenantry.errors import SourceUnavailable

# PostgreSQL, PgBouncer, Redshift, Supavisor; MySQL, MariaDB, ProxySQL; ClickHouse; Oracle; SQL Server.
_WORDS: Final = re.compile(
    r"too many (\w+ )*(connections|clients|sessions|queries)|no more connections|more than 'max_user_connections'"
    r"|connection slots are reserved|connection limit|exceeded the 'max_\w*connections\w*' resource"
    r"|max(imum)? (client connections|clients|number of (\w+ )*(connections|sessions|processes))"
    r"|sessions_per_user|sessions? limit",
    re.IGNORECASE,
)


class NoConnectionLeft(SourceUnavailable):
    """The server gives this source no further connection."""


def says_no_connection(words: str) -> bool:
    """Whether an engine's own words say so."""
    return _WORDS.search(words) is not None
