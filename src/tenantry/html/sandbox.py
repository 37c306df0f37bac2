from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Final, NoReturn

import jinja2
from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import SecurityError
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from tenantry.errors import Location, MissingVariable, TemplateError, UnbindableValue
from tenantry.groups import Record, RecordList
from tenantry.html.filters import check_format, dashboard_filters, dashboard_tests
from tenantry.html.proxies import HIDDEN, Missing, VariablesContext

_OURS: Final = frozenset({"jinja2", "markupsafe"}) | sys.stdlib_module_names
_RAISED: Final = frozenset({"builtins", "decimal"})

_ADVICE: Final[dict[type[Exception], str]] = {
    ZeroDivisionError: "a division by zero: test the divisor with {% if … %} first",
    RecursionError: "macros, blocks or includes call each other endlessly",
    MemoryError: "there is not enough memory for this page: show less on one page",
}


def from_syntax_error(error: jinja2.TemplateSyntaxError, source: str | None = None) -> TemplateError:
    where = f"{error.name}, line {error.lineno}" if error.name else f"line {error.lineno}"
    lines = (error.source or source or "").splitlines()
    shown = f"\n    {lines[error.lineno - 1].strip()}" if 0 < error.lineno <= len(lines) else ""
    return TemplateError(f"{where}: {error.message}{shown}", location=Location(error.lineno, 1))


def from_exception(error: Exception) -> TemplateError | None:
    """Convert a template's error to a TemplateError whose message contains no values. Returns None if other code caused
    the error."""
    if type(error).__module__ not in _RAISED or isinstance(error, OSError) or not _is_of_template(error.__traceback__):
        return None
    problem = _ADVICE.get(type(error))
    if problem is None:
        kind = f"{type(error).__name__}: {error}" if isinstance(error, TypeError) else type(error).__name__
        problem = f"the template cannot process a value ({kind}): test the value first, or prepare it in the view"
    where, location = template_location(error)
    return TemplateError(problem + where, location=location)


def template_location(error: BaseException) -> tuple[str, Location | None]:
    """Return where the innermost template failed: its name and line as text, and the line as a Location."""
    where, location, trace = "", None, error.__traceback__
    while trace is not None:
        template = _template(trace)
        if template is not None:
            line = template.get_corresponding_lineno(trace.tb_lineno)
            where = f" ({template.name}, line {line})" if template.name else f" (line {line})"
            location = Location(line, 1)
        trace = trace.tb_next
    return where, location


def _template(trace: TracebackType) -> jinja2.Template | None:
    template = trace.tb_frame.f_globals.get("__jinja_template__")
    return template if isinstance(template, jinja2.Template) else None


def _is_of_template(trace: TracebackType | None) -> bool:
    own = False
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        if _template(trace) is not None:
            own = True
        elif module.partition(".")[0] not in _OURS and not module.startswith(("tenantry.html", "tenantry.groups")):
            own = False
        trace = trace.tb_next
    return own


MAX_OUTPUT = 8 * 1024 * 1024
"""Maximum length of a page in characters. The output of a macro or ``set`` block counts when it is printed."""

TEXT_METHODS = frozenset({
    "capitalize", "casefold", "count", "endswith", "find", "isalpha", "isdigit", "islower", "isupper", "lower",
    "lstrip", "removeprefix", "removesuffix", "rstrip", "split", "startswith", "strip", "title", "upper",
})  # fmt: skip
"""String methods that templates may call. None of them formats or repeats strings."""

MAX_NESTED_LOOPS: Final = 16
"""Maximum depth of loops. Python compiles at most 20 nested blocks."""

_CONTAINERS = frozenset({dict, list, tuple, set, frozenset})
_BUILTIN = (str, bytes, bytearray, int, float, complex)
_MAX_BITS = 1024
_TOO_LARGE = (SyntaxError, RecursionError, MemoryError, OverflowError, ValueError)
"""Errors of Python's or Jinja's compiler for a template that is too large or too deep."""


class Computed:
    """A computed subscript, as in ``row[name]``. Errors hide the key."""

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key: Any = key


