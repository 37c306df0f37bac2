"""context_processor and install_tojson: a foreign Jinja environment, and ours, under real Starlette."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jinja2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.templating import Jinja2Templates
from starlette.testclient import TestClient

from tenantry.errors import MiddlewareMissing, MissingToken, MissingVariable, UnbindableValue
from tenantry.groups import Record, RecordList, UserGroup
from tenantry.html import context_processor, create_environment, install_tojson
from tenantry.testing import make_group
from tests.groups.viewers import make_viewer

PROPERTIES: dict[str, Any] = {
    "title": "theirs",
    "request": "theirs",
    "items": ["<b>", {"keys": "k"}],
    "null": None,
    "keys": {"get": "G"},
}


class Page:
    """An app with one page, and the group of every request."""

    def __init__(self, templates: Jinja2Templates, group: UserGroup | None, **view: Any) -> None:
        async def page(request: Request) -> Response:
            return templates.TemplateResponse(request, "page.html", dict(view))

        self.app = Starlette(routes=[Route("/", page, name="home")])
        self.group = group

    def get(self, path: str = "/") -> str:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            await self.app({**scope, "user_group": self.group}, receive, send)

        answer = TestClient(app).get(path)
        assert answer.status_code == 200
        return answer.text


def foreign(tmp_path: Path, text: str) -> Jinja2Templates:
    (tmp_path / "page.html").write_text(text, "utf-8")
    return Jinja2Templates(directory=tmp_path, context_processors=[context_processor])


def own(tmp_path: Path, text: str) -> Jinja2Templates:
    environment = create_environment(jinja2.DictLoader({"page.html": text}))
    return Jinja2Templates(env=environment, context_processors=[context_processor])


BOTH = pytest.mark.parametrize("make", [foreign, own])


@BOTH
def test_user_group_and_params_are_there(make: Any, tmp_path: Path) -> None:
    """Escaped, items before attributes, viewer input apart."""
    text = (
        "{{ user_group.id }} {{ user_group.properties.items[0] }} {{ user_group.properties.items[1].keys }} "
        "{{ user_group.properties.keys.get }} {{ params.q }} {{ params.many[1] }}"
    )
    page = Page(make(tmp_path, text), make_group(properties=PROPERTIES)).get("/?q=<i>&many=a&many=b&user_group=evil")
    assert page == "acme &lt;b&gt; k G &lt;i&gt; b"


@BOTH
def test_no_name_of_the_app_is_overwritten(make: Any, tmp_path: Path) -> None:
    """Red when the processor returns all variables: ``request`` would be the tenant's text, and url_for would break."""
    text = "{{ title }} {{ request.method }} {{ url_for('home') }} {{ user_group.properties.request }}"
    page = Page(make(tmp_path, text), make_group(properties=PROPERTIES | {"url_for": "x"}), title="ours").get()
    assert page == "ours GET http://testserver/ theirs"


@BOTH
@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("{{ user_group.properties.nope }}", "user_group.properties.nope"),
        ("{{ user_group['properties']['nope'] }}", "user_group.properties.nope"),
        ("{{ user_group.properties.keys.nope|upper }}", "user_group.properties.keys.nope"),
        ("{{ user_group.properties.items[2] }}", "user_group.properties.items[2]"),
        ("{% for x in user_group.properties.nope %}{% endfor %}", "user_group.properties.nope"),
        ("{% for x in user_group.properties.items %}{{ x.nope }}{% endfor %}", None),
        ("{% if user_group.properties.nope %}{% endif %}", "user_group.properties.nope"),
        ("{% if user_group.properties.nope == 1 %}{% endif %}", "user_group.properties.nope"),
        ("{{ user_group.properties.nope.deeper }}", "user_group.properties.nope"),
        ("{{ user_group.nope }}", "user_group.nope"),
        ("{{ params.nope }}", "params.nope"),
        ("{{ [params.nope]|join(',') }}", "params.nope"),
    ],
)
def test_a_missing_name_is_an_error_in_any_environment(make: Any, tmp_path: Path, text: str, path: str | None) -> None:
    """Red when a plain Record is handed over: Jinja turns its KeyError into an empty string."""
    page = Page(make(tmp_path, text), make_group(properties={**PROPERTIES, "items": [{"a": 1}]}))
    with pytest.raises(MissingVariable) as caught:
        page.get()
    assert caught.value.names == (path or "user_group.properties.items[0].nope",)


@BOTH
def test_a_template_may_ask_first(make: Any, tmp_path: Path) -> None:
    """``is defined`` and ``default`` work in a foreign environment too."""
    text = "{{ user_group.properties.nope|default('-') }}{% if params.q is defined %}q{% endif %}"
    assert Page(make(tmp_path, text), make_group()).get() == "-"


@BOTH
def test_nothing_is_printed_whole(make: Any, tmp_path: Path) -> None:
    """An error instead of a Python repr of all that a tenant has."""
    for path in ("user_group", "user_group.properties", "params", "user_group.properties.items"):
        with pytest.raises(UnbindableValue, match=f"^{path} is"):
            Page(make(tmp_path, f"{{{{ {path} }}}}"), make_group(properties=PROPERTIES)).get()


