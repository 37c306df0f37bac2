"""Writes a request as a curl command, a Python program and a JavaScript module.

The Python program uses only the standard library. The JavaScript module uses ``fetch``, or Node's HTTP client for
requests that ``fetch`` cannot send.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Final

from tenantry_site.reference.operation import Form
from tenantry_site.reference.request import Request, Sent

_TOKENS: Final = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b')
_PYTHON: Final = {"true": "True", "false": "False", "null": "None"}


def quoted(text: str) -> str:
    """A string literal that is valid in both Python and JavaScript: both support the escapes of JSON."""
    return json.dumps(text, ensure_ascii=False)


def value(text: str, language: str, indent: int) -> str | None:
    """JSON text as an expression of the language, with all lines but the first indented; None if it is not valid JSON.

    Numbers are copied as text, so that large ones are not rounded.
    """
    try:
        json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None

    def spelled(match: re.Match[str]) -> str:
        literal, colon, word = match.groups()
        if word:
            return _PYTHON[word] if language == "python" else word
        again, rest = quoted(json.loads(literal)), colon or ""
        sets_prototype = rest and again == '"__proto__"' and language == "javascript"
        return f"[{again}]{rest}" if sets_prototype else again + rest

    return indented(_TOKENS.sub(spelled, text.strip()), indent)


def indented(text: str, indent: int) -> str:
    return text.replace("\n", "\n" + " " * indent)


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def curl(request: Request) -> str:
    """The request as a curl command on several lines. All values are in single quotes, in which shells expand
    nothing."""
    return " \\\n  ".join(_curl_parts(request))


def _curl_parts(request: Request) -> Iterator[str]:
    yield "curl --head" if request.method == "HEAD" else f"curl --request {request.method}"
    yield f"--url {shell_quoted(request.url)}"
    if request.user is not None:
        yield f"--user {shell_quoted(':'.join(request.user))}"
    for name, value in request.headers:
        yield f"--header {shell_quoted(f'{name}: {value}')}"
    if request.body is not None:
        yield from _curl_body(request.body)


def _curl_body(body: Sent) -> Iterator[str]:
    if body.form == "binary":
        yield "--data-binary '@FILE'"
    elif body.form in ("json", "text"):
        yield f"--data-raw {shell_quoted(body.text)}"  # --data would read a file if the text begins with @
    for name, value, is_file in body.pairs:
        if body.form == "form":
            yield f"--data-urlencode {shell_quoted(f'{name}={value}')}"
        else:
            yield (
                f"--form {shell_quoted(f'{name}=@{value}')}"
                if is_file
                else f"--form-string {shell_quoted(f'{name}={value}')}"
            )


def shell_quoted(text: str) -> str:
    """The text as one quoted word for a shell, without NUL characters, which a shell cannot represent."""
    bare = text.replace("\0", "").replace("'", "'\"'\"'")
    return f"'{bare}'"


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
"""Code that builds a multipart body (RFC 7578), for which the standard library has no function."""


def python(request: Request) -> str:
    """The request as a Python program."""
    form = request.body.form if request.body is not None else ""
    before, data, extra = _python_body(request.body) if request.body is not None else ("", "", "")
    imports = [
        *(["import json"] if data.startswith("json.") else []),
        *(["from base64 import b64encode"] if request.user is not None else []),
        "from urllib.error import HTTPError",
        *(["from urllib.parse import urlencode"] if form == "form" else []),
        "from urllib.request import Request, urlopen",
        *(["from uuid import uuid4"] if form == "multipart" else []),
    ]
    lines = [quoted(request.url), f"method={quoted(request.method)}"]
    if headers := "".join(f"        {line},\n" for line in [*_python_headers(request), *([extra] if extra else [])]):
        lines.append(f"headers={{\n{headers}    }}")
    if data:
        lines.append(f"data={data}")
    arguments = "".join(f"    {line},\n" for line in lines)
    head = "\n".join(imports)
    return f"{head}\n\n{before}request = Request(\n{arguments})\n{_SEND}"


def _python_headers(request: Request) -> Iterator[str]:
    if request.user is not None:
        yield f'"Authorization": "Basic " + b64encode({quoted(":".join(request.user))}.encode()).decode()'
    yield from (f"{quoted(name)}: {quoted(text)}" for name, text in request.headers)


def _python_body(body: Sent) -> tuple[str, str, str]:
    """The code before the request, the expression for the body, and a header for it (empty: none)."""
    if body.form == "multipart":
        parts = "".join(f"    {_python_part(*pair)},\n" for pair in body.pairs)
        header = '"Content-Type": "multipart/form-data; boundary=" + boundary'
        return _MULTIPART % parts, "body", header
    if body.form == "form":
        pairs = "".join(f"        ({quoted(name)}, {quoted(text)}),\n" for name, text, _ in body.pairs)
        return "", f"urlencode([\n{pairs}    ]).encode()", ""
    if body.form == "binary":
        return "", 'open("FILE", "rb").read()', ""
    literal = value(body.text, "python", 4) if body.form == "json" else None
    return "", f"json.dumps({literal}).encode()" if literal is not None else f"{quoted(body.text)}.encode()", ""


def _python_part(name: str, text: str, is_file: bool) -> str:
    if is_file:
        disposition = f'name="{_named(name)}"; filename="{_named(text)}"'
        return f'({quoted(disposition)}, open({quoted(text)}, "rb").read())'
    disposition = f'name="{_named(name)}"'
    return f"({quoted(disposition)}, {quoted(text)}.encode())"


def _named(text: str) -> str:
    """A field or file name, escaped as browsers do (HTML, multipart/form-data encoding algorithm)."""
    return text.replace("\n", "%0A").replace("\r", "%0D").replace('"', "%22")


_MARK: Final = re.compile(r"@([A-Z]+)@")


def javascript(request: Request) -> str:
    """The request as a JavaScript module. A GET or HEAD with a body, which ``fetch`` refuses, becomes a program for
    Node."""
    if request.body is not None and request.method in ("GET", "HEAD"):
        literal = value(request.body.text, "javascript", 0) if request.body.form == "json" else None
        expression = f"JSON.stringify({literal})" if literal is not None else _javascript_body(request.body)[1]
        parts = {
            "HTTP": "http" if request.url.startswith("http:") else "https",
            "BODY": f"String({expression})" if request.body.form == "form" else expression,
            "URL": quoted(request.url),
            "HEADERS": "".join(_javascript_headers(request)),
        }
        frame = node_frame(request.method, request.body.form, by_query=request.by_query)
        return _MARK.sub(lambda mark: parts[mark[1]], frame)
    before, body = _javascript_body(request.body) if request.body is not None else ("", "")
    lines = [f"method: {quoted(request.method)}"]
    if headers := "".join(_javascript_headers(request)):
        lines.append(f"headers: {{\n{headers}  }}")
    if body:
        lines.append(f"body: {body}")
    options = "".join(f"  {line},\n" for line in lines)
    call = f"const response = await fetch({quoted(request.url)}, {{\n{options}}});"
    return f"{before}{call}\nconsole.log(response.status, await response.text());"


def _javascript_headers(request: Request) -> list[str]:
    pairs = [f"    {quoted(name)}: {quoted(text)},\n" for name, text in request.headers]
    if request.user is not None:
        pairs.insert(0, f'    "Authorization": "Basic " + btoa({quoted(":".join(request.user))}),\n')
    return pairs


def _javascript_body(body: Sent) -> tuple[str, str]:
    """The code before the call that sends the request, and the expression for the body."""
    if body.form == "multipart":
        added = "".join(
            f"form.append({quoted(name)}, {_javascript_part(text, is_file)});\n" for name, text, is_file in body.pairs
        )
        return f"const form = new FormData();\n{added}\n", "form"
    if body.form == "form":
        pairs = ", ".join(f"[{quoted(name)}, {quoted(text)}]" for name, text, _ in body.pairs)
        return "", f"new URLSearchParams([{pairs}])"
    if body.form == "binary":
        return "", "fileInput.files[0]"
    literal = value(body.text, "javascript", 2) if body.form == "json" else None
    return "", f"JSON.stringify({literal})" if literal is not None else quoted(body.text)


def _javascript_part(text: str, is_file: bool) -> str:
    return "fileInput.files[0]" if is_file else quoted(text)


def node_frame(method: str, form: Form, *, by_query: bool) -> str:
    """The Node program for a GET or HEAD with a body. Marks such as ``@BODY@`` must be replaced by values."""
    if form in ("multipart", "binary"):
        return f"// fetch sends no body with {method}, and Node has no client that makes this one: use curl."
    hint = " In a browser, send the same body with QUERY." if by_query else ""
    return (
        f"// fetch sends no body with {method}; Node's own client does.{hint}\n"
        'import { request } from "node:@HTTP@";\n\n'
        "const body = @BODY@;\n"
        f"const call = request(@URL@, {{\n  method: {quoted(method)},\n  headers: {{\n@HEADERS@"
        '    "Content-Length": Buffer.byteLength(body),\n  },\n});\n'
        'call.on("response", async (response) => {\n'
        '  let text = "";\n'
        "  for await (const part of response) text += part;\n"
        "  console.log(response.statusCode, text);\n"
        "});\n"
        "call.end(body);"
    )


LANGUAGES: Final[tuple[tuple[str, str, Callable[[Request], str]], ...]] = (
    ("curl", "bash", curl),
    ("Python", "python", python),
    ("JavaScript", "javascript", javascript),
)
"""The snippets of a request: title, language for highlighting, and the function that writes it."""

__all__ = ["LANGUAGES", "curl", "javascript", "python"]
