"""The request as a command and as programs: read by a shell, by Python and by Node, not by eye."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from base64 import b64decode
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest

from tenantry_site.reference.request import Request, Sent, initial
from tenantry_site.reference.snippets import curl, javascript, python
from tests.reference.stage import config, endpoint, one

HOSTILE = 'it\'s "q" `id` $(id) ${x} \\ \n\t %s {} ; & | <b> </script> é 😀 \u2028'
BODY = {"__proto__": {"a": 1}, HOSTILE: HOSTILE, "big": 12345678901234567890, "list": [True, False, None, 1.5e300]}


def words(request: Request) -> list[str]:
    """The command's words as a shell reads them."""
    return shlex.split(curl(request).replace("\\\n", " "))


OFFLINE = """
import io, json, sys, urllib.request
def urlopen(request):
    data = request.data.decode("latin-1") if request.data is not None else None
    sys.stderr.write(json.dumps([request.get_method(), request.full_url, dict(request.header_items()), data]))
    answer = io.BytesIO(b"")
    answer.status = 200
    return answer
urllib.request.urlopen = urlopen
"""


def call(request: Request) -> tuple[str, str, dict[str, str], bytes]:
    """What the Python program sends, by running it with an ``urlopen`` that only writes down: method, address, headers
    (their names in lower case) and body."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", OFFLINE + python(request)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "200 \n", done.stderr
    method, url, headers, data = json.loads(done.stderr)
    return method, url, {name.lower(): text for name, text in headers.items()}, (data or "").encode("latin-1")


NODE = """
const calls = [];
const fetch = async (url, options) => {
  calls.push([url, { ...options, body: options.body === undefined ? null : String(options.body) }]);
  return { status: 200, text: async () => "" };
};
const FormData = class { constructor() { this.all = []; } append(...pair) { this.all.push(pair); }
  toString() { return JSON.stringify(this.all); } };
const fileInput = { files: ["a file"] };
const console = { log() {} };
"""


def run(*requests: Request) -> list[Any]:
    """What the JavaScript programs give to fetch, by running them in Node with a fetch that only writes down."""
    programs = "".join(f"await (async () => {{\n{javascript(request)}\n}})();\n" for request in requests)
    script = f"{NODE}{programs}process.stdout.write(JSON.stringify(calls));"
    done = subprocess.run(["node", "--input-type=module", "-e", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found


def post(text: str = "", **more: Any) -> Request:
    body = Sent("json", "application/json", text or json.dumps(BODY, ensure_ascii=False, indent=2))
    return Request("POST", "https://api.example.com/a?q=x", (("X-Text", HOSTILE.replace("\n", " ")),), body, **more)


def test_curl_is_read_by_a_shell_as_it_was_meant() -> None:
    """Quotes, backticks, dollars and line breaks are text. Red when a value is quoted with double quotes."""
    found = words(post(user=("me'", HOSTILE)))
    assert found[:3] == ["curl", "--request", "POST"]
    assert found[found.index("--url") + 1] == "https://api.example.com/a?q=x"
    assert found[found.index("--user") + 1] == f"me':{HOSTILE}"
    assert found[found.index("--header") + 1] == f"X-Text: {HOSTILE.replace(chr(10), ' ')}"
    assert json.loads(found[found.index("--data-raw") + 1]) == BODY


def test_a_real_shell_runs_nothing_of_it() -> None:
    """With ``curl`` a function that prints its words. Red when one substitution gets through."""
    script = f"curl() {{ printf '%s\\0' \"$@\"; }}\n{curl(post())}"
    done = subprocess.run(["sh", "-c", script], capture_output=True, check=True)
    assert done.stdout.decode().split("\0")[:-1] == words(post())[1:]
    assert done.stderr == b""


def test_python_is_run_by_python_as_it_was_meant() -> None:
    """With the standard library alone. Red when JSON's true, false and null are left as they are."""
    method, url, headers, data = call(post(user=("me", HOSTILE)))
    assert (method, url) == ("POST", "https://api.example.com/a?q=x")
    assert b64decode(headers["authorization"].removeprefix("Basic ")).decode() == f"me:{HOSTILE}"
    assert json.loads(data) == BODY
    assert headers["x-text"] == HOSTILE.replace("\n", " ")
    modules = set(re.findall(r"^(?:from|import) (\w+)", python(post(user=("a", "b"))), re.MULTILINE))
    assert modules == {"json", "base64", "urllib"} <= sys.stdlib_module_names


