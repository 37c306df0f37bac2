"""A PostgreSQL connection through libpq in pipeline mode, which sends a transaction's statements at once."""

# A connection is used by one thread at a time. When another thread calls `interrupt`, the first thread sends a cancel
# request within 50 ms, over a second connection.

from __future__ import annotations

import re
import selectors
import socket
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any, Final, TypeAlias

import psycopg
from psycopg import generators, waiting
from psycopg.conninfo import make_conninfo
from psycopg.pq import DiagnosticField, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult

from tenantry.datasources.driver import says_no_connection
from tenantry.datasources.engines.postgresql_values import RowReader, ServerColumn, columns_of

Statement: TypeAlias = tuple[bytes, Sequence[bytes | None]]
"""SQL and its encoded parameters."""

_ROLLBACK: Final[Statement] = (b"rollback", ())
_UNLOCK: Final[Statement] = (b"select pg_advisory_unlock_all()", ())
_POSTGRESQL: Final = 90_000  # the lowest version that counts as PostgreSQL; Redshift reports 8.0.2

_ROWS: Final = 32  # rows that libpq returns at a time: fewer are slower, more need more memory
_ROWS_OF_STREAM: Final = 64
_CHECK: Final = 0.05  # seconds between checks for a stop request
_CANCEL_SECONDS: Final = 2.0  # seconds for the cancel request and the end of the query; then the connection is given up

_CANCELLED: Final = "57014"
_TOO_MANY: Final = "53300"  # too_many_connections; a pooler may send it in answer to a query
_COPIES: Final = frozenset({ExecStatus.COPY_IN, ExecStatus.COPY_OUT, ExecStatus.COPY_BOTH})
_ROW_PIECES: Final = frozenset({ExecStatus.TUPLES_OK, ExecStatus.TUPLES_CHUNK, ExecStatus.SINGLE_TUPLE})

# Finds the number of the parameter whose value the server cannot read. Whatever the language of the message, the
# number comes before the first quotation mark.
_PARAMETER: Final = re.compile(rb"""[^$"']*\$([0-9]{1,5})(?: = |\n|\Z)""")

_UNCOUNTED: Final = 2  # the length is not checked before the third read; most answers are complete by then
_BYTES_RECEIVED: Final = 128  # offset of the field tcpi_bytes_received, of 64 bits, in Linux's struct tcp_info


class ServerError(Exception):
    def __init__(self, result: PGresult) -> None:
        super().__init__()  # without the message, which may quote a value
        self.sqlstate: str = (result.error_field(DiagnosticField.SQLSTATE) or b"").decode()
        self.position: str = (result.error_field(DiagnosticField.STATEMENT_POSITION) or b"").decode()
        found = _PARAMETER.match(result.error_field(DiagnosticField.CONTEXT) or b"")
        self.parameter: int | None = int(found[1]) if found else None
        """The number of the parameter whose value the server cannot read, or None."""
        words = result.error_field(DiagnosticField.MESSAGE_PRIMARY) or b""
        self.several: bool = b"multiple commands" in words
        self.has_no_connection: bool = self.sqlstate == _TOO_MANY or says_no_connection(words.decode(errors="replace"))


class AnswerTooLong(Exception):
    """The answer's rows are certain to exceed ``max_bytes``."""


class NoColumns(Exception):
    pass


def connect(params: Mapping[str, Any], seconds: float) -> PipelineConnection:
    """Connect within ``seconds``. Only a slow look-up of the host's address may take longer. Raises psycopg's errors,
    OSError, TimeoutError."""
    deadline = monotonic() + seconds
    conninfo = make_conninfo(**{"application_name": "tenantry", **_resolved(params), "client_encoding": "utf8"})
    try:
        pgconn = waiting.wait_conn(
            generators.connect(conninfo), interval=_CHECK, timeout=max(deadline - monotonic(), 0.001)
        )
    except psycopg.OperationalError:
        if monotonic() < deadline:
            raise
        raise TimeoutError from None
    return PipelineConnection(pgconn)


