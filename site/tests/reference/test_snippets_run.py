"""The programs that a page offers, run as they stand: curl, Python and Node send them to a real server."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from email.parser import BytesParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from tenantry_site.reference.request import Request, Sent
from tenantry_site.reference.snippets import LANGUAGES
from tests.reference.served import Served, serving

HOSTILE = 'it\'s "q" `id` $(id) ${x} \\ {y} %s & é 😀'
FORM = (("a", HOSTILE, False), ("a", "@b", False), ('n"ame', "2", False))
BODIES = {
    "json": Sent(
        "json", "application/json", json.dumps({"t": HOSTILE, "b": [True, None, 1.5]}, ensure_ascii=False, indent=2)
    ),
    "text": Sent("text", "text/plain", f"@{HOSTILE}"),
    "form": Sent("form", "application/x-www-form-urlencoded", pairs=FORM),
    "multipart": Sent("multipart", "multipart/form-data", pairs=FORM),
    "files": Sent("multipart", "multipart/form-data", pairs=(("f", "FILE", True), ("a", "1", False))),
    "binary": Sent("binary", "application/octet-stream"),
}
RUN = {
    "curl": ["sh", "-c"],
    "Python": [sys.executable, "-I", "-c"],
    "JavaScript": ["node", "--input-type=module", "-e"],
}
WRITERS = {title: write for title, _, write in LANGUAGES}


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving() as here:
        yield here


def sent(title: str, request: Request, served: Served, folder: Path) -> tuple[str, str, dict[str, str], str]:
    """What arrived. The program must end well and say the status and the answer; curl says the answer alone."""
    if title == "curl" and shutil.which("curl") is None:
        pytest.skip("no curl on this machine")
    (folder / "FILE").write_bytes(b"of the file")
    served.arrived.clear()
    program = [*RUN[title], WRITERS[title](request)]
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert len(served.arrived) == 1, done.stdout
    if request.method != "HEAD" and "broken" not in request.url:
        assert '"ok": true' in done.stdout
    if title != "curl":
        assert done.stdout.startswith(("200 ", "500 "))
    return served.arrived[0]


def to(served: Served, method: str, body: Sent | None = None, path: str = "/api/x?q=a%20b", **more: Any) -> Request:
    headers = [("X-Text", "a \"b\" 'c' $d"), ("Authorization", "Token <TOKEN>")]
    if body is not None and not body.pairs:
        headers.append(("Content-Type", body.type))
    return Request(method, served.url + path, tuple(headers), body, **more)


@pytest.mark.parametrize("title", RUN)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "DELETE", "QUERY"])
def test_a_request_without_a_body(title: str, method: str, served: Served, tmp_path: Path) -> None:
    """Red when the program does not run where nothing was installed (the Python one imported a library)."""
    arrived = sent(title, to(served, method), served, tmp_path)
    assert arrived[:2] == (method, "/api/x?q=a%20b")
    assert (arrived[2]["x-text"], arrived[2]["authorization"]) == ("a \"b\" 'c' $d", "Token <TOKEN>")
    assert arrived[3] == ""


@pytest.mark.parametrize("title", RUN)
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("kind", BODIES)
def test_a_request_with_a_body(title: str, method: str, kind: str, served: Served, tmp_path: Path) -> None:
    """Each kind, byte for byte as its document says; also with GET, which tenantry's own API takes."""
    body = BODIES[kind]
    if title == "JavaScript" and kind in ("files", "binary"):
        pytest.skip("a page has the file: Node does not")
    if title == "JavaScript" and method == "GET" and kind == "multipart":
        pytest.skip("the snippet says to use curl")
    verb, _, headers, text = sent(title, to(served, method, body), served, tmp_path)
    assert verb == method
    if kind == "json":
        assert json.loads(text) == json.loads(body.text)
    elif kind == "text":
        assert text == body.text
    elif kind == "form":
        assert parse_qsl(text) == [(name, value) for name, value, _ in body.pairs]
        assert headers.get("content-type", "").startswith("application/x-www-form-urlencoded") or title == "JavaScript"
    elif kind == "binary":
        assert text == "of the file"
    else:
        parse_spec = [(name.replace('"', "%22"), "of the file" if file else value) for name, value, file in body.pairs]
        assert _parts(headers["content-type"], text) == parse_spec


def _parts(kind: str, text: str) -> list[tuple[str, str]]:
    head = f"Content-Type: {kind}\r\n\r\n".encode()
    found = BytesParser().parsebytes(head + text.encode()).get_payload()
    assert isinstance(found, list)
    parts = []
    for part in found:
        name = re.search(r'name="((?:[^"\\]|\\.)*)"', str(part["Content-Disposition"]))
        assert name is not None
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        parts.append((name[1].replace('\\"', "%22"), content.decode()))
    return parts


@pytest.mark.parametrize("title", RUN)
def test_basic_authorization(title: str, served: Served, tmp_path: Path) -> None:
    _, _, headers, _ = sent(title, to(served, "GET", user=("me", "it's:s3")), served, tmp_path)
    assert "Basic bWU6aXQnczpzMw==" in headers["authorization"] or headers["authorization"] == "Token <TOKEN>"


@pytest.mark.parametrize("title", RUN)
def test_an_error_of_the_api_is_shown(title: str, served: Served, tmp_path: Path) -> None:
    """The status and the body, and no traceback. Red when the Python program lets HTTPError through."""
    sent(title, to(served, "GET", path="/api/broken"), served, tmp_path)
