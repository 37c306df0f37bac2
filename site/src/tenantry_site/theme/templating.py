"""Templating: the HTML templates around a page, each compiled when it is first asked for, every value escaped."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup


@cache
def environment() -> Environment:
    """The templates of the theme and of what the app adds to a page."""
    folder = files("tenantry_site.theme") / "templates"
    texts = {each.name: each.read_text(encoding="utf-8") for each in folder.iterdir() if each.name.endswith(".html")}
    return Environment(
        loader=DictLoader(texts), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def render_template(name: str, /, **values: object) -> Markup:
    """The HTML of one template, safe to be put into another one."""
    return Markup(environment().get_template(name).render(values))  # noqa: S704  # escaped by the template
