"""Templating: all HTML of more than one element is a template of ``templates/``, by the name of what it shows.

``theme/`` has what is around a page, ``app/`` what the app adds to one, ``components/``, ``markdown/`` and
``reference/`` what stands in its text, ``outputs/`` files beside the pages. Each is compiled once per process, when it
is first asked for, and each value is escaped unless it is ``Markup``.

In the templates of a text, a line break and the space around it are no part of the HTML: there, space could show.
``{{ " " }}`` writes one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from jinja2 import DictLoader, Environment, StrictUndefined, Template
from markupsafe import Markup, escape

_FOLDERS = {"app": False, "components": True, "markdown": True, "outputs": False, "reference": True, "theme": False}
"""The folders of templates, and whether their lines are joined."""
_LINE_BREAK = re.compile(r"\s*\n\s*")


def render_template(name: str, /, **values: object) -> Markup:
    """The HTML of one template, safe to be put into another one."""
    return Markup(_template(name).render(values))  # noqa: S704  # escaped by the template


@cache
def _template(name: str) -> Template:
    """A template by its path in ``templates/``, without ``.html``: ``components/card``."""
    return _environment().get_template(name if name.endswith(".xml") else f"{name}.html")


@cache
def _environment() -> Environment:
    texts: dict[str, str] = {}
    for folder, joined in _FOLDERS.items():
        for file in (files("tenantry_site") / "templates" / folder).iterdir():
            text = file.read_text(encoding="utf-8")
            texts[f"{folder}/{file.name}"] = _LINE_BREAK.sub("", text) if joined else text
    environment = Environment(
        loader=DictLoader(texts),
        autoescape=True,
        auto_reload=False,
        cache_size=-1,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["attributes"] = attributes
    return environment


def attributes(given: Mapping[str, object]) -> Markup:
    """Attributes, each with the space before it: those that are True without a value, those that are False not."""
    written = [
        f" {escape(name)}" if value is True else f' {escape(name)}="{escape(value)}"'
        for name, value in given.items()
        if value is not False
    ]
    return Markup("".join(written))  # noqa: S704  # names and values are escaped