@BOTH
def test_a_public_page_renders_without_a_group(make: Any, tmp_path: Path) -> None:
    """``is defined`` answers; any other use of the group raises MissingToken, never an empty string."""
    assert Page(make(tmp_path, "{% if user_group is defined %}in{% else %}out{% endif %}"), None).get() == "out"
    for text in (
        "{{ user_group }}",
        "{{ user_group.name }}",
        "{{ params.q }}",
        "{{ viewer.id }}",
        "{% if user_group %}{% endif %}",
    ):
        with pytest.raises(MissingToken, match="no user group token"):
            Page(make(tmp_path, text), None).get("/?q=1")


def test_bare_names_in_our_environment(tmp_path: Path) -> None:
    """With create_environment a bare name falls back to the property: under Starlette as in HTMLTemplate."""
    text = "{{ keys.get }} {{ items[0] }} {{ title }}"
    assert Page(own(tmp_path, text), make_group(properties=PROPERTIES), title="ours").get() == "G &lt;b&gt; ours"
    with pytest.raises(MissingToken):
        Page(own(tmp_path, "{{ region }}"), None).get()


def test_an_attribute_of_a_plain_value_is_the_environments_affair(tmp_path: Path) -> None:
    """The stated limit: Jinja's default environment prints nothing for ``null.code``; ours raises."""
    text, group = "[{{ user_group.properties.null.code }}]", make_group(properties=PROPERTIES)
    assert Page(foreign(tmp_path, text), group).get() == "[]"
    with pytest.raises(MissingVariable, match="null has no code"):
        Page(own(tmp_path, text), group).get()


def test_what_a_template_is_handed_can_be_copied() -> None:
    """A debugger or a test client may copy a context: the paths go along."""
    scope = {"type": "http", "user_group": make_group(properties=PROPERTIES), "query_string": b""}
    twin = copy.deepcopy(context_processor(Request(scope))["user_group"])
    assert twin == context_processor(Request(scope))["user_group"]
    with pytest.raises(MissingVariable, match=r"user_group\.properties\.items\[1\]\.nope"):
        str(copy.deepcopy(twin["properties"]["items"])[1]["nope"])


@BOTH
def test_a_pass_gives_the_page_its_viewer(make: Any, tmp_path: Path) -> None:
    """A token gives none, which a page may ask for first. Red if the processor leaves it out: a foreign environment
    prints nothing for ``viewer.region``."""
    asks = "{{ viewer.id }} {{ viewer.region }}"
    seen = make_group(properties=PROPERTIES).with_viewer(make_viewer(region="<eu>"))
    assert Page(make(tmp_path, asks), seen).get() == "ada &lt;eu&gt;"
    with pytest.raises(MissingVariable, match="viewer"):
        Page(make(tmp_path, asks), make_group()).get()
    first = "{% if viewer is defined %}in{% else %}out{% endif %}"
    assert [Page(make(tmp_path, first), each).get() for each in (seen, make_group())] == ["in", "out"]
    with pytest.raises(MissingVariable, match="nope"):
        Page(make(tmp_path, "{{ viewer.nope }}"), seen).get()


def test_the_processor_gives_exactly_the_reserved_names() -> None:
    """There is no fourth."""
    scope = {"type": "http", "user_group": make_group(properties=PROPERTIES), "query_string": b"a=1"}
    assert set(context_processor(Request(scope))) == {"user_group", "params", "viewer"}


def test_without_the_middleware_it_says_so() -> None:
    """A forgotten middleware is not a page without a group."""
    with pytest.raises(MiddlewareMissing):
        context_processor(Request({"type": "http", "query_string": b""}))


# --- tojson -----------------------------------------------------------------------------------------------------------


def test_install_tojson_in_a_foreign_environment(tmp_path: Path) -> None:
    """Red without it: ``|tojson`` of a Record raises TypeError. Values stay safe in a script element."""
    text = "{{ user_group.properties|tojson }}|{{ {'x': user_group.properties.items}|tojson }}"
    templates = foreign(tmp_path, text)
    page = Page(templates, make_group(properties=PROPERTIES))
    with pytest.raises(TypeError):
        page.get()
    install_tojson(templates.env)
    first, second = page.get().split("|")
    assert json.loads(first) == PROPERTIES
    assert json.loads(second) == {"x": PROPERTIES["items"]}
    assert "<" not in first
    with pytest.raises(MissingVariable):
        templates.env.from_string("{{ x|tojson }}").render(
            x=[
                context_processor(Request({"type": "http", "user_group": make_group(), "query_string": b""}))["params"][
                    "no"
                ]
            ]
        )


def test_install_tojson_keeps_the_function_that_was_there() -> None:
    """An app that writes JSON with another library goes on doing so, and is given plain values."""
    environment = jinja2.Environment(autoescape=True)
    given: list[Any] = []

    def dumps(value: Any, **options: Any) -> str:
        given.append(value)
        return json.dumps(value, **options)

    environment.policies["json.dumps_function"] = dumps
    install_tojson(environment)
    value = {"r": Record({"a": [1]}), "rows": [RecordList([2]), (3, "x")]}
    page = environment.from_string("{{ v|tojson }}").render(v=value)
    assert json.loads(page) == {"r": {"a": [1]}, "rows": [[2], [3, "x"]]}
    assert type(given[0]["r"]) is dict
    assert type(given[0]["rows"][0]) is list
