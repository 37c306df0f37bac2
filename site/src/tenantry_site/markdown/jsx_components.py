"""Reads components that authors write in JSX, and fills in their attributes. No code is run.

A component can be shown if it only returns JSX, and if each expression in it is a literal, an attribute, ``children``,
or a choice of these and of JSX: ``attribute && …``, ``attribute ? … : …``. A condition may compare an attribute with a
literal, and ``&&`` may join conditions.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from tenantry_site.markdown.literals import MAX_DEPTH, NotLiteral, closing_brace, literal, literal_at
from tenantry_site.page import AttributeValue

CHILDREN: Final = "jsx:children"
"""The name of the tag that ``filled`` writes for ``{children}``."""

SUFFIXES: Final = (".jsx", ".tsx")

DEFINITION: Final = re.compile(
    r"""^(?:export[ ]+)?(default[ ]+)?
    (?: (?:const|let|var)[ ]+([A-Z]\w*)\s*(?::[^=\n]{1,200})?=\s* | function[ ]+([A-Z]\w*)\s* )
    \(\s*(?: \{([^{}]{0,2000})\} | (\w*) )\s*(?::[^)]{0,500})?\)\s*(?:=>\s*)?""",
    re.MULTILINE | re.VERBOSE,
)
_NEXT: Final = re.compile(r"^(?:export|import|const|function)\b", re.MULTILINE)
_DEFAULT: Final = re.compile(r"^export[ ]+default[ ]+([A-Z]\w*)", re.MULTILINE)
_RETURNED: Final = re.compile(r"\{\s*return\b(.*)\}", re.DOTALL)
_CONDITION: Final = re.compile(r"(!?)([\w.]+)\s*(?:([=!]==?)(?!=))?")
_OPERATOR: Final = re.compile(r"\s*(?:(&&)|\?(?![?.]))\s*")
_TAG: Final = re.compile(
    r"""<(/?)[\w.]*+ (?: [^<>"'{}/]++ | "[^"]*+" | '[^']*+' | \{(?:[^{}]|\{[^{}]*+\})*+\} | /(?!>) ){0,400}+ (/?)>""",
    re.VERBOSE,
)
_PARENTHESIS: Final = re.compile(r"(\))|\(()")
_COLON: Final = re.compile(r"\s*:")
_SPREAD: Final = "{…}"
_MOST: Final = 200
_LONGEST: Final = 20_000


class _Names(dict[str, AttributeValue]):
    """The values of names. ``undefined``: those that are undefined in JavaScript. Other names that are None may also be
    null."""

    undefined: Container[str] = ()


@dataclass(frozen=True, slots=True)
class JsxComponent:
    """A component. ``parameters``: the names of its parameters. ``defaults``: parameter -> the source of its default
    value. ``props``: the name of the object with all attributes, if the component has one. ``body``: the JSX that it
    returns; empty if it does more than that."""

    key: str
    parameters: tuple[str, ...]
    defaults: Mapping[str, str]
    props: str
    body: str

    def filled(
        self, attributes: Mapping[str, AttributeValue], expressions: Container[str] = ()
    ) -> tuple[str, dict[str, AttributeValue]]:
        """The JSX for these attributes, and the values of the names in it. ``expressions``: the attributes whose values
        are not literals. Raises ``NotLiteral`` if an expression would have to be evaluated."""
        if not self.body or len(self.body) > _LONGEST or _SPREAD in expressions:
            raise NotLiteral
        named = {name: name for name in self.parameters}
        if self.props:
            named |= {f"{self.props}.{name}": name for name in re.findall(rf"\b{self.props}\.(\w+)", self.body)}
        names = _Names()
        names.undefined = {name for name, at in named.items() if at not in attributes and name not in self.defaults}
        for name, at in named.items():
            value = attributes.get(at)
            # The use of a name that is left out here raises NotLiteral
            if at not in attributes and name in self.defaults:
                with suppress(NotLiteral):
                    names[name] = literal(self.defaults[name], {})
            elif at not in expressions and (value is not None or name not in self.defaults):
                names[name] = value
        return _filled(self.body, names, 0), names


def definition_end(text: str, at: int) -> int:
    """The offset of the next statement at the beginning of a line after the component that begins at ``at``."""
    following = _NEXT.search(text, at + 1)
    return following.start() if following else len(text)


def components(text: str, path: str) -> dict[str, JsxComponent]:
    """Name -> component, for all components that a file defines. ``default``: the default export."""
    found: dict[str, JsxComponent] = {}
    for number, definition in enumerate(DEFINITION.finditer(text)):
        if number >= _MOST:
            break
        default, variable, function, parameters, props = definition.groups()
        name = variable or function
        body = _returned(text[definition.end() : definition_end(text, definition.start())])
        found[name] = JsxComponent(f"{path}#{name}", *_parameters(parameters or ""), props or "", body)
        if default:
            found["default"] = found[name]
    named = _DEFAULT.search(text)
    if named is not None and named[1] in found:
        found["default"] = found[named[1]]
    return found


def _parameters(written: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """The names of the parameters, and the sources of their default values."""
    parts = [[part.strip() for part in parameter.partition("=")] for parameter in written.split(",")]
    return tuple(name for name, _, _ in parts if name), {name: default for name, _, default in parts if default}


def _returned(code: str) -> str:
    """The JSX that a function returns; empty if it contains other statements."""
    bare = code.strip().rstrip(";").rstrip()
    if (block := _RETURNED.fullmatch(bare)) is not None:
        bare = block[1].strip().rstrip(";").rstrip()
    bare = _without_parentheses(bare)
    return bare if bare.startswith("<") and bare.endswith(">") else ""


def _without_parentheses(code: str) -> str:
    return code[1:-1].strip() if code.startswith("(") and code.endswith(")") else code


def _filled(text: str, names: _Names, depth: int) -> str:
    if depth > MAX_DEPTH:
        raise NotLiteral
    parts: list[str] = []
    at = 0
    while (brace := text.find("{", at)) >= 0:
        close = closing_brace(text, brace, len(text))
        if close < 0:
            raise NotLiteral
        inner = text[brace + 1 : close].strip()
        parts.append(text[at:brace])
        is_attribute = text[:brace].rstrip().endswith("=")
        parts.append(_expression(inner, names, depth, is_attribute=is_attribute))
        at = close + 1
    return "".join([*parts, text[at:]])


def _expression(inner: str, names: _Names, depth: int, *, is_attribute: bool) -> str:
    if depth > MAX_DEPTH:
        raise NotLiteral
    if not is_attribute:
        if inner in names and inner.rpartition(".")[2] == "children":
            return f"<{CHILDREN} />"
        if inner.startswith("/*") and inner.endswith("*/"):
            return ""
    chosen = _chosen(inner, names)
    if chosen is None:
        literal(inner, names)
        return f"{{{inner}}}"
    chosen = _without_parentheses(chosen.strip())
    if chosen == "null" and not is_attribute:
        return ""  # a rest of it could make a line that is not blank
    if chosen.startswith("<") and not is_attribute:
        if _operand_end(chosen, 0, names) != len(chosen):
            raise NotLiteral
        return _filled(chosen, names, depth + 1)
    return _expression(chosen, names, depth + 1, is_attribute=is_attribute)


def _chosen(inner: str, names: _Names) -> str | None:
    """The part of ``a && b`` or ``a ? b : c`` that JSX shows; None for other expressions. ``a`` may be conditions that
    ``&&`` joins."""
    at, false, operator = 0, "", None
    while (found := _condition(inner, at, names)) is not None:
        false, operator = false or found[0], found[1]
        at = operator.end()
        if not operator[1]:
            break
    if operator is None:
        return None
    end = _operand_end(inner, at, names)
    if operator[1]:
        if inner[end:].strip():
            raise NotLiteral
        return false or inner[at:end]
    colon = _COLON.match(inner, end)
    if colon is None:
        raise NotLiteral
    return inner[colon.end() :] if false else inner[at:end]


def _condition(text: str, at: int, names: _Names) -> tuple[str, re.Match[str]] | None:
    """What JSX shows for the condition at ``at``, and the operator after it; None if no operator follows. A condition
    that holds is ``""``; other conditions are ``null``, and the number 0 is ``0``."""
    condition = _CONDITION.match(text, at)
    if condition is None:
        return None
    at = condition.end()
    if condition[3]:
        start = at
        other, at = literal_at(text, at, names)
        compared = text[start:at].strip()
    operator = _OPERATOR.match(text, at)
    if operator is None:
        return None
    if condition[2].rpartition(".")[2] == "children" or (condition[1] and condition[3]):
        raise NotLiteral  # whether there are contents is not known here
    value = literal(condition[2], names)
    if not condition[3]:
        is_zero = not condition[1] and _type(value) is float and not value
        holds = (bool(value) or isinstance(value, (list, dict))) != bool(condition[1])
        return "" if holds else "0" if is_zero else "null", operator
    if value is None and other is None and len(condition[3]) == 3:
        if compared not in ("null", "undefined") or condition[2] not in names.undefined:
            raise NotLiteral
        is_equal = compared == "undefined"
    else:
        is_equal = _is_equal(value, other, converts=len(condition[3]) == 2)
    return "" if is_equal == condition[3].startswith("=") else "null", operator


def _is_equal(value: AttributeValue, other: AttributeValue, *, converts: bool) -> bool:
    """Whether JavaScript calls two values equal. ``converts``: by ``==``, which converts values of different types.
    Raises ``NotLiteral`` if that is not known here."""
    if isinstance(value, (list, dict)) or isinstance(other, (list, dict)):
        raise NotLiteral
    if value is not None and other is not None and converts and _type(value) is not _type(other):
        raise NotLiteral
    return value == other and _type(value) is _type(other)


def _type(value: AttributeValue) -> type:
    """The type in JavaScript, which has one type for all numbers."""
    return float if type(value) is int else type(value)


def _operand_end(text: str, at: int, names: Mapping[str, AttributeValue]) -> int:
    if not text.startswith(("<", "("), at):
        return literal_at(text, at, names)[1]
    marks = _TAG if text[at] == "<" else _PARENTHESIS
    depth = 0
    for mark in marks.finditer(text, at):
        depth += 0 if mark[2] else -1 if mark[1] else 1
        if depth == 0:
            return mark.end()
    raise NotLiteral
