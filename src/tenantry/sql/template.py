"""SQLTemplate: SQL with ``{{ variables }}`` in it, whose values are only ever bound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from types import MappingProxyType
from typing import Any

from tenantry.errors import TemplateError
from tenantry.groups import Record
from tenantry.sql.codegen import Bind, generate
from tenantry.sql.dialects import DIALECTS, Dialect, dialect_named
from tenantry.sql.parameter_checks import check_parameters
from tenantry.sql.parameter_conversion import ParameterConversion
from tenantry.sql.parameter_definitions import declare
from tenantry.sql.parameters import Parameter
from tenantry.sql.paramstyles import BoundSQL, check_placeholder_conflicts, paramstyle_named
from tenantry.sql.parser import PATH, parse
from tenantry.sql.syntax_tree import Position, Source, Tree, VariableReference
from tenantry.sql.tenant_guard import droppable, enforce_tenant_guard, is_guarded

DEFAULT_DIALECT = "postgresql"


@dataclass(frozen=True, slots=True)
class Variable:
    """One tag of a template: its path, its location, and what its position makes of it.

    ``optional``: it is inside ``[[ ]]``; ``guarded``: it is the group's and not declared optional, so
    its absence never drops a clause; ``not_a_filter``: its author marked it so.
    """

    path: str
    line: int
    column: int
    position: Position
    optional: bool
    guarded: bool
    not_a_filter: bool = False


class SQLTemplate:
    """SQL with ``{{ path }}``, ``[[ optional clauses ]]`` and ``\\{{`` (docs/sql.md).

    No choice of a viewer changes which variables of the group are in the bound text: in ``[[ ]]`` are ``params.*``,
    paths of ``optional``, and what its author marked ``{{ rate | not_a_filter }}``; see ``droppable``.

    The text is compiled for a dialect when it is first bound for it, or at once when ``dialect`` (``postgresql``,
    ``sqlite``, ``duckdb``, ``mysql``) is given; compile errors are TemplateErrors with line, column, caret and fix.
    ``optional`` names paths that the group may lack: their clauses in ``[[ ]]`` are then dropped. ``params`` declares
    what a viewer may choose, by name (docs/sql-parameters.md): its values are then typed before they are bound.

    An empty list is a list: its condition stays in the text and means what it says. ``in`` nothing is true of no row;
    ``not in`` nothing is true of every row, NULL included, since nothing is excluded (``not (a in …)`` and
    ``a not in …`` always agree). So a filter that lets a group in is written with ``in``. A list that is missing or
    null is an error, never an empty one.
    """

    __slots__ = ("_binds", "_conversion", "_lock", "_own", "_source", "_trees", "dialect", "optional", "parameters")

    def __init__(
        self,
        text: str,
        dialect: str | None = None,
        *,
        optional: Iterable[str] = frozenset(),
        params: Mapping[str, Any] | None = None,
    ) -> None:
        self._source = Source(text)
        self.dialect: str | None = dialect
        if isinstance(optional, str):
            raise TypeError("optional is a set of paths, not one string: optional={'discount'}")
        self.optional: frozenset[str] = frozenset(optional)
        for path in self.optional:
            if not PATH.fullmatch(path):
                raise ValueError(f"optional names {path!r}, which is not a path: names joined by dots")
        self.parameters: Mapping[str, Parameter] = MappingProxyType(declare(params or {}))
        self._conversion = ParameterConversion(self.parameters) if self.parameters else None
        self._trees: dict[str, Tree] = {}
        self._binds: dict[tuple[str, str | None], Bind] = {}
        self._own: dict[str | None, Bind] = {}
        self._lock = Lock()
        if dialect is not None:
            self._tree(dialect_named(dialect))

    @property
    def text(self) -> str:
        """The template as it was written."""
        return self._source.text

    @property
    def uses_clock(self) -> bool:
        """Whether ``bind`` needs ``now``: a parameter is a range."""
        return self._conversion is not None and self._conversion.uses_clock

    def bind(
        self,
        variables: Mapping[str, Any] | Record,
        paramstyle: str | None = None,
        *,
        dialect: str | None = None,
        now: datetime | None = None,
    ) -> BoundSQL:
        """The SQL text and its parameters for some variables, read by ``[…]`` only.

        ``dialect`` defaults to the template's, else ``postgresql``; ``paramstyle`` to that of the dialect's usual
        driver: postgresql ``numeric_dollar`` (asyncpg), sqlite and duckdb ``qmark``, mysql ``format``. The text depends
        on which clauses are included and on the lengths of lists, and on nothing else. ``now``, a time with a zone, is
        what relative ranges begin or end with: templates that declare a range need it.

        Raises InvalidParameter, one for all declared parameters whose values they do not take; MissingVariable, one for
        all variables that are missing or None; UnbindableValue for a value that cannot be where the template names it;
        TemplateError if the text cannot be compiled; ValueError for an unknown dialect or paramstyle, or where ``now``
        is needed.
        """
        try:  # the fast path for the template's own dialect
            bind = self._own[paramstyle] if dialect is None else self._binds[dialect, paramstyle]
        except KeyError:
            bind = self._compile(dialect, paramstyle)
        if self._conversion is None:
            return bind(variables)
        profile = dialect_named(dialect or self.dialect or DEFAULT_DIALECT)
        bound = bind(self._conversion.convert(variables, profile, now))
        return bound._replace(reads_group=True) if self._conversion.reads_group else bound

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Every tag in the order of the text: for the template's dialect, else the first one that takes the text."""
        tree = self._own_tree()
        return tuple(map(self._variable, tree.references))

    @property
    def droppable(self) -> tuple[Variable, ...]:
        """The variables of the group that a viewer's choice can take out of the text, in its order: those in an
        optional clause with a ``params.*``, which are marked ``not_a_filter`` or declared optional. A review of
        templates looks at these; ``tenantry sql check`` prints them."""
        return tuple(map(self._variable, droppable(self._own_tree())))

    def __repr__(self) -> str:
        return f"<SQLTemplate {self.text[:60]!r}{'…' if len(self.text) > 60 else ''}>"

    def _variable(self, reference: VariableReference) -> Variable:
        at = self._source.location(reference.offset)
        guarded = is_guarded(reference, self.optional)
        inside = reference.clauses > 0
        return Variable(reference.path, at.line, at.column, reference.position, inside, guarded, reference.not_a_filter)

    def _own_tree(self) -> Tree:
        if self.dialect is not None:
            return self._tree(dialect_named(self.dialect))
        first: TemplateError | None = None
        for dialect in DIALECTS.values():  # postgresql is the first
            try:
                return self._tree(dialect)
            except TemplateError as error:
                first = first or error
        raise first if first is not None else AssertionError("there are dialects")

    def _tree(self, dialect: Dialect) -> Tree:
        tree = self._trees.get(dialect.name)
        if tree is None:
            tree = parse(self._source, dialect, self.optional, self.parameters)
            if self.parameters:
                check_parameters(self._source, tree, self.parameters)
            enforce_tenant_guard(self._source, dialect, tree, self.optional)
            self._trees[dialect.name] = tree
        return tree

    def _compile(self, dialect: str | None, paramstyle: str | None) -> Bind:
        profile = dialect_named(dialect or self.dialect or DEFAULT_DIALECT)
        style = paramstyle_named(paramstyle or profile.paramstyle)
        with self._lock:  # one function for each dialect and style, so that equal texts are the same str object
            bind = self._binds.get((profile.name, style.name))
            if bind is None:
                tree = self._tree(profile)
                check_placeholder_conflicts(self._source, profile, style, tree.placeholder_conflicts)
                bind = generate(self._source, tree, profile, style)
                self._binds[profile.name, style.name] = bind
            if dialect is None:
                self._own[paramstyle] = bind
            else:
                self._binds[dialect, paramstyle] = bind
        return bind
