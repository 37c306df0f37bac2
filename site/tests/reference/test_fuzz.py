"""Any JSON: diagnostics with a place and a remedy, never an exception, and a page that can be written."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engines.hypothesis_profile import examples
from tenantry_site.page import FrontMatter, Page
from tenantry_site.reference import CODES, ApiPages, read_documents
from tests.reference.balanced import Balanced
from tests.reference.stage import READER, config, document, one, own_document

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
NAMES = [
    "$ref", "type", "properties", "items", "allOf", "oneOf", "anyOf", "required", "enum", "const", "default", "example",
    "examples", "format", "nullable", "additionalProperties", "discriminator", "description", "parameters", "name",
    "in", "schema", "content", "requestBody", "responses", "security", "servers", "url", "variables", "callbacks",
    "style", "explode", "headers", "summary", "tags", "deprecated", "minimum", "pattern", "prefixItems", "200",
    "application/json",
]  # fmt: skip
WORDS = st.sampled_from([
    "#/components/schemas/A", "#/paths/~1things/post", "#", "#/", "api.json#/components", "string", "object", "array",
    "query", "path", "x", "", "https://example.com/{a}", "\ud800", "javascript:alert(1)", "<script>alert(1)</script>",
])  # fmt: skip
SHAPED = st.recursive(
    WORDS | st.booleans() | st.none() | st.integers(-5, 500),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=25,
)


def check(found: Any) -> int:
    """Draws every operation of a document; the number of them."""
    chosen = config(openapi=("api.json",))
    read = read_documents(chosen, {"api.json": json.dumps(found)})
    pages = ApiPages(chosen, read, READER)
    reported = list(read.diagnostics)
    for operation in read.operations:
        page = pages.render(Page("p", "p.mdx", "", FrontMatter(openapi=operation.spec), ""))
        page.html.encode()
        page.markdown.encode()
        reader = Balanced()
        reader.feed(page.html)
        assert reader.bad == []
        assert reader.open == []
        reported += page.diagnostics
    for diagnostic in reported:
        assert diagnostic.code in CODES
        assert diagnostic.message
        assert diagnostic.fix
    return len(read.operations)


@settings(max_examples=examples(25), deadline=None)
@given(JSON, JSON)
def test_any_json(whole: Any, part: Any) -> None:
    """As the document, and as its parts."""
    check(whole)
    check(document(part))
    check(document({"/a": {"get": part, "parameters": part}}, components=part, servers=part, security=part))


@settings(max_examples=examples(50), deadline=None)
@given(SHAPED, SHAPED, SHAPED)
def test_parts_with_the_words_of_openapi(operation: Any, schema: Any, other: Any) -> None:
    """The right names around the wrong things. Red when any one reading trusts its type."""
    body = {"content": {"application/json": {"schema": schema}}}
    whole = {"requestBody": body, "responses": {"200": body, "default": operation}, "parameters": [other, operation]}
    assert check(one(whole, components={"schemas": {"A": schema, "B": other}})) == 1
    if isinstance(operation, dict):
        check(one(operation, components={"schemas": {"A": schema}}, servers=other))


def test_our_own_document_with_one_part_replaced() -> None:
    """Every part in turn is likely to be hit: some hundreds of places, each with something strange."""
    text = json.dumps(own_document())
    chance = random.Random(4)
    strange = [None, 7, "x", [], {}, True, [None], {"$ref": "#"}, {"$ref": 3}, "#/components/schemas/Value", -1.5]
    for _ in range(4):
        whole = json.loads(text)
        for _ in range(3):
            holder, key = chance.choice(list(_places(whole)))
            holder[key] = chance.choice(strange)
        check(whole)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])