def bounded_join(pieces: Iterable[str]) -> str:
    """Join the pieces of a page. Raises TemplateError above MAX_OUTPUT characters."""
    source, parts, length = iter(pieces), [], 0
    while chunk := list(itertools.islice(source, 64)):
        parts.append("".join(chunk))
        length += len(parts[-1])
        if length > MAX_OUTPUT:
            raise TemplateError(
                f"the page is longer than {MAX_OUTPUT:,} characters (MAX_OUTPUT): show less on one page"
            )
    return "".join(parts)


def printable(value: Any) -> Any:
    """Return null as an empty string, a boolean as ``true`` or ``false``, and other values unchanged. Raises
    UnbindableValue for a container."""
    if value is None:
        return ""
    if value is True or value is False:
        return "true" if value else "false"
    if type(value) in _CONTAINERS:
        kind = type(value).__name__
        raise UnbindableValue(
            f"a {kind} cannot be printed: print one of its values, or use |join or |tojson", name=kind
        )
    return value


class FiniteNumbers(CodeGenerator):
    """Refuses numbers that Jinja's compiler would turn into the name ``inf``."""

    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:  # noqa: N802  # Jinja's name
        if not _is_finite(node.value):
            self.fail("this number is too large: numbers go up to 1.7e308", node.lineno)
        super().visit_Const(node, frame)


def _is_finite(value: Any) -> bool:
    if isinstance(value, list | tuple | set | frozenset):
        return all(map(_is_finite, value))
    if isinstance(value, dict):
        return all(map(_is_finite, (*value.keys(), *value.values())))
    return not isinstance(value, float) or math.isfinite(value)


