"""Renders the Jinja templates of the folder ``templates/``.

Templates are compiled when first used. Values are escaped unless they are ``Markup``. In the folders for page content
(``components``, ``markdown``, ``reference``), line breaks and the whitespace around them are removed from the
templates; write ``{{ " " }}`` for a space at a line's end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from jinja2 import DictLoader, Environment, StrictUndefined, Template
from markupsafe import Markup, escape

_FOLDERS = {"app": False, "components": True, "markdown": True, "outputs": False, "reference": True, "theme": False}
"""Folder of templates -> whether the lines of its templates are joined."""
_LINE_BREAK = re.compile(r"\s*\n\s*")


def render_template(name: str, /, **values: object) -> Markup:
    """Render a template, named by its path in ``templates/`` without ``.html`` (``components/card``), to safe HTML."""
    return Markup(_template(name).render(values))  # noqa: S704  # escaped by the template


@cache
def _template(name: str) -> Template:
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
    """HTML attributes, each with a leading space. True writes the bare name; False omits the attribute."""
    written = [
        f" {escape(name)}" if value is True else f' {escape(name)}="{escape(value)}"'
        for name, value in given.items()
        if value is not False
    ]
    return Markup("".join(written))  # noqa: S704  # names and values are escaped