def test_javascript_is_run_by_node_as_it_was_meant() -> None:
    """Red when ``__proto__`` is written as a plain key: the field is lost."""
    [[url, options]] = run(post('{"__proto__": {"a": 1}, "t": ' + json.dumps(HOSTILE) + "}"))
    assert url == "https://api.example.com/a?q=x"
    assert json.loads(options["body"]) == {"__proto__": {"a": 1}, "t": HOSTILE}
    assert options["headers"] == {"X-Text": HOSTILE.replace("\n", " ")}


def test_large_numbers_stay_as_they_are() -> None:
    """Red when the program's number is read and written again."""
    for write in (curl, python, javascript):
        assert "12345678901234567890" in write(post())


def get(text: str = '{"a": "é"}', **more: Any) -> Request:
    return Request("GET", "http://127.0.0.1:1/x", (("X-A", "b"),), Sent("json", "application/json", text), **more)


def test_a_get_with_a_body_is_a_program_for_node(tmp_path: Any) -> None:
    """fetch refuses it, and the snippet says so. Checked by Node as a module."""
    text = javascript(get(by_query=True))
    assert "fetch sends no body with GET" in text
    assert "send the same body with QUERY" in text
    assert "QUERY" not in javascript(get())
    file = tmp_path / "snippet.mjs"
    file.write_text(text, encoding="utf-8")
    subprocess.run(["node", "--check", str(file)], check=True, capture_output=True)
    assert words(get())[:3] == ["curl", "--request", "GET"]
    method, _, _, data = call(get())
    assert (method, json.loads(data)) == ("GET", {"a": "é"})


FORMS = [
    Sent("form", "application/x-www-form-urlencoded", pairs=(("a", "1 &=é'", False), ("a", "2", False))),
    Sent("multipart", "multipart/form-data", pairs=(("a", "@b;'\"", False), ("f", "FILE", True))),
    Sent("text", "text/plain", "@file\n'\""),
    Sent("json", "application/json", "{not json"),
    Sent("binary", "image/png"),
]


@pytest.mark.parametrize("body", FORMS, ids=[f"{body.form}-{body.type}" for body in FORMS])
def test_every_kind_of_body(body: Sent) -> None:
    """A text that begins with @ is no file's name. Red when --data or --form carries it."""
    request = Request("POST", "https://api.example.com/", (), body)
    found = words(request)
    [[_, options]] = run(request)
    written = python(request)
    program = call(request) if "FILE" not in written else None
    if body.form == "form":
        assert found[-4:] == ["--data-urlencode", "a=1 &=é'", "--data-urlencode", "a=2"]
        assert parse_qsl(options["body"]) == [("a", "1 &=é'"), ("a", "2")]
        assert program is not None
        assert parse_qsl(program[3].decode()) == [("a", "1 &=é'"), ("a", "2")]
    elif body.form == "multipart":
        assert found[-4:] == ["--form-string", "a=@b;'\"", "--form", "f=@FILE"]
        assert json.loads(options["body"]) == [["a", "@b;'\""], ["f", "a file"]]
    elif body.form == "binary":
        assert found[-2:] == ["--data-binary", "@FILE"]
        assert options["body"] == "a file"
    else:
        assert found[-2:] == ["--data-raw", body.text]
        assert options["body"] == body.text
        assert program is not None
        assert program[3].decode() == body.text


STYLES = [
    ("simple", False, ["3", "4,5", "x,1,y,a b"]), ("simple", True, ["3", "4,5", "x=1,y=a b"]),
    ("label", False, [".3", ".4,5", ".x,1,y,a b"]), ("label", True, [".3", ".4.5", ".x=1.y=a b"]),
    ("matrix", False, [";p=3", ";p=4,5", ";p=x,1,y,a b"]), ("matrix", True, [";p=3", ";p=4;p=5", ";x=1;y=a b"]),
]  # fmt: skip


