"""ClickHouse's engine behind a small HTTP server: chdb, and as much of ClickHouse's HTTP interface as its client uses.

No package that carries a ClickHouse server of these years can be had here (Debian's is of 2018, without parameters). So
the engine that parses, checks, limits and stops queries is the real one, and what is between it and the socket is ours:
the login, the parameters and settings of a request, its id, errors and the empty answer. Each request has a connection
of its own to the engine, with the profile of its user (``LEVELS``) set before anything that it asks for.

``python -m engines.clickhouse_http FOLDER CERTIFICATE`` is the child: it says its two ports on a line, the second one
with TLS, and ends when its input does.
"""

from __future__ import annotations

import json
import re
import ssl
import subprocess
import sys
import threading
import urllib.request
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from engines.certificates import self_signed

PASSWORD = "s3cr3t-of-the-server"
LEVELS = {"default": 0, "level_1": 1, "level_2": 2}
"""Users, and ``readonly`` in the profile of each."""
_NATIVE = re.compile(r"format native\s*\Z", re.IGNORECASE)
_STREAMED = re.compile(r"[\s(]*(select|with|from)\b", re.IGNORECASE)
"""The statements that chdb streams."""
_NO_SETTINGS = frozenset({"query", "query_id", "database", "client_protocol_version", "wait_end_of_query"})


class ClickHouseServer:
    """A server on 127.0.0.1; its certificate is for ``localhost`` and signed by itself."""

    def __init__(self, port: int, tls_port: int, certificate: Path) -> None:
        self.port, self.tls_port, self.certificate = port, tls_port, certificate

    def url(self, user: str = "default", database: str = "default") -> str:
        """That of a data source, without TLS."""
        return f"clickhouse://{user}:{PASSWORD}@127.0.0.1:{self.port}/{database}"

    def execute(self, sql: str) -> str:
        """Runs one statement with every right; the answer as tab-separated text."""
        return self._ask("/?" + urlencode({"user": "default", "password": PASSWORD}), sql.encode())

    def requests(self) -> list[dict[str, Any]]:
        """What clients sent so far: the address, the settings, the names of parameters and the text of each request."""
        found: list[dict[str, Any]] = json.loads(self._ask("/seen", None))
        return found

    def _ask(self, path: str, body: bytes | None) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", body, timeout=60) as answer:
            return str(answer.read().decode())


@contextmanager
def running(folder: Path) -> Iterator[ClickHouseServer]:
    """Starts the server, and stops it at the end."""
    certificate = self_signed(folder, "localhost")
    command = [sys.executable, "-m", "engines.clickhouse_http", str(folder / "data"), str(certificate)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        port, tls_port = json.loads(child.stdout.readline())
        yield ClickHouseServer(port, tls_port, certificate)
    finally:
        child.kill()  # it would take up to 20 seconds to end by itself
        child.communicate()


@pytest.fixture(scope="session")
def clickhouse_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseServer]:
    """A running server. Skips where chdb is not installed."""
    if find_spec("chdb") is None:
        pytest.skip("chdb is not installed: pip install chdb")
    with running(tmp_path_factory.mktemp("clickhouse")) as server:
        yield server


