"""The request as a program of Python, with httpx."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.site.reference.request import Request, Sent
from tenantry.site.reference.snippets.literals import quoted, value


def python(request: Request) -> str:
    """A whole program."""
    lines = [quoted(request.method), quoted(request.url)]
    if request.headers:
        pairs = "".join(f"        {quoted(name)}: {quoted(text)},\n" for name, text in request.headers)
        lines.append(f"headers={{\n{pairs}    }}")
    if request.user is not None:
        lines.append(f"auth=({', '.join(map(quoted, request.user))})")
    if request.body is not None:
        lines += _body(request.body)
    arguments = "".join(f"    {line},\n" for line in lines)
    return f"import httpx\n\nresponse = httpx.request(\n{arguments})\nprint(response.status_code, response.text)"


def _body(body: Sent) -> Iterator[str]:
    if body.form == "json" and (literal := value(body.text, "python", 4)) is not None:
        yield f"json={literal}"
    elif body.form in ("json", "text"):
        yield f"content={quoted(body.text)}.encode()"
    elif body.form == "binary":
        yield 'content=open("FILE", "rb").read()'
    elif body.form == "multipart":
        parts = "".join(f"        {_part(*pair)},\n" for pair in body.pairs)
        yield f"files=[\n{parts}    ]"
    else:
        fields: dict[str, list[str]] = {}
        for name, text, _ in body.pairs:
            fields.setdefault(name, []).append(text)
        parts = "".join(f"        {quoted(name)}: {_one_or_all(texts)},\n" for name, texts in fields.items())
        yield f"data={{\n{parts}    }}"


def _part(name: str, text: str, is_file: bool) -> str:
    content = f'open({quoted(text)}, "rb")' if is_file else f"(None, {quoted(text)})"
    return f"({quoted(name)}, {content})"


def _one_or_all(texts: list[str]) -> str:
    return quoted(texts[0]) if len(texts) == 1 else f"[{', '.join(map(quoted, texts))}]"
