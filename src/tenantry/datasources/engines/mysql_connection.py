from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final

from pymysql import MySQLError
from pymysql.connections import Connection
from pymysql.constants import COMMAND
from sqlalchemy.engine import URL

from tenantry.datasources.engines import tls
from tenantry.datasources.engines.mysql_values import CONVERSIONS, MySQLColumn, described, read_row, to_parameters

_ENDS: Final = " \t\r\n;"  # characters that are removed from the end of a statement
_RESET_CONNECTION: Final = 31  # COM_RESET_CONNECTION: MySQL 5.7.3, MariaDB 10.2.4
_CLIENT_ERRORS: Final = range(2000, 3000)
_TRUNCATED: Final = 1292  # the warning that the beginning of a string was read as a number or a time
WARNINGS_KEPT: Final = 16_384  # number of warnings that the server should keep for one statement
_CANNOT_NEST: Final = frozenset({1064, 1235})  # errors for a statement that cannot be a subquery
_ENDED: Final = frozenset(
    {1053, 1080, 1152, 1153, 1158, 1159, 1160, 1161, 1184, 1927, 4031}
)  # errors after which the server closes the connection


_OPTIONS: Final = frozenset({*tls.OPTIONS, "unix_socket", "pipelining"})
_NO_TLS: Final = 2026  # the client's CR_SSL_CONNECTION_ERROR
_TLS_WANTED: Final = 3159  # the server's ER_SECURE_TRANSPORT_REQUIRED


class ServerAddress:
    """The options of a MySQL URL. Raises InvalidSource for unknown or contradictory options."""

    def __init__(self, url: URL) -> None:
        options = tls.read_options(url, "MySQL", _OPTIONS, ignored=frozenset({"charset"}))
        tls.check_choice(options, "pipelining", ("on", "off"), "MySQL")
        self.pipelining: bool = options.get("pipelining", "on") == "on"
        self._mode = _mode(url.host, options)
        self._context = tls.TLSContext(self._mode, options)
        self._plain = self._mode == "disabled"
        self._login = {
            "host": url.host or "localhost",
            "port": url.port or 3306,
            "user": url.username,
            "password": url.password or "",
            "database": url.database,
            "unix_socket": options.get("unix_socket"),
        }

    @property
    def server(self) -> str:
        """Host and port, or the path of the socket."""
        return str(self._login["unix_socket"] or "") or f"{self._login['host']}:{self._login['port']}"

    def arguments(self) -> dict[str, Any]:
        """Arguments for ``pymysql.connect``. Raises InvalidSource for an unreadable certificate file."""
        if self._plain:
            return {**self._login, "ssl_disabled": True}
        return {**self._login, "ssl": self._context.get()}

    def goes_on_without_tls(self, number: int | None) -> bool:
        """If ``number`` is the error of a server without TLS, and the URL does not require TLS, return True and leave
        TLS out of ``arguments`` from now on."""
        if self._mode is not None or number != _NO_TLS:
            return False
        self._plain = True
        return True


_PROBLEMS: Final = {
    1040: "the server has reached max_connections",
    1044: "the user may not use this database",
    1045: "the user or the password is wrong",
    1049: "there is no such database",
    1130: "the server allows no connections from this host",
    1203: "the user has reached its limit of connections",
    1226: "the user has reached its limit of connections",
    1698: "the user or the password is wrong",
    _NO_TLS: "the server has no TLS: set it up there, or add ssl_mode=disabled if the network is private",
    _TLS_WANTED: "the server requires TLS: add ssl_mode=required or ssl_mode=verify",
}


def connection_problem(error: BaseException, number: int | None) -> str | None:
    """Explain why the server refused a connection. Return None for network errors and unknown errors."""
    return tls.certificate_hint(getattr(error, "original_exception", None)) or _PROBLEMS.get(number or 0)


def _mode(host: str | None, options: Mapping[str, str]) -> str | None:
    mode = tls.asked_mode(options)
    if mode is not None:
        return mode
    if any(name in options for name in tls.FILES):
        return "required"
    if "unix_socket" in options:
        return "disabled"
    return None if tls.is_loopback(host) else "required"