class _Refused(Exception):
    """An error of ClickHouse's by its number."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class _Handler(BaseHTTPRequestHandler):
    """One request. ``connect`` opens a connection to the engine."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    connect: ClassVar[Any]
    seen: ClassVar[list[dict[str, Any]]] = []

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        self._send(200, json.dumps(self.seen).encode() if self.path == "/seen" else b"Ok.\n")

    def do_POST(self) -> None:
        try:
            self._answer()
        except _Refused as error:
            self._send(500, str(error).encode(), {"X-ClickHouse-Exception-Code": str(error.code)})

    def _answer(self) -> None:
        given = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True)) | self._read_body()
        level = LEVELS.get(self._log_in(given))
        if level is None:
            raise _Refused(516, "Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)")
        params = {name[6:]: value for name, value in given.items() if name.startswith("param_")}
        settings = {
            name: value for name, value in given.items() if name not in _NO_SETTINGS and not name.startswith("param_")
        }
        sql = given["query"]
        self.seen.append({"address": self.path, "settings": settings, "params": sorted(params), "query": sql})
        with closing(self.connect()) as engine:
            for statement in _preparation(level, settings, given.get("database")):
                _run(engine, statement)
            headers = {"X-ClickHouse-Timezone": _run(engine, "select timezone()").decode().strip()}
            known = _with_id(sql, given.get("query_id", ""))
            if not _NATIVE.search(sql):
                self._send(200, _run(engine, known, params), headers)
            elif not _STREAMED.match(sql):
                self._send(200, _run(engine, known, params) or _empty_block(engine, sql, params), headers)
            else:
                self._stream(_blocks(engine, known, params), headers, lambda: _empty_block(engine, sql, params))

    def _read_body(self) -> dict[str, str]:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        kind = self.headers.get("Content-Type", "")
        if not kind.startswith("multipart/form-data"):
            return {"query": body.decode()}
        form = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + body)
        parts = [part for part in form.walk() if not part.is_multipart()]
        return {
            str(part.get_param("name", header="content-disposition")): bytes(part.get_payload(decode=True)).decode()  # type: ignore[arg-type]
            for part in parts
        }

    def _log_in(self, given: dict[str, str]) -> str:
        """The user, or nobody where the password is wrong."""
        user, password = given.pop("user", ""), given.pop("password", "")
        scheme, _, credentials = self.headers.get("Authorization", "").partition(" ")
        if scheme == "Basic":
            user, _, password = b64decode(credentials).decode().partition(":")
        return user if password == PASSWORD else ""

    def _stream(self, blocks: Iterator[bytes], headers: dict[str, str], empty: Callable[[], bytes]) -> None:
        """An error before the first block is the response's; a later one is the end of its body."""
        first = next(blocks, None)
        if first is None:
            self._send(200, empty(), headers)
            return
        self.send_response(200)
        for name, value in {"Transfer-Encoding": "chunked", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(BrokenPipeError, ConnectionResetError):
            try:
                for block in chain([first], blocks):
                    self._write(block)
            except _Refused as error:
                self._write(str(error).encode())
            self.wfile.write(b"0\r\n\r\n")

    def _write(self, chunk: bytes) -> None:
        self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self._headers_buffer.append(b"\r\n" + body)  # type: ignore[attr-defined]  # both in one send
        self.flush_headers()


def _preparation(level: int, settings: dict[str, str], database: str | None) -> Iterator[str]:
    """The statements that make a new connection one of this request. ``readonly`` of the request comes last: a server
    checks all of its settings against those that the profile of the user had."""
    if database:
        yield f"use `{database}`"
    if level:
        yield f"set readonly = {level}"
    for name in sorted(settings, key=lambda name: name == "readonly"):
        value = settings[name].replace("\\", "\\\\").replace("'", "\\'")
        yield f"set {name} = '{value}'"


def _with_id(sql: str, query_id: str) -> str:
    """The id of a request as a comment, by which it is found again."""
    if sql.startswith("kill query"):
        return re.sub(r"query_id = '(\w+)'", r"startsWith(query, '/*\1*/')", sql)
    return f"/*{query_id}*/{sql}"


def _empty_block(engine: Any, sql: str, params: dict[str, str]) -> bytes:
    """The block of the format Native that a server sends for an answer without rows: names and types of its columns."""
    text = re.sub(r"\s*format native\s*\Z", "", sql, flags=re.IGNORECASE)
    columns = [
        json.loads(line) for line in _run(engine, f"describe ({text}\n) format JSONEachRow", params).splitlines()
    ]
    texts = [_varint(len(each.encode())) + each.encode() for row in columns for each in (row["name"], row["type"])]
    return _varint(len(columns)) + _varint(0) + b"".join(texts)


def _varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + _varint(number >> 7)


def _run(engine: Any, sql: str, params: dict[str, str] | None = None) -> bytes:
    with _refusing():
        return bytes(engine.query(sql, "TabSeparated", params=params or {}).bytes() or b"")


def _blocks(engine: Any, sql: str, params: dict[str, str]) -> Iterator[bytes]:
    with _refusing(), closing(engine.send_query(sql, "Native", params=params)) as found:
        yield from (block for each in found if (block := bytes(each.bytes() or b"")))


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # noqa: BLE001  # chdb raises several, and RuntimeError
        code = re.search(r"Code: (\d+)", str(error))
        raise _Refused(int(code[1]) if code else 1001, str(error)) from None


def _serve(folder: str, certificate: str) -> None:
    import chdb

    kept = chdb.connect(folder)  # the engine lives as long as one connection does
    _Handler.connect = staticmethod(lambda: chdb.connect(folder))
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), _Handler) for _ in range(2)]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    servers[1].socket = context.wrap_socket(servers[1].socket, server_side=True)
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps([server.server_port for server in servers]), flush=True)
    sys.stdin.read()
    kept.close()


if __name__ == "__main__":
    _serve(*sys.argv[1:])
