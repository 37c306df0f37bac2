"""The fault proxy does to a connection what its mode says: else nothing that is tested through it is tested."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from benchmarks.acceptance.faults.proxy import FaultProxy, Mode
from engines.ports import free_port


class Echo:
    """A server that gives back what it gets, and keeps it."""

    def __init__(self) -> None:
        self.got = bytearray()
        self.pieces: list[int] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            while data := connection.recv(65_536):
                self.got += data
                self.pieces.append(len(data))
                connection.sendall(data)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(120)


@pytest.fixture
def echo() -> Iterator[Echo]:
    server = Echo()
    yield server
    server.close()


@pytest.fixture
def proxy(echo: Echo) -> Iterator[FaultProxy]:
    with FaultProxy("127.0.0.1", echo.port) as proxy:
        yield proxy


def connect(proxy: FaultProxy) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", proxy.port), 120)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def talk(connection: socket.socket, text: bytes) -> bytes:
    """What comes back for ``text``; the connection's errors are raised."""
    connection.sendall(text)
    back = b""
    while len(back) < len(text):
        piece = connection.recv(len(text) - len(back))
        if not piece:
            break
        back += piece
    return back


def silent(connection: socket.socket, text: bytes) -> bool:
    """True if nothing comes back in a while and the line stays open."""
    connection.sendall(text)
    connection.settimeout(0.3)
    try:
        return connection.recv(1) is None
    except TimeoutError:
        return True
    finally:
        connection.settimeout(120)


def until(condition: object, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]  # a plain function
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_it_passes_bytes_on(proxy: FaultProxy) -> None:
    """Unchanged, in both directions, also many at once; and the end of one side is the end of the other."""
    with connect(proxy) as connection:
        assert talk(connection, b"hello") == b"hello"
        big = bytes(range(256)) * 4_096
        sender = threading.Thread(target=connection.sendall, args=(big,))
        sender.start()
        back = b""
        while len(back) < len(big):
            back += connection.recv(65_536)
        sender.join()
        assert back == big
        assert proxy.open == [1]
    until(lambda: not proxy.open)


def test_latency_delays_and_keeps_the_order(proxy: FaultProxy) -> None:
    """Each way takes its time, for a connection that was there already too."""
    with connect(proxy) as connection:
        talk(connection, b"warm")
        proxy.set(Mode.LATENCY, seconds=0.1, jitter=0.05)
        began = time.monotonic()
        assert talk(connection, b"a") + talk(connection, b"b") == b"ab"
        assert time.monotonic() - began >= 0.4
        proxy.set(Mode.PASS)
        assert talk(connection, b"again") == b"again"


