"""Code generation: no text of the author reaches exec but as a string literal."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenantry.errors import TemplateError
from tenantry.sql import DIALECTS, SQLTemplate
from tenantry.sql import template as template_module
from tenantry.sql.binding.codegen import Bind, _FunctionWriter, generate
from tenantry.sql.binding.paramstyles import PARAMSTYLES, Paramstyle
from tenantry.sql.binding.renderer import Interpreter
from tenantry.sql.dialects import Dialect
from tenantry.sql.parsing.parser import parse
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import Tree

OWN_NAMES = {"v", "p", "s", "k", "bind", "new", "BoundSQL", "UNREADABLE", "cached", "render", "all_bindable"} | {
    *("type", "len", "dict", "zip", "str", "int", "only", "only_names", "LISTS", "record_values", "BINDABLE"),
    "interpret",
}


def names_in(code: str) -> set[str]:
    """Every identifier and attribute in some Python code."""
    tree = ast.parse(code)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names | {f".{node.attr}" for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def code_of(text: str, dialect: str, paramstyle: str) -> str:
    profile = DIALECTS[dialect]
    return _FunctionWriter(parse(Source(text), profile), profile, PARAMSTYLES[paramstyle]).write()


def is_ours(name: str) -> bool:
    numbered = name[0] in "rmbqtg" and name[1:].isdecimal()
    return numbered or name in OWN_NAMES or name in {".isprintable", ".join", ".get"}


@pytest.mark.parametrize(
    "hostile",
    [
        "'); import os; ('",
        '"""\nimport os\n"""',
        "\\ ",
        "\\'",
        "{x}",
        "%s",
        "\n\r\t",
        "\u2028",
        "#",
        "'''",
        "{{{{",
        "é\x7f",
    ],
)
def test_hostile_literals_stay_literals(hostile: str) -> None:
    """The text of a concatenated literal is data in the code and reaches the parameter. Red when `repr` is left out."""
    quoted = hostile.replace("'", "''").replace("{{", "\\{{")
    text = f"select '{quoted}{{{{ x }}}}', '{{{{ x }}}}{quoted}', a /* {quoted.replace('*/', '')} */"
    assert SQLTemplate(text, "sqlite").bind({"x": "-"}).params == (hostile + "-", "-" + hostile)
    assert all(is_ours(name) for name in names_in(code_of(text, "sqlite", "named")))


@given(
    parts=st.lists(
        st.sampled_from(
            [
                *("{{ a }}", "{{ class }}", "{{ v.p.__x }}", "{{ import.os }}", "'{{ a }}x'", "'", "[[ ", " ]]"),
                *("{{ params.x }}", " in {{ l }}", "not in ({{ l.m }})", "\n", " ", "os.system('x')", "\\", '"', "é"),
                *("limit {{ n }}", "%", ")", "("),
            ]
        ),
        max_size=12,
    ),
    dialect=st.sampled_from(sorted(DIALECTS)),
    paramstyle=st.sampled_from(sorted(PARAMSTYLES)),
)
@settings(max_examples=300, deadline=None)
def test_generated_code_holds_only_our_names(parts: list[str], dialect: str, paramstyle: str) -> None:
    """Whatever the template, the code's identifiers are those of the generator."""
    try:
        code = code_of("".join(parts), dialect, paramstyle)
    except TemplateError:
        return
    assert {name for name in names_in(code) if not is_ours(name)} == set()


@pytest.mark.parametrize("name", ["class", "v", "p", "interpret", "None", "r0", "ünïcode", "a1", "import"])
def test_any_name_can_be_a_variable(name: str) -> None:
    """Python's keywords and the generator's own names are names like others."""
    template = SQLTemplate(f"select f({{{{ {name} }}}}, {{{{ x.{name} }}}}, {{{{ x.y }}}})", "sqlite")
    assert template.bind({name: 1, "x": {name: 2, "y": 3}}).params == (1, 2, 3)


def test_a_path_and_its_prefix_can_both_be_named() -> None:
    """One of them cannot have a value then, and says so."""
    from tenantry.errors import MissingVariable

    template = SQLTemplate("select {{ a }} as v, {{ a.b }} as v, {{ a.c }} as v", "sqlite")
    with pytest.raises(MissingVariable) as caught:
        template.bind({"a": "text"})
    assert caught.value.names == ("a.b", "a.c")


def test_what_is_bound_once_makes_no_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first bind is interpreted, the second makes the function, once for each dialect and style; all give the same
    text, and the same object. Red when the first makes it, and when no later one does."""
    made: list[str] = []

    def counted(tree: Tree, dialect: Dialect, style: Paramstyle, interpreter: Interpreter) -> Bind:
        made.append(style.name)
        return generate(tree, dialect, style, interpreter)

    monkeypatch.setattr(template_module, "_INTERPRETS_FIRST", True)
    monkeypatch.setattr(template_module, "generate", counted)
    template = SQLTemplate("select a from t where b = {{ b }} and c in {{ c }} [[ and d = {{ params.d }} ]]", "sqlite")
    values = {"b": 1, "c": ["x", "y"], "params": {"d": 2}}
    for style, before in (("qmark", []), ("named", ["qmark"])):
        first = template.bind(values, style)
        assert made == before
        second = template.bind(values, style)
        third = template.bind(values, style, dialect="sqlite")
        assert made == [*before, style]
        assert first == second == third
        assert first.sql is second.sql is third.sql