def _resolved(params: Mapping[str, Any]) -> dict[str, Any]:
    given = dict(params)  # resolve hosts here, because libpq would hold the GIL while it resolves them
    if not given.get("host") or given.get("hostaddr"):
        return given
    hosts, ports = str(given["host"]).split(","), str(given.get("port") or "").split(",")
    found: list[tuple[str, str, str]] = []
    failure: psycopg.OperationalError | None = None
    for number, host in enumerate(hosts):
        port = ports[number] if len(ports) == len(hosts) else ports[0]
        try:
            found += [(host, port, address) for address in _addresses(host)]
        except OSError:
            failure = psycopg.OperationalError(f"failed to resolve host {host!r}")  # psycopg's words
    if not found and failure is not None:
        raise failure
    names = ("host", "port", "hostaddr")
    return given | {name: ",".join(values) for name, values in zip(names, zip(*found, strict=True), strict=True)}


def _addresses(host: str) -> list[str]:
    if not host or host[0] in "/@":  # a Unix socket
        return [""]
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return [str(address[0]) for *_, address in found]


class PipelineConnection:
    def __init__(self, pgconn: PGconn) -> None:
        self._pgconn = pgconn
        pgconn.nonblocking = 1
        pgconn.enter_pipeline_mode()
        self._selector = getattr(selectors, "PollSelector", selectors.SelectSelector)()
        self._selector.register(pgconn.socket, selectors.EVENT_READ)
        self._after = (_ROLLBACK, _UNLOCK) if self.is_postgresql else (_ROLLBACK,)
        self._interrupted = False
        self._stop_at = self._cancel_at = 0.0
        self._times_received = 0
        self._received_before: int | None = None
        self._max_received = 0
        self.is_clean: bool = True
        """Whether the connection can run another query: no transaction is open, and no part of an answer is unread."""

    @property
    def is_postgresql(self) -> bool:
        """False for Redshift, which is based on PostgreSQL 8."""
        return self._pgconn.server_version >= _POSTGRESQL

    @contextmanager
    def reading(
        self, before: Sequence[Statement], query: Statement, *, max_bytes: int, is_stream: bool = False
    ) -> Iterator[tuple[list[ServerColumn], Iterator[tuple[Any, ...]]]]:
        """Begin a transaction with the statements in ``before``, run ``query``, and yield its columns and rows. Roll
        back at the end.

        Leaving the ``with`` block early stops the query. ``max_bytes`` is the maximum size of all rows or, for a
        stream, of the rows that libpq returns at a time. Raises ServerError, NoColumns, AnswerTooLong and psycopg's
        errors.
        """
        if self._pgconn.transaction_status != TransactionStatus.IDLE:
            raise psycopg.OperationalError("the connection is not idle")
        self.is_clean = False
        self._times_received, self._received_before = 0, None
        self._max_received = (
            2 * max_bytes + 1_048_576
        )  # values of `bytea` arrive as hexadecimal digits, and packets have headers
        self._send((*before, query, *self._after))
        try:
            for _ in before:
                self._next()
                self._receive()
                self._pgconn.get_result()  # chunked rows can be requested only after this returned None
            self._pgconn.set_chunked_rows_mode(_ROWS_OF_STREAM if is_stream else _ROWS)
            first = self._first_piece()
            yield columns_of(first), self._rows(first, is_stream)
            self._skip_to_sync()
        except (AnswerTooLong, psycopg.Error, OSError):
            raise  # the connection is unusable
        except ServerError:
            self._skip_to_sync(after_error=True)
            self._roll_back()
            raise
        except BaseException:  # also GeneratorExit, raised when the caller wants no more rows
            self._give_up()
            raise
        self.is_clean = self._pgconn.transaction_status == TransactionStatus.IDLE

    def interrupt(self) -> None:
        """Cancel the query. The connection closes afterwards."""
        self._interrupted = True

    def close(self) -> None:
        self._selector.close()
        self._pgconn.finish()

    def _first_piece(self) -> PGresult:
        first = self._next()
        if first.status not in _ROW_PIECES or not first.nfields:
            raise NoColumns
        return first

    def _rows(self, piece: PGresult, is_stream: bool) -> Iterator[tuple[Any, ...]]:
        reader = RowReader()
        while True:
            if piece.ntuples:
                yield from reader.read(piece)
            if piece.status == ExecStatus.TUPLES_OK:
                return
            if is_stream:
                self._times_received, self._received_before = 0, None
            piece = self._next()

    # --- sending -----------------------------------------------------------------------------------------------------

    def _send(self, statements: Sequence[Statement]) -> None:
        for text, params in statements:
            self._pgconn.send_query_params(text, params)
        self._pgconn.pipeline_sync()
        while self._pgconn.flush():
            self._wait_for(selectors.EVENT_READ | selectors.EVENT_WRITE)
            self._pgconn.consume_input()

    def _roll_back(self) -> None:
        # After an error the server skips the rest of the pipeline, including the rollback.
        if self._pgconn.transaction_status in (TransactionStatus.INERROR, TransactionStatus.INTRANS):
            self._send(self._after)
            self._skip_to_sync()
        self.is_clean = self._pgconn.transaction_status == TransactionStatus.IDLE

    def _give_up(self) -> None:
        self._stop_at = self._stop_at or monotonic() + _CANCEL_SECONDS
        self._max_received = 0
        with suppress(psycopg.Error, OSError):
            ended = self._skip_received()
            if not ended:
                self._cancel()
                ended = _CANCELLED in self._skip_to_sync(after_error=True)
            if ended:  # otherwise the cancel request could arrive late and stop the next query
                self._roll_back()
        self._stop_at = 0.0

    # --- receiving ---------------------------------------------------------------------------------------------------

    def _next(self) -> PGresult:
        for _ in range(2):  # between the results of two statements, libpq gives None
            self._receive()
            result = self._pgconn.get_result()
            if result is not None:
                break
        else:
            raise psycopg.OperationalError("the answer ended too early")
        if result.status in _COPIES:
            raise psycopg.OperationalError("COPY cannot be ended in a pipeline")
        if result.status == ExecStatus.FATAL_ERROR:
            if not result.error_field(DiagnosticField.SQLSTATE):  # the error is libpq's: the connection is lost
                raise psycopg.OperationalError
            raise ServerError(result)
        return result

    def _skip_to_sync(self, *, after_error: bool = False) -> list[str]:
        states: list[str] = []
        while True:
            try:
                if self._next().status == ExecStatus.PIPELINE_SYNC:
                    return states
            except ServerError as error:
                if not after_error:
                    raise
                states.append(error.sqlstate)

    def _skip_received(self) -> bool:
        nothing = 0
        while nothing < 2 and not self._pgconn.is_busy():
            result = self._pgconn.get_result()
            nothing = 0 if result is not None else nothing + 1
            if result is not None and result.status == ExecStatus.PIPELINE_SYNC:
                return True
        return False

    def _receive(self) -> None:
        while self._pgconn.is_busy():
            if self._wait_for(selectors.EVENT_READ):
                self._pgconn.consume_input()
                self._check_length()

    def _wait_for(self, events: int) -> bool:
        if self._interrupted or self._stop_at:
            now = monotonic()
            self._stop_at = self._stop_at or now + _CANCEL_SECONDS
            if now >= self._stop_at:
                raise TimeoutError
            if (
                self._interrupted and now >= self._cancel_at
            ):  # repeatedly, because the first request may arrive before the query
                self._cancel()
                self._cancel_at = monotonic() + 2 * _CHECK
        if events != selectors.EVENT_READ:
            self._selector.modify(self._pgconn.socket, events)
        ready = bool(self._selector.select(_CHECK))
        if events != selectors.EVENT_READ:
            self._selector.modify(self._pgconn.socket, selectors.EVENT_READ)
        return ready

    def _cancel(self) -> None:
        request = self._pgconn.cancel_conn()
        request.start()
        try:
            waiting.wait_conn(generators.cancel(request), interval=_CHECK, timeout=_CANCEL_SECONDS)
        finally:
            request.finish()

    def _check_length(self) -> None:
        # Checked while the answer arrives, because a single row may be larger than our memory.
        if not self._max_received:
            return
        self._times_received += 1
        if self._times_received <= _UNCOUNTED:
            return
        received = _received(self._pgconn.socket)
        if self._received_before is None:
            self._received_before = received
        elif received - self._received_before > self._max_received:
            raise AnswerTooLong


def _received(descriptor: int) -> int:
    option = getattr(socket, "TCP_INFO", None)
    if option is None:
        return 0
    view = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=descriptor)
    try:
        info = view.getsockopt(socket.IPPROTO_TCP, option, _BYTES_RECEIVED + 8)
        return int(struct.unpack_from("=Q", info, _BYTES_RECEIVED)[0]) if len(info) >= _BYTES_RECEIVED + 8 else 0
    except OSError:  # a Unix socket
        return 0
    finally:
        view.detach()
