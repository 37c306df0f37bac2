"""The request as a program of JavaScript: fetch, or Node's own client where fetch cannot."""

from __future__ import annotations

import re
from typing import Final

from tenantry_site.reference.operation import Form
from tenantry_site.reference.request import Request, Sent
from tenantry_site.reference.snippets.literals import quoted, value

_MARK: Final = re.compile(r"@([A-Z]+)@")


def javascript(request: Request) -> str:
    """A whole module. fetch refuses a body with GET and HEAD, so that one is for Node."""
    if request.body is not None and request.method in ("GET", "HEAD"):
        return _node(request, request.body)
    before, body = _body(request.body) if request.body is not None else ("", "")
    lines = [f"method: {quoted(request.method)}"]
    if headers := "".join(_headers(request)):
        lines.append(f"headers: {{\n{headers}  }}")
    if body:
        lines.append(f"body: {body}")
    options = "".join(f"  {line},\n" for line in lines)
    call = f"const response = await fetch({quoted(request.url)}, {{\n{options}}});"
    return f"{before}{call}\nconsole.log(response.status, await response.text());"


def _headers(request: Request) -> list[str]:
    pairs = [f"    {quoted(name)}: {quoted(text)},\n" for name, text in request.headers]
    if request.user is not None:
        pairs.insert(0, f'    "Authorization": "Basic " + btoa({quoted(":".join(request.user))}),\n')
    return pairs


def _body(body: Sent) -> tuple[str, str]:
    """What comes before the call, and the expression of the body."""
    if body.form == "multipart":
        added = "".join(f"form.append({quoted(name)}, {_part(text, is_file)});\n" for name, text, is_file in body.pairs)
        return f"const form = new FormData();\n{added}\n", "form"
    if body.form == "form":
        pairs = ", ".join(f"[{quoted(name)}, {quoted(text)}]" for name, text, _ in body.pairs)
        return "", f"new URLSearchParams([{pairs}])"
    if body.form == "binary":
        return "", "fileInput.files[0]"
    literal = value(body.text, "javascript", 2) if body.form == "json" else None
    return "", f"JSON.stringify({literal})" if literal is not None else quoted(body.text)


def _part(text: str, is_file: bool) -> str:
    return "fileInput.files[0]" if is_file else quoted(text)


def node_frame(method: str, form: Form, *, by_query: bool) -> str:
    """The program for a body with GET or HEAD, with marks for what a reader changes."""
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


def _node(request: Request, body: Sent) -> str:
    literal = value(body.text, "javascript", 0) if body.form == "json" else None
    expression = f"JSON.stringify({literal})" if literal is not None else _body(body)[1]
    parts = {
        "HTTP": "http" if request.url.startswith("http:") else "https",
        "BODY": f"String({expression})" if body.form == "form" else expression,
        "URL": quoted(request.url),
        "HEADERS": "".join(_headers(request)),
    }
    frame = node_frame(request.method, body.form, by_query=request.by_query)
    return _MARK.sub(lambda mark: parts[mark[1]], frame)