class Session(Connection):  # type: ignore[misc]  # PyMySQL has no types
    """A connection that resets its session after each query, even a refused one. ``pipelining``: send all commands of a
    reset at once."""

    _read_timeout: float
    _result: Any

    def __init__(
        self, arguments: dict[str, Any], timeout: float, connect_timeout: float, *, pipelining: bool = True
    ) -> None:
        self.reusable: bool = False
        """Whether the session is ready for the next query."""
        self.is_mariadb = False
        self.stopping: Future[None] | None = None
        self.server: tuple[Any, ...] = ()
        self._setup: tuple[bytes, ...] = ()
        self._pipelining = pipelining
        self._unsent: list[bytes] = []
        self._unread = 0
        self._wipe_timeout = connect_timeout
        super().__init__(
            **arguments,
            charset="utf8mb4",
            conv=CONVERSIONS,
            local_infile=False,
            client_flag=0,  # does not set MULTI_STATEMENTS
            autocommit=None,  # `set_up` sets it
            connect_timeout=max(1, round(connect_timeout)),
            read_timeout=timeout,
            write_timeout=timeout,
        )

    def set_up(self, statements: Sequence[str]) -> None:
        """Run the statements now, and again after each reset of the session."""
        for statement in statements:
            self.query(statement)
        self._setup = tuple(statement.encode() for statement in statements)
        self.server = self.identify()
        self.reusable = True

    def identify(self) -> tuple[Any, ...]:
        # The connection id alone is not enough, because two servers may use the same id.
        self.query("select @@hostname, @@port, @@server_id")
        row: tuple[Any, ...] = self._result.rows[0]
        return row

    def settle(self, settings: str | None = None) -> None:
        """Read the replies to the last reset of the session, and run the statement ``settings`` for the next query."""
        self.reusable = False
        usual, self._read_timeout = self._read_timeout, self._wipe_timeout
        while self._unread or self._unsent:
            if not self._unread:
                self._send(1)
            self._next_seq_id = 1  # packets are numbered anew for each command of a reset
            self._read_ok_packet()
            self._unread -= 1
        if settings is not None:
            self.query(settings)
        self._read_timeout = usual
        self.reusable = settings is None

    def read(self, sql: str, params: Iterable[Any] | None) -> tuple[list[MySQLColumn], Iterator[Any]]:
        """Send a query, and return its columns and rows. Call ``settle`` first. Raises UnbindableValue and
        MySQLError."""
        text = self._with_values(sql, params)
        self.reusable = False
        try:
            self.query(text, unbuffered=True)
        except MySQLError as error:
            self._wipe_after(error)
            raise
        fields = self._result.fields if self._result.description else ()
        return [described(each) for each in fields], self._rows()

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        result = self._result
        try:
            while result.unbuffered_active:
                packet = self._read_packet()
                if result._check_packet_is_eof(packet):
                    result.unbuffered_active, result.connection = False, None
                else:
                    yield read_row(packet.get_all_data(), result.converters)
        except MySQLError as error:
            self._wipe_after(error)
            raise

    def was_truncated(self) -> bool:
        """Return whether the server converted only the beginning of a string to a number or time (``'12abc'`` to 12),
        or may have done so. Call this after the last row was read."""
        count = self._result.warning_count
        if not count:
            return False
        self.query("show warnings")
        numbers = [number for _, number, _ in self._result.rows]
        return _TRUNCATED in numbers or len(numbers) < count

    def first_row_truncates(self, sql: str, params: Iterable[Any] | None) -> bool:
        """Run ``select exists(query)``, which reads only the first row, and return ``was_truncated``. Return False if
        the query cannot be a subquery."""
        # Streams need to know this before they send rows.
        self.reusable = False
        try:
            self.query(f"select exists (\n{self._with_values(sql, params).rstrip(_ENDS)}\n)")
        except MySQLError as error:
            if error_number(error) in _CANNOT_NEST:
                return False
            raise
        return self.was_truncated()

    def _with_values(self, sql: str, params: Iterable[Any] | None) -> str:
        return sql if params is None else sql % tuple(map(self.escape, to_parameters(params)))

    def wipe(self) -> None:
        # COM_RESET_CONNECTION removes locks, variables, settings, temporary tables and prepared statements. It also
        # resets read-only and the timeout, so the statements of `set_up` follow in the same write.
        self._unsent = [_packet(_RESET_CONNECTION), *(_packet(COMMAND.COM_QUERY, each) for each in self._setup)]
        with suppress(MySQLError):
            self._send(len(self._unsent) if self._pipelining else 1)
            self.reusable = True

    def _send(self, count: int) -> None:
        self._write_bytes(b"".join(self._unsent[:count]))
        self._unread += count
        del self._unsent[:count]

    def abandon(self) -> None:
        if self._result is not None:  # else PyMySQL reads the unread rows before the next query
            self._result.unbuffered_active = False
            self._result.connection = None
            self._result = None

    def _wipe_after(self, error: MySQLError) -> None:
        self.abandon()
        number = error_number(error)
        answered = number is not None and number > 0 and number not in _CLIENT_ERRORS and number not in _ENDED
        if answered and self.open:
            self.wipe()


def error_number(error: BaseException) -> int | None:
    first = error.args[0] if error.args else None
    return first if isinstance(first, int) else None


def _packet(command: int, content: bytes = b"") -> bytes:
    return struct.pack("<iB", len(content) + 1, command) + content