def test_slices_arrive_whole(proxy: FaultProxy, echo: Echo, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes, handed to the system in many small pieces. How it cuts its segments is its own affair: on a busy
    machine it joins them, so the pieces are counted where they are written."""
    written = []
    write = asyncio.StreamWriter.write

    def counted(self: asyncio.StreamWriter, data: bytes) -> None:
        written.append(len(data))
        write(self, data)

    monkeypatch.setattr(asyncio.StreamWriter, "write", counted)
    proxy.set(Mode.SLICE, size=3)
    text = bytes(range(200))
    with connect(proxy) as connection:
        assert talk(connection, text) == text
    assert bytes(echo.got) == text
    assert max(written) == 3
    assert sum(written) == 2 * len(text)


@pytest.mark.parametrize("mode", [Mode.DROP, Mode.RESET])
def test_connections_end(proxy: FaultProxy, mode: Mode) -> None:
    """An established one at once and a new one too: by FIN or by RST. Later ones pass again."""
    with connect(proxy) as connection:
        talk(connection, b"warm")
        proxy.set(mode)
        if mode is Mode.RESET:
            with pytest.raises(ConnectionResetError):
                connection.recv(1)
        else:
            assert connection.recv(1) == b""
    with suppress(ConnectionResetError, BrokenPipeError), connect(proxy) as second:
        assert second.recv(1) == b""
    proxy.set(Mode.PASS)
    with connect(proxy) as third:
        assert talk(third, b"back") == b"back"


def test_a_black_hole_swallows_both_ways(proxy: FaultProxy, echo: Echo) -> None:
    """Nothing arrives, nothing comes back, nobody notices; a new connection is accepted and just as silent.

    Afterwards the connection that lost bytes is reset: a stream with a hole in it does not exist.
    """
    with connect(proxy) as old:
        talk(old, b"warm")
        proxy.set(Mode.BLACK_HOLE)
        with connect(proxy) as new:
            assert silent(old, b"lost")
            assert silent(new, b"lost")
            assert bytes(echo.got) == b"warm"
            proxy.set(Mode.PASS)
            for connection in (old, new):
                with pytest.raises(ConnectionResetError):
                    connection.recv(1)


def test_half_open_hides_the_answers(proxy: FaultProxy, echo: Echo) -> None:
    """What is sent arrives; the answer does not; and when the client goes the server does not notice."""
    with connect(proxy) as connection:
        talk(connection, b"warm")
        proxy.set(Mode.HALF_OPEN)
        assert silent(connection, b"done")
        until(lambda: bytes(echo.got) == b"warmdone")
    time.sleep(0.1)
    with connect(proxy) as other:
        assert silent(other, b"!")


def test_one_connection_alone_and_new_ones_alone(proxy: FaultProxy) -> None:
    """A mode may be for one connection, for those that are there, or for those to come."""
    with connect(proxy) as first, connect(proxy) as second:
        talk(first, b"x"), talk(second, b"y")
        one, two = proxy.open
        proxy.set(Mode.BLACK_HOLE, only=one)
        assert silent(first, b"x")
        assert talk(second, b"y") == b"y"
        proxy.set(Mode.DROP, established=False)
        assert talk(second, b"y") == b"y"
        with suppress(ConnectionResetError, BrokenPipeError), connect(proxy) as third:
            assert third.recv(1) == b""
        proxy.set(Mode.PASS, established=False)
        proxy.set(Mode.RESET, new=False)
        with pytest.raises(ConnectionResetError):
            second.recv(1)
        with connect(proxy) as fourth:
            assert talk(fourth, b"z") == b"z"
        assert two == one + 1


def test_a_text_trips_it(proxy: FaultProxy, echo: Echo) -> None:
    """The text arrives and its answer does not: how a commit is done and never confirmed."""
    with connect(proxy) as connection:
        talk(connection, b"begin")
        proxy.trip(b"COMMIT", Mode.HALF_OPEN)
        assert talk(connection, b"update") == b"update"
        assert silent(connection, b"COMMIT")
        until(lambda: echo.got.endswith(b"COMMIT"))


def test_a_text_cuts_it_off(proxy: FaultProxy, echo: Echo) -> None:
    """The text arrives, and instead of its answer the connection is reset; the others stay."""
    with connect(proxy) as connection, connect(proxy) as other:
        talk(connection, b"begin"), talk(other, b"x")
        proxy.trip(b"COMMIT", Mode.RESET)
        connection.sendall(b"COMMIT")
        with pytest.raises(ConnectionResetError):
            connection.recv(1)
        until(lambda: echo.got.endswith(b"COMMIT"))
        assert talk(other, b"y") == b"y"


def test_a_server_that_is_away(echo: Echo) -> None:
    """The client's connection ends at once."""
    with FaultProxy("127.0.0.1", free_port()) as proxy, suppress(ConnectionResetError), connect(proxy) as connection:
        assert connection.recv(1) == b""


def test_urls_are_rewritten(proxy: FaultProxy) -> None:
    """The user, the path and the query stay."""
    url = proxy.url("postgresql://user:secret@db.example.com:5432/name?x=1")
    assert url == f"postgresql://user:secret@127.0.0.1:{proxy.port}/name?x=1"
    assert proxy.url("redis://127.0.0.1:6379/0") == f"redis://127.0.0.1:{proxy.port}/0"
