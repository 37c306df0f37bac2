"""The request as a program of Python. It uses the standard library alone, so that it runs wherever Python does."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry_site.reference.request import Request, Sent
from tenantry_site.reference.snippets.literals import quoted, value

_SEND = """\
try:
    response = urlopen(request)
except HTTPError as error:
    response = error
print(response.status, response.read().decode())"""

_MULTIPART = """\
boundary = uuid4().hex
body = b""
for disposition, content in [
%s]:
    head = f"--{boundary}\\r\\nContent-Disposition: form-data; {disposition}\\r\\n\\r\\n"
    body += head.encode() + content + b"\\r\\n"
body += f"--{boundary}--\\r\\n".encode()

"""
"""The standard library writes no such body (RFC 7578)."""


def python(request: Request) -> str:
    """A whole program."""
    form = request.body.form if request.body is not None else ""
    before, data, extra = _body(request.body) if request.body is not None else ("", "", "")
    imports = [
        *(["import json"] if data.startswith("json.") else []),
        *(["from base64 import b64encode"] if request.user is not None else []),
        "from urllib.error import HTTPError",
        *(["from urllib.parse import urlencode"] if form == "form" else []),
        "from urllib.request import Request, urlopen",
        *(["from uuid import uuid4"] if form == "multipart" else []),
    ]
    lines = [quoted(request.url), f"method={quoted(request.method)}"]
    if headers := "".join(f"        {line},\n" for line in [*_headers(request), *([extra] if extra else [])]):
        lines.append(f"headers={{\n{headers}    }}")
    if data:
        lines.append(f"data={data}")
    arguments = "".join(f"    {line},\n" for line in lines)
    head = "\n".join(imports)
    return f"{head}\n\n{before}request = Request(\n{arguments})\n{_SEND}"


def _headers(request: Request) -> Iterator[str]:
    if request.user is not None:
        yield f'"Authorization": "Basic " + b64encode({quoted(":".join(request.user))}.encode()).decode()'
    yield from (f"{quoted(name)}: {quoted(text)}" for name, text in request.headers)


def _body(body: Sent) -> tuple[str, str, str]:
    """What comes before the request, the expression of the body, and a header that belongs to it."""
    if body.form == "multipart":
        parts = "".join(f"    {_part(*pair)},\n" for pair in body.pairs)
        header = '"Content-Type": "multipart/form-data; boundary=" + boundary'
        return _MULTIPART % parts, "body", header
    if body.form == "form":
        pairs = "".join(f"        ({quoted(name)}, {quoted(text)}),\n" for name, text, _ in body.pairs)
        return "", f"urlencode([\n{pairs}    ]).encode()", ""
    if body.form == "binary":
        return "", 'open("FILE", "rb").read()', ""
    literal = value(body.text, "python", 4) if body.form == "json" else None
    return "", f"json.dumps({literal}).encode()" if literal is not None else f"{quoted(body.text)}.encode()", ""


def _part(name: str, text: str, is_file: bool) -> str:
    if is_file:
        disposition = f'name="{_named(name)}"; filename="{_named(text)}"'
        return f'({quoted(disposition)}, open({quoted(text)}, "rb").read())'
    disposition = f'name="{_named(name)}"'
    return f"({quoted(disposition)}, {quoted(text)}.encode())"


def _named(text: str) -> str:
    """A name in a header, as browsers write it (HTML, multipart/form-data encoding algorithm)."""
    return text.replace("\n", "%0A").replace("\r", "%0D").replace('"', "%22")
