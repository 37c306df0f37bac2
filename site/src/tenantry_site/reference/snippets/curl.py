"""The request as a command of curl, for a POSIX shell."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry_site.reference.request import Request, Sent


def curl(request: Request) -> str:
    """One command over several lines. Every foreign text is in single quotes, where a shell reads nothing."""
    return " \\\n  ".join(_parts(request))


def _parts(request: Request) -> Iterator[str]:
    yield "curl --head" if request.method == "HEAD" else f"curl --request {request.method}"
    yield f"--url {quoted(request.url)}"
    if request.user is not None:
        yield f"--user {quoted(':'.join(request.user))}"
    for name, value in request.headers:
        yield f"--header {quoted(f'{name}: {value}')}"
    if request.body is not None:
        yield from _body(request.body)


def _body(body: Sent) -> Iterator[str]:
    if body.form == "binary":
        yield "--data-binary '@FILE'"
    elif body.form in ("json", "text"):
        yield f"--data-raw {quoted(body.text)}"  # --data would read a file where the text begins with @
    for name, value, is_file in body.pairs:
        if body.form == "form":
            yield f"--data-urlencode {quoted(f'{name}={value}')}"
        else:
            yield f"--form {quoted(f'{name}=@{value}')}" if is_file else f"--form-string {quoted(f'{name}={value}')}"


def quoted(text: str) -> str:
    """The text as one word of a shell; without NUL, which no word can hold."""
    bare = text.replace("\0", "").replace("'", "'\"'\"'")
    return f"'{bare}'"
