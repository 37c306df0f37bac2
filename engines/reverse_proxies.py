"""nginx, Caddy and HAProxy before an app, from the distribution's packages, with the files of examples/deploy.

What a deployment sets itself is put into the files: addresses, certificates, folders. Only the child that was started
here is stopped.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from engines.certificates import self_signed
from engines.debian_packages import environment, require
from engines.ports import free_port

FILES = Path(__file__).parents[1] / "examples" / "deploy"
START_SECONDS = 180
NGINX = ("nginx", "libnginx-mod-http-js")  # one package would do; the tests of introspection have unpacked both


@dataclass
class ReverseProxy:
    """``url`` is what a client asks, over TLS with ``certificate``; all that it writes is in ``folder``."""

    name: str
    folder: Path
    certificate: Path
    port: int = field(default_factory=free_port)

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def written(self) -> str:
        """Its access log, its error log and its output."""
        return "\n".join(path.read_text("utf-8", "replace") for path in sorted(self.folder.glob("*.log")))

    def written_with(self, text: str) -> str:
        """The same, once this is in it: a request is logged after its answer was sent."""
        deadline = time.monotonic() + START_SECONDS
        while text not in (found := self.written()):
            assert time.monotonic() < deadline, found
            time.sleep(0.02)
        return found


@contextmanager
def running(name: str, folder: Path, *, tenantry: str, app: str) -> Iterator[ReverseProxy]:
    """``nginx``, ``caddy`` or ``haproxy`` before ``tenantry`` and ``app``, both ``host:port``. Skips where there is no
    package, and fails with CI=true."""
    proxy = ReverseProxy(name, folder, self_signed(folder))
    command, root = COMMANDS[name](proxy, {"127.0.0.1:8000": tenantry, "127.0.0.1:9000": app})
    variables = {**environment(root), "HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    printed = "access.log" if name == "haproxy" else "output.log"  # HAProxy prints its access log
    with (folder / printed).open("wb") as output, (folder / "output.log").open("ab") as errors:
        process = subprocess.Popen(command, cwd=folder, env=variables, stdout=output, stderr=errors)
    try:
        _wait(proxy, process)
        yield proxy
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _nginx(proxy: ReverseProxy, addresses: dict[str, str]) -> tuple[list[str], Path]:
    root = require(*NGINX)
    certificate = str(proxy.certificate)
    text = _put_in(
        (FILES / "nginx.conf").read_text("utf-8"),
        addresses
        | {
            "listen 443 ssl": f"listen 127.0.0.1:{proxy.port} ssl",
            "/etc/nginx/tls/certificate.pem": certificate,
            "/etc/nginx/tls/key.pem": certificate,
            "/run/nginx.pid": f"{proxy.folder}/nginx.pid",
            "/var/log/nginx/": f"{proxy.folder}/",
            "worker_processes auto": "worker_processes 1",
        },
    )
    kept = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = "".join(f"  {name}_temp_path {proxy.folder}/{name};\n" for name in kept)
    text = text.replace("http {\n", f"http {{\n{folders}", 1)
    if os.geteuid() == 0:  # its workers would run as a user that does not reach the folder
        text = f"user root;\n{text}"
    (proxy.folder / "nginx.conf").write_text(text, "utf-8")
    file = str(proxy.folder / "nginx.conf")
    output = str(proxy.folder / "output.log")  # what it says before it has read the file
    return [str(root / "usr/sbin/nginx"), "-p", str(proxy.folder), "-c", file, "-e", output, "-g", "daemon off;"], root


def _caddy(proxy: ReverseProxy, addresses: dict[str, str]) -> tuple[list[str], Path]:
    root = require("caddy")
    text = _put_in(
        (FILES / "Caddyfile").read_text("utf-8"),
        addresses
        | {
            "dashboards.example.com {": f"{proxy.url} {{\n\ttls {proxy.certificate} {proxy.certificate}",
            "\tservers {": "\tadmin off\n\tauto_https off\n\tservers {",
            "/var/log/caddy/": f"{proxy.folder}/",
        },
    )
    (proxy.folder / "Caddyfile").write_text(text, "utf-8")
    command = [
        str(root / "usr/bin/caddy"),
        "run",
        "--config",
        str(proxy.folder / "Caddyfile"),
        "--adapter",
        "caddyfile",
    ]
    return command, root


def _haproxy(proxy: ReverseProxy, addresses: dict[str, str]) -> tuple[list[str], Path]:
    root = require("haproxy")
    text = _put_in(
        (FILES / "haproxy.cfg").read_text("utf-8"),
        addresses
        | {
            "bind :443": f"bind 127.0.0.1:{proxy.port}",
            "/etc/haproxy/tls/site.pem": str(proxy.certificate),
            "  user haproxy\n  group haproxy\n": "",
        },
    )
    (proxy.folder / "haproxy.cfg").write_text(text, "utf-8")
    return [str(root / "usr/sbin/haproxy"), "-db", "-f", str(proxy.folder / "haproxy.cfg")], root


COMMANDS = {"nginx": _nginx, "caddy": _caddy, "haproxy": _haproxy}


def _put_in(text: str, replaced: dict[str, str]) -> str:
    for written, meant in replaced.items():
        assert written in text, f"{written!r} is not in the file any more"
        text = text.replace(written, meant)
    return text


def _wait(proxy: ReverseProxy, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        assert process.poll() is None, proxy.written()
        assert time.monotonic() < deadline, proxy.written()
        try:
            socket.create_connection(("127.0.0.1", proxy.port), 1).close()
        except OSError:
            time.sleep(0.02)
            continue
        return