class DashboardEnvironment(ImmutableSandboxedEnvironment):
    intercepted_binops: frozenset[str] = frozenset({"*", "**", "%"})
    context_class: type[Context] = VariablesContext
    code_generator_class: type[CodeGenerator] = FiniteNumbers
    concat: Callable[[Iterable[str]], str] = staticmethod(bounded_join)
    computed = Computed

    def __init__(self, loader: jinja2.BaseLoader | None = None, *, enable_async: bool = False) -> None:
        super().__init__(
            loader=loader, autoescape=True, undefined=Missing, finalize=printable, enable_async=enable_async
        )
        self.filters: dict[str, Any] = dashboard_filters()
        self.tests: dict[str, Any] = dashboard_tests()
        # range, lipsum, cycler …: properties may have these names, and some of these functions can exhaust memory
        self.globals.clear()

    def getattr(self, obj: Any, attribute: str) -> Any:
        return self._item(obj, attribute) if isinstance(obj, Record | RecordList) else super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        key = argument.key if isinstance(argument, Computed) else argument
        value = self._item(obj, key) if isinstance(obj, Record | RecordList) else super().getitem(obj, key)
        if key is not argument and isinstance(value, jinja2.Undefined):
            return self.undefined(obj=obj, name=HIDDEN)
        return value

    def _item(self, obj: Any, key: Any) -> Any:
        try:
            return obj[key]
        except (LookupError, TypeError):
            return self.undefined(obj=obj, name=key)

    def wrap_str_format(self, value: Any) -> None:
        """Return None, so that ``is_safe_attribute`` refuses ``str.format``."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        for builtin in _BUILTIN:
            if isinstance(obj, builtin) and (hasattr(builtin, attr) or hasattr(Markup, attr)):
                return builtin is str and attr in TEXT_METHODS
        return super().is_safe_attribute(obj, attr, value)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Raises SecurityError for ``**``, and for an operation whose result is huge."""
        if operator == "**":
            raise SecurityError("'**' is not available: compute the power in the view")
        if operator == "*" and (_is_sized(left) or _is_sized(right) or _bits(left) + _bits(right) > _MAX_BITS):
            raise SecurityError(
                f"'*' multiplies only numbers, and their product may have at most {_MAX_BITS} bits: "
                "compute the value in the view"
            )
        if operator == "%" and isinstance(left, str | bytes):
            check_format(left)
        return super().call_binop(context, operator, left, right)

    def handle_exception(self, source: str | None = None) -> NoReturn:
        error = sys.exc_info()[1]
        if isinstance(error, jinja2.TemplateSyntaxError):
            raise from_syntax_error(error, source) from None
        if isinstance(error, MissingVariable | UnbindableValue):
            error.args = (error.message + template_location(error)[0],)
            raise error
        if isinstance(error, TemplateError) and error.location is None:
            where, error.location = template_location(error)
            error.args = (error.message + where,)
            raise error
        if isinstance(error, jinja2.TemplateError):
            where, location = template_location(error)
            raise TemplateError((error.message or type(error).__name__) + where, location=location) from None
        if isinstance(error, Exception) and (own := from_exception(error)) is not None:
            raise own from None
        super().handle_exception(source)

    def compile(
        self, source: Any, name: Any = None, filename: Any = None, raw: Any = False, defer_init: Any = False
    ) -> Any:
        try:
            return super().compile(source, name, filename, raw, defer_init)
        except _TOO_LARGE as error:
            kind = type(error).__name__
            raise TemplateError(
                f"this template cannot be compiled ({kind}): split its long expressions and deeply nested blocks"
            ) from None

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        parser = Parser(self, source, name, filename)
        try:
            tree = parser.parse()
        except (RecursionError, ValueError, OverflowError):
            line = parser.stream.current.lineno
            problem = "an expression is too deep, or a number too long: compute it in the view"
            raise jinja2.TemplateSyntaxError(problem, line, name, filename) from None
        for node in tree.find_all((nodes.EvalContextModifier, *_LOADING)):
            if isinstance(node, nodes.EvalContextModifier):
                raise jinja2.TemplateSyntaxError("escaping cannot be switched off", node.lineno, name, filename)
            if self.loader is None:
                raise jinja2.TemplateSyntaxError(
                    "this template cannot load other templates: use create_environment(loader)",
                    node.lineno,
                    name,
                    filename,
                )
        for item in list(tree.find_all(nodes.Getitem)):
            if not isinstance(item.arg, nodes.Const | nodes.Slice | nodes.Neg):
                maker = nodes.EnvironmentAttribute("computed", lineno=item.arg.lineno)
                item.arg = nodes.Call(maker, [item.arg], [], None, None, lineno=item.arg.lineno)
                item.arg.set_environment(self)
        self._require_flat(tree, 0, name, filename)
        return tree

    def _require_flat(self, node: nodes.Node, depth: int, name: str | None, filename: str | None) -> None:
        if depth > MAX_NESTED_LOOPS:
            problem = f"more than {MAX_NESTED_LOOPS} loops are nested: prepare the list in the view"
            raise jinja2.TemplateSyntaxError(problem, node.lineno, name, filename)
        for child in node.iter_child_nodes():
            self._require_flat(child, depth + isinstance(child, nodes.For), name, filename)


_LOADING = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)


def create_environment(loader: jinja2.BaseLoader | None = None, *, enable_async: bool = False) -> DashboardEnvironment:
    """Create a Jinja environment for dashboard templates, also for ``Jinja2Templates(env=…)``.
    - Every value is escaped; there is no filter ``safe``.
    - A missing variable raises MissingVariable, except in ``is defined`` and ``|default(…)``.
    - A bare name is looked up in the template's own variables, the view's variables, the environment's ``globals`` and
      the group's properties, in this order. If a property has the name of a Jinja keyword, write
      ``user_group.properties["not"]``.
    - null prints nothing, and a boolean prints as in JSON. Printing an object or a list is an error.
    - Jinja's errors are raised as TemplateError, except TemplateNotFound, which ``get_template`` raises.

    Escaping makes values safe in HTML text and in quoted attributes. Inside ``<script>``, use ``|tojson``. Do not print
    tenants' values in unquoted attributes, event handlers or styles. Check tenants' values before you print them in
    ``href`` or ``src``. The sandbox refuses ``**``, ``*`` on strings and lists, widths above 99 in formats, and pages
    longer than MAX_OUTPUT characters. It does not limit how long loops run.
    """
    return DashboardEnvironment(loader, enable_async=enable_async)


def _is_sized(value: Any) -> bool:
    return hasattr(type(value), "__len__") and not isinstance(value, jinja2.Undefined)


def _bits(value: Any) -> int:
    return value.bit_length() if isinstance(value, int) else 0
