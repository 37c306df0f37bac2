"""A load generator in a process of its own: ``python -m benchmarks.harness.load PORT CONNECTIONS SECONDS``.

The request is read from stdin. Each connection is kept open and has one request under way. Plain sockets and epoll,
because a client that is slower than the server measures itself. Prints answers, seconds, and the latency's median and
99th percentile as JSON.
"""

from __future__ import annotations

import json
import select
import socket
import sys
import time

from benchmarks.harness.servers import pin


class Answers:
    """The answers of one connection, cut out of its bytes by their Content-Length."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent = 0.0
        self._have = b""
        self._whole = 0

    def ask(self, request: bytes) -> None:
        """Sends the request."""
        self.sent = time.perf_counter()
        self.socket.sendall(request)

    def whole(self) -> bool:
        """Reads what is there; true once the answer is complete. Anything but 200 ends the benchmark."""
        self._have += self.socket.recv(65536)
        if not self._whole:
            end = self._have.find(b"\r\n\r\n")
            if end < 0:
                return False
            head = self._have[:end].lower()
            if not head.startswith(b"http/1.1 200"):
                sys.exit(f"the server answered {self._have[:200]!r}")
            self._whole = end + 4 + int(head.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
        if len(self._have) < self._whole:
            return False
        self._have, self._whole = b"", 0
        return True


def main() -> None:
    """Asks for so many seconds, and prints the figures as JSON."""
    port, connections, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    request = sys.stdin.buffer.read()
    pin(1)
    poll = select.epoll()
    answers = {}
    for _ in range(connections):
        one = Answers(port)
        answers[one.socket.fileno()] = one
        poll.register(one.socket, select.EPOLLIN)
    start = time.perf_counter()
    stop = start + seconds
    for one in answers.values():
        one.ask(request)
    waits: list[float] = []
    now = start
    while now < stop:
        ready = poll.poll(5)
        if not ready:
            sys.exit("the server did not answer for 5 seconds")
        for descriptor, _ in ready:
            one = answers[descriptor]
            if one.whole():
                now = time.perf_counter()
                waits.append(now - one.sent)
                one.ask(request)
    waits.sort()
    figures = {"answers": len(waits), "seconds": now - start}
    figures |= {"p50": waits[len(waits) // 2], "p99": waits[len(waits) * 99 // 100]}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
