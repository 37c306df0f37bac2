"""API pages of an author: the endpoint that ``api`` names, and the fields that the page lists itself."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest

from tenantry_site.page import FrontMatter
from tests.reference.stage import codes, draw, facts

FIELDS = """
<ParamField path="id" type="string" required>The thing</ParamField>
<ParamField query="limit" type="integer" default="10" />
<ParamField header="X-Trace" type="string" placeholder="abc" />
<ParamField body="name" type="string" required>Its name</ParamField>
<ParamField body="size" type="number" default="3" />
<ParamField body="tags" type="string[]" required />
<ParamField body="owner" type="object" required>
  <Expandable title="owner"><ParamField body="mail" type="string" required>Mail</ParamField></Expandable>
</ParamField>
"""


@pytest.mark.parametrize(
    ("api", "method", "path", "url", "reported"),
    [
        ("POST /things/{id}", "POST", ["/things/", "id", ""], "https://set.example.com", []),
        ("post /things/:id/x", "POST", ["/things/", "id", "/x"], "https://set.example.com", []),
        ("/things/{id}", "GET", ["/things/", "id", ""], "https://set.example.com", ["API011"]),
        ("PUT things/{id}", "PUT", ["/things/", "id", ""], "https://set.example.com", []),
        ("GET https://api.example.com:8443/v1/:id", "GET", ["/v1/", "id", ""], "https://api.example.com:8443", []),
        ("https://api.example.com/{id}", "GET", ["/", "id", ""], "https://api.example.com", ["API011"]),
        ("FETCH /things/{id}", "FETCH", ["/things/", "id", ""], "https://set.example.com", ["API011"]),
    ],
)
def test_the_entries_of_real_pages(api: str, method: str, path: list[str], url: str, reported: list[str]) -> None:
    """Paths and addresses, {param} and :param, any case, without a method."""
    page = draw(front=FrontMatter(api=api), text=FIELDS, api={"baseUrl": ("https://set.example.com",)})
    assert (facts(page)["method"], facts(page)["path"], facts(page)["servers"][0]["url"]) == (method, path, url)
    assert codes(page.diagnostics) == reported
    assert ':8443/v1/"' not in page.html


@pytest.mark.parametrize(
    "api", ["GET", "GET javascript:alert(1)", "GET ftp://example.com/", "GET http://[", "GET https://"]
)
def test_an_entry_that_is_no_address(api: str) -> None:
    """Told, and nothing is drawn."""
    page = draw(front=FrontMatter(api=api), text="Own words.")
    assert codes(page.diagnostics) == ["API012"]
    assert "endpoint" not in page.html
    assert "javascript:" not in page.html


def test_the_parameters_of_an_api_page_come_from_its_own_list() -> None:
    """Inputs by their traces, a body of JSON with what is needed; the list itself is not written twice.

    Red when ParamField leaves no trace: the form is empty.
    """
    page = draw(front=FrontMatter(api="POST /things/{id}", content_type=""), text=FIELDS)
    assert re.findall(r'data-in="(\w+)" data-name="([\w-]+)"', page.html) == [
        ("path", "id"), ("query", "limit"), ("header", "X-Trace"),
    ]  # fmt: skip
    assert 'placeholder="10"' in page.html
    match = re.search(r"<textarea[^>]*data-body[^>]*>([^<]*)</textarea>", page.html)
    assert match
    assert json.loads(unescape(match[1])) == {"name": "", "tags": [], "owner": {"mail": ""}}
    assert [heading.text for heading in page.headings] == []
    assert codes(page.diagnostics) == ["API017"]


def test_the_content_type_of_an_api_page() -> None:
    """A form has an input for each field."""
    page = draw(front=FrontMatter(api="POST /things/{id}", content_type="multipart/form-data"), text=FIELDS)
    assert re.findall(r'data-in="body" data-name="(\w+)"', page.html) == ["name", "tags", "owner", "size"]


def test_a_listed_path_parameter_that_the_path_lacks() -> None:
    """And front matter that says nothing known."""
    page = draw(front=FrontMatter(api="GET /x", auth_method="magic", playground="loud"), text=FIELDS)
    assert codes(page.diagnostics) == ["API015", "API017", "API013", "API015"]
    assert all(one.fix and one.path == "things/page.mdx" for one in page.diagnostics)


def test_examples_of_an_author_go_beside_the_text() -> None:
    """One of each; several stay with the words around them. Red when the end of a block is found too early."""
    example = "<RequestExample>\n```bash curl\ncurl x\n```\n```js Node\nx()\n```\n</RequestExample>\n\n"
    answer = '<ResponseExample>\n```json OK\n{"a": 1}\n```\n</ResponseExample>\n\n'
    page = draw(front=FrontMatter(api="GET /x"), text=f"Before.\n\n{example}Between.\n\n{answer}After.")
    own, side = page.html.split('<div class="api-side">')
    assert "example-request" not in own
    assert side.count('class="example example-') == 3
    assert own.count("<div") - own.count("</div>") == 2
    twice = draw(front=FrontMatter(api="GET /x"), text=f"{example}Between.\n\n{example}")
    assert twice.html.split('<div class="api-side">')[0].count("example-request") == 2
