"""A server that speaks MySQL's protocol and knows no SQL: it records what it is sent, and answers as a test says.

For what no MariaDB does: the types and errors of MySQL, and servers that refuse what they should know.
"""

from __future__ import annotations

import asyncio
import socketserver
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from pymysql.constants import CLIENT, FIELD_TYPE, SERVER_STATUS

_COMMANDS = {1: "quit", 14: "ping", 31: "reset"}
_QUERY = 3
_UTF8MB4, _BINARY = 45, 63
_STATUS = SERVER_STATUS.SERVER_STATUS_AUTOCOMMIT


class ScriptedMySQL:
    """``log`` holds the texts of queries without their tags, and ``connect``, ``reset`` and ``quit``; ``sends`` what
    came in one piece.

    ``errors``: part of a text -> the number of the error that answers it; ``wipe_errors`` are for what is sent together
    with a reset. ``columns`` and ``rows`` answer every query; a column is a name with its type.
    """

    def __init__(self) -> None:
        self.log: list[str] = []
        self.sends: list[list[str]] = []
        self.flags = 0
        self.errors: dict[str, int] = {}
        self.wipe_errors: dict[str, int] = {}
        self.columns: Sequence[tuple[str, int]] = [("n", FIELD_TYPE.LONGLONG)]
        self.rows: Sequence[Sequence[str | None]] = [("1",)]
        self.hang_up_after: set[str] = set()
        self.port = 0

    @property
    def queries(self) -> list[str]:
        """The log without what only sets up and wipes sessions."""
        others = ("set ", "SET ", "connect", "reset", "quit", "select @@")
        return [each for each in self.log if not each.startswith(others)]

    async def wiped(self) -> None:
        """Returns when a wipe is what came last: nobody waits for it after a query."""
        async with asyncio.timeout(60):
            while not self.sends or self.sends[-1][0] != "reset":
                await asyncio.sleep(0.001)


class _Connection(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        script = self.server.script
        with suppress(OSError):
            self._greet()
            response = self.request.recv(65_536)
            if not response:
                return
            script.flags = struct.unpack("<I", response[4:8])[0]
            script.log.append("connect")
            if "connect" in script.errors:
                self._send(_error(script.errors["connect"]), first=2)
                return
            self._send(_ok(), first=2)
            while data := self.request.recv(65_536):
                if not self._answer(_packets(data)):
                    return

    def _answer(self, packets: list[bytes]) -> bool:
        script = self.server.script
        texts = [_COMMANDS.get(each[0]) or without_tag(each[1:].decode()) for each in packets]
        script.sends.append(texts)
        for packet, text in zip(packets, texts, strict=True):
            script.log.append(text)
            if text == "quit" or text in script.hang_up_after:
                return False
            errors = script.wipe_errors if texts[0] == "reset" else script.errors
            number = next((each for part, each in errors.items() if part in text), None)
            if number is not None:
                self._send(_error(number))
            elif packet[0] != _QUERY or text.lower().startswith("set "):
                self._send(_ok())
            elif text.startswith("select @@"):
                self._send(*_result([("a", FIELD_TYPE.VAR_STRING)], [("here",)]))
            else:
                self._send(*_result(script.columns, script.rows))
        return True

    def _greet(self) -> None:
        flags = CLIENT.CAPABILITIES | CLIENT.CONNECT_WITH_DB  # and no TLS
        self._send(
            b"\x0a8.0.36\0"
            + struct.pack("<I", 7)
            + b"12345678\0"
            + struct.pack("<HBHHB", flags & 0xFFFF, _UTF8MB4, _STATUS, flags >> 16, 21)
            + b"\0" * 10
            + b"123456789012\0mysql_native_password\0",
            first=0,
        )

    def _send(self, *payloads: bytes, first: int = 1) -> None:
        numbered = enumerate(payloads, first)
        self.request.sendall(
            b"".join(struct.pack("<I", len(each))[:3] + bytes([number % 256]) + each for number, each in numbered)
        )


def without_tag(text: str) -> str:
    """A query without the comment that says for whom it runs."""
    return text.partition("\n/*application=")[0]


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    script: ScriptedMySQL


def _packets(data: bytes) -> list[bytes]:
    found = []
    while data:
        end = 4 + int.from_bytes(data[:3], "little")
        found.append(data[4:end])
        data = data[end:]
    return found


def _ok() -> bytes:
    return b"\0\0\0" + struct.pack("<HH", _STATUS, 0)


def _eof() -> bytes:
    return b"\xfe" + struct.pack("<HH", 0, _STATUS)


def _error(number: int) -> bytes:
    return b"\xff" + struct.pack("<H", number) + b"#HY000near 'k3y-c4n4ry'"


def _text(value: str | None) -> bytes:
    return b"\xfb" if value is None else bytes([len(value.encode())]) + value.encode()


def _column(name: str, kind: int) -> bytes:
    charset = _UTF8MB4 if kind == FIELD_TYPE.VAR_STRING else _BINARY
    names = b"".join(_text(each) for each in ("def", "", "", "", name, name))
    return names + b"\x0c" + struct.pack("<HIBHB", charset, 1024, kind, 0, 0) + b"\0\0"


def _result(columns: Sequence[tuple[str, int]], rows: Sequence[Sequence[str | None]]) -> list[bytes]:
    lines = [b"".join(map(_text, row)) for row in rows]
    return [bytes([len(columns)]), *(_column(*each) for each in columns), _eof(), *lines, _eof()]


@contextmanager
def scripted_mysql() -> Iterator[ScriptedMySQL]:
    """A server on 127.0.0.1 at ``port``."""
    script = ScriptedMySQL()
    with _Server(("127.0.0.1", 0), _Connection) as server:
        server.script = script
        script.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield script
        finally:
            server.shutdown()
            thread.join()
