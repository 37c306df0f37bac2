"""What goes wrong in a template becomes a TemplateError with its line; what goes wrong in the view passes."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Final

import jinja2

from tenantry.errors import Location, TemplateError

_OURS: Final = frozenset({"jinja2", "markupsafe"}) | sys.stdlib_module_names
_RAISED: Final = frozenset({"builtins", "decimal"})

_ADVICE: Final[dict[type[Exception], str]] = {
    ZeroDivisionError: "a division by zero: ask {% if … %} first",
    RecursionError: "macros, blocks or includes call each other without an end",
    MemoryError: "there is not enough memory for this page: show less at once",
}


def from_syntax_error(error: jinja2.TemplateSyntaxError, source: str | None = None) -> TemplateError:
    """An error of Jinja's compiler as ours: the template's name, the line, and its text."""
    where = f"{error.name}, line {error.lineno}" if error.name else f"line {error.lineno}"
    lines = (error.source or source or "").splitlines()
    shown = f"\n    {lines[error.lineno - 1].strip()}" if 0 < error.lineno <= len(lines) else ""
    return TemplateError(f"{where}: {error.message}{shown}", location=Location(error.lineno, 1))


def from_exception(error: Exception) -> TemplateError | None:
    """A TemplateError for a plain exception that the template's own text caused: a division by zero, a filter on a
    value of another type. None for what a function or an object of the view raised: that is the view's own affair.

    The message never quotes a value: Python's own text is used where it names types only.
    """
    if type(error).__module__ not in _RAISED or isinstance(error, OSError) or not _is_of_template(error.__traceback__):
        return None
    what = _ADVICE.get(type(error))
    if what is None:
        kind = f"{type(error).__name__}: {error}" if isinstance(error, TypeError) else type(error).__name__
        what = f"a value does not fit what the template does with it ({kind}): test it first, or prepare it in the view"
    where, location = error_location(error)
    return TemplateError(what + where, location=location)


def error_location(error: BaseException) -> tuple[str, Location | None]:
    """Which template, and which of its lines, an error came from: the innermost template of its traceback."""
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
    """Whether all frames below the innermost template are its own, ours, Jinja's or the standard library's."""
    own = False
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        if _template(trace) is not None:
            own = True
        elif module.partition(".")[0] not in _OURS and not module.startswith(("tenantry.html", "tenantry.groups")):
            own = False
        trace = trace.tb_next
    return own
