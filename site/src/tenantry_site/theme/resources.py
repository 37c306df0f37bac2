"""Resources: the theme's templates and the design tokens, out of the package."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from jinja2 import DictLoader, Environment, StrictUndefined

_TOKEN = re.compile(r"--([a-z0-9-]+):\s*([^;]+);")


@cache
def environment() -> Environment:
    """The templates, each compiled when it is first asked for, with every value escaped."""
    folder = files("tenantry_site.theme") / "templates"
    texts = {each.name: each.read_text(encoding="utf-8") for each in folder.iterdir() if each.name.endswith(".html")}
    return Environment(
        loader=DictLoader(texts), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


@cache
def tokens() -> tuple[dict[str, str], dict[str, str]]:
    """The values of the tokens that differ between the modes, by their names: light, dark."""
    text = (files("tenantry") / "static" / "tokens.css").read_text(encoding="utf-8")
    light, dark, *_ = re.split(r"^@media", text, flags=re.MULTILINE)
    of_dark = dict(_TOKEN.findall(dark))
    return {name: value for name, value in _TOKEN.findall(light) if name in of_dark}, of_dark