@pytest.mark.parametrize(("style", "explode", "expected"), STYLES)
def test_styles_of_paths_and_headers(style: str, explode: bool, expected: list[str]) -> None:
    """The forms of RFC 6570, which OpenAPI names. Red when the commas of a list are encoded, and when ``label`` has no
    dot."""
    schemas = [
        {"example": 3},
        {"example": [4, 5], "schema": {"type": "array"}},
        {"example": {"x": 1, "y": "a b"}, "schema": {"type": "object"}},
    ]
    for schema, text in zip(schemas, expected, strict=True):
        parameter = {"name": "p", "required": True, "style": style, "explode": explode, **schema}
        places = [parameter | {"in": "path"}] + ([parameter | {"in": "header"}] if style == "simple" else [])
        request = initial(endpoint(one({"parameters": places}, path="/a/{p}"))[0])
        assert request.url.removeprefix("https://example.com/a/") == text.replace(" ", "%20")
        assert request.headers == ((("p", text),) if style == "simple" else ())


def test_cookies_of_a_request() -> None:
    """Encoded, and by their style. Red when a value with a semicolon begins a second cookie."""
    parameters = [
        {"name": "a", "in": "cookie", "required": True, "example": "x; admin=1"},
        {"name": "b", "in": "cookie", "required": True, "example": [1, 2], "schema": {"type": "array"}},
        {"name": "c", "in": "cookie", "required": True, "explode": False, "example": [1, 2],
         "schema": {"type": "array"}},
        {"name": "d", "in": "cookie", "required": True},
    ]  # fmt: skip
    request = initial(
        endpoint(one({"parameters": parameters}), config(openapi=("api.json",), api={"maintainOrder": True}))[0]
    )
    assert request.headers == (("Cookie", "a=x%3B%20admin%3D1; b=1; b=2; c=1,2; d=<D>"),)


def test_the_first_request_of_an_operation() -> None:
    """Examples where there are some, names where there are none; every style of a query; nothing optional."""
    found = one(
        {
            "parameters": [
                {"name": "id", "in": "path", "required": True, "example": "a b/c'é"},
                {"name": "other", "in": "path", "required": True},
                {"name": "tags", "in": "query", "required": True, "example": ["x", "y&z"], "schema": {"type": "array"}},
                {"name": "csv", "in": "query", "required": True, "explode": False, "example": [1, 2],
                 "schema": {"type": "array"}},
                {"name": "deep", "in": "query", "required": True, "style": "deepObject", "schema": {"type": "object"},
                 "example": {"a": 1, "b": "c d"}},
                {"name": "whole", "in": "query", "required": True, "example": {"a": 1},
                 "content": {"application/json": {"schema": {"type": "object"}}}},
                {"name": "unknown", "in": "query", "required": True},
                {"name": "spare", "in": "query", "example": "no"},
                {"name": "X-Trace", "in": "header", "required": True},
                {"name": "session", "in": "cookie", "required": True, "example": "s1"},
            ],
            "security": [{"token": []}],
        },
        path="/things/{id}/{other}",
        components={"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    )  # fmt: skip
    settings = config(openapi=("api.json",), api={"maintainOrder": True, "baseUrl": ("https://api.example.com/v1/",)})
    request = initial(endpoint(found, settings)[0])
    parts = urlsplit(request.url)
    assert request.url.startswith("https://api.example.com/v1/things/a%20b%2Fc'%C3%A9/{other}?")
    assert parse_qsl(parts.query)[:6] == [
        ("tags", "x"), ("tags", "y&z"), ("csv", "1,2"), ("deep[a]", "1"), ("deep[b]", "c d"),
        ("whole", '{\n  "a": 1\n}'),
    ]  # fmt: skip
    assert unquote(parts.query).endswith("&unknown={unknown}")
    assert request.headers == (
        ("Authorization", "Bearer <TOKEN>"), ("X-Trace", "<X_TRACE>"), ("Cookie", "session=s1"),
    )  # fmt: skip
    assert request.body is None
