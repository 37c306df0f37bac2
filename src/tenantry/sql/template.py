from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Lock
from types import MappingProxyType
from typing import Any, Self

from tenantry.errors import TemplateError
from tenantry.groups import Record
from tenantry.sql.binding.binder import Bind, Binder
from tenantry.sql.binding.bound_sql import BoundSQL, TracedSQL
from tenantry.sql.binding.paramstyles import Paramstyle, check_placeholder_conflicts, paramstyle_named
from tenantry.sql.dialects import DIALECTS, Dialect, dialect_named
from tenantry.sql.fragments.fragments import Expanded, Fragments, TemplateDefinition, expand, optional_paths
from tenantry.sql.header.query_header import begins_header
from tenantry.sql.parameters.declared import CALENDAR_NAMES, Parameter, locked_paths
from tenantry.sql.parameters.definitions import declare
from tenantry.sql.parameters.requests import ParameterConversion
from tenantry.sql.parameters.uses import check_parameters
from tenantry.sql.parsing.parser import parse
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import AppliedGuard, Position, TableGuard, Tree, VariableReference
from tenantry.sql.tenant_guard import TenantGuard, enforce_tenant_guard

DEFAULT_DIALECT = "postgresql"
_GUARDED_COPIES = 64  # one for each declaration; the oldest is dropped first
_CALENDAR = frozenset(f"params.{name}" for name in CALENDAR_NAMES)
_PARAMETER = re.compile(r"\bparams\.([^\W\d_]\w*)")


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable in a tag of a template."""

    path: str
    line: int
    column: int
    position: Position
    optional: bool
    """Whether the tag is in ``[[ ]]``."""
    guarded: bool
    """Whether the variable is a locked parameter, or a value of the group that is not declared optional. A guarded
    variable can never cause a clause to be dropped."""
    not_a_filter: bool = False
    """Whether the author marked the tag with the filter ``not_a_filter``."""
    file: str = ""
    """The query file or fragment that contains the tag; empty for a template without a file."""


class SQLTemplate:
    r"""SQL with ``{{ variables }}``, ``[[ optional clauses ]]`` and ``({{> fragments }})``; ``\{{`` means ``{{``
    (docs/sql.md).

    No choice of a viewer removes a variable of the group from the bound SQL, unless the variable is marked
    ``not_a_filter`` or declared optional. ``tenantry sql check`` lists the variables that a choice can remove.

    If ``dialect`` (one of ``DIALECTS``) is passed, the template is compiled at once. Otherwise, the first ``bind``
    compiles it. A bad template raises TemplateError with its position and a fix.

    - ``optional``: paths of variables that a group may lack. A clause with a missing variable is dropped.
    - ``params`` declares viewer input (docs/sql-parameters.md).
    - ``fragments`` maps names to SQL, templates or queries (docs/sql-queries.md).

    ``in`` with an empty list matches no row. ``not in`` with an empty list matches every row, even one with NULL, so
    use ``in`` to restrict a group's rows. A missing list raises MissingVariable, except in an optional
    clause.
    """

    __slots__ = (
        "_binds",
        "_conversions",
        "_converts",
        "_guarded",
        "_lock",
        "_parameters",
        "_tenant_guards",
        "_trees",
        "_variables",
        "definition",
        "dialect",
    )

    def __init__(
        self,
        text: str,
        dialect: str | None = None,
        *,
        optional: Iterable[str] = frozenset(),
        params: Mapping[str, Any] | None = None,
        fragments: Fragments | None = None,
    ) -> None:
        parameters = MappingProxyType(declare(params or {}))
        source = Source(text)
        if begins_header(text):  # its parameter declarations would be ignored
            problem = "this SQL begins with the header of a query file, which SQLTemplate does not read"
            raise source.error(0, problem, "use Query(text) or a QueryFolder; or take the header out")
        definition = TemplateDefinition(
            source=source,
            parameters=parameters,
            optional=optional_paths(optional),
            fragments=fragments,
        )
        self._prepare(definition, dialect)
        if dialect is not None:
            self._tree(dialect_named(dialect))

    def _prepare(self, definition: TemplateDefinition, dialect: str | None) -> None:
        self.definition: TemplateDefinition = definition
        self.dialect: str | None = dialect
        # A fragment may depend on the dialect, and so do the parameters that it declares.
        self._conversions: dict[str, ParameterConversion] = {}
        self._converts = False
        self._parameters = definition.parameters if definition.fragments is None else None
        self._variables: tuple[Variable, ...] | None = None
        self._trees: dict[str, Tree] = {}
        self._guarded: dict[int, Self] = {}  # key: the id of the tables, which the copy keeps alive
        self._tenant_guards: dict[str, TenantGuard] = {}
        self._binds: dict[tuple[str | None, str | None], Bind] = {}
        self._lock = Lock()

    def declaring(self, params: Mapping[str, Any]) -> Self:
        """Return a copy that also declares each of ``params`` that the template does not declare yet. Raises
        InvalidDefinition for a malformed definition, and TemplateError for a fragment that cannot be included."""
        declared = self._expand().parameters
        further = {name: each for name, each in declare(params).items() if name not in declared}
        return self._with({**further, **self.definition.parameters}, self.definition.decided)

    def redeclaring(self, params: Mapping[str, Parameter]) -> Self:
        """Return a copy in which ``params`` replace parameters of the same name in the template and its fragments."""
        return self._with({**self.definition.parameters, **params}, {**self.definition.decided, **params})

    def _with(self, parameters: Mapping[str, Parameter], decided: Mapping[str, Parameter]) -> Self:
        other, given = copy(self), MappingProxyType(parameters)
        other._prepare(replace(self.definition, parameters=given, decided=decided), self.dialect)
        return other

    def guarded(self, tables: TableGuard) -> Self:
        """Return a copy that reads only ``tables``, and only the group's rows of those that are not shared.

        Compiling the copy raises TemplateError for SQL that cannot be proved to read only these rows. An unusual
        combination of clauses and branches is checked by the first ``bind`` that needs it.
        """
        found = self._guarded.get(id(tables))
        if found is None:
            found = copy(self)
            found._prepare(replace(self.definition, tables=tables), self.dialect)
            self._guarded[id(tables)] = found
            if len(self._guarded) > _GUARDED_COPIES:
                self._guarded.pop(next(iter(self._guarded)))
        return found

    def guards(self, dialect: str | None = None) -> tuple[AppliedGuard, ...]:
        """Return the declared tables in the SQL, in text order, each with the SQL that replaces it. Empty unless
        ``guarded`` returned this template. Raises the errors of ``check``."""
        return tree_of(self, dialect).guards

    @property
    def parameter_names(self) -> frozenset[str]:
        """Names of all ``params.*`` in the SQL, in included fragments and in comments. Raises TemplateError for a
        fragment that cannot be included."""
        return frozenset(match[1] for match in _PARAMETER.finditer(self._expand().source.text))

    @property
    def declared_names(self) -> frozenset[str]:
        """Names of the parameters in the headers of the template and its fragments. Raises TemplateError for a fragment
        that cannot be included."""
        headers = (self.definition.header, *(each.definition.header for each in self._expand().included))
        return frozenset().union(*(header.parameters for header in headers))

    def _expand(self) -> Expanded:
        first: TemplateError | None = None
        for dialect in DIALECTS.values() if self.dialect is None else [dialect_named(self.dialect)]:
            try:
                return expand(self.definition, dialect)
            except TemplateError as error:
                first = first or error
        raise first if first is not None else AssertionError("there are dialects")

    @property
    def optional(self) -> frozenset[str]:
        """Paths of variables that a group may lack."""
        return self.definition.optional

    @property
    def text(self) -> str:
        """The template as written."""
        return self.definition.source.text

    @property
    def tenant_guard(self) -> TenantGuard:
        """Decides which variables are guarded."""
        return self._make_tenant_guard(self.parameters)

    def _make_tenant_guard(self, parameters: Mapping[str, Parameter]) -> TenantGuard:
        return TenantGuard(self.optional, locked_paths(parameters), frozenset(parameters))

    def check(self, dialect: str | None = None) -> None:
        """Compile the template. Uses ``dialect`` if passed, else the template's dialect, else the first dialect
        that accepts the SQL.

        Raises TemplateError if the template does not compile, and ValueError for an unknown dialect.
        """
        tree_of(self, dialect)

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """Declared parameters by name, including those of fragments. If the template has fragments, this may raise the
        errors of ``check``."""
        if self._parameters is None:
            self._parameters = expand(self.definition, dialect_of(self)).parameters
        return self._parameters

    def bind(
        self,
        variables: Mapping[str, Any] | Record,
        paramstyle: str | None = None,
        *,
        dialect: str | None = None,
        now: datetime | None = None,
    ) -> BoundSQL:
        """Return the SQL and its parameters.

        ``dialect`` defaults to the template's dialect, or to ``postgresql`` if the template has none. ``paramstyle``
        defaults to that of the dialect's usual driver. ``now``, an aware datetime, is required if a parameter is a
        range. The SQL depends only on the lengths of lists and on the included clauses and branches.

        - Raises one InvalidParameter that lists all bad parameters, or one MissingVariable that lists all missing
          variables.
        - Raises UnbindableValue for a value that cannot be bound at its place in the SQL.
        - Raises TemplateError if the template does not compile. May raise TypeError if ``variables`` is not a mapping.
        - Raises ValueError for an unknown dialect or paramstyle, and if ``now`` is required but missing or naive.
        """
        try:
            bind = self._binds[dialect, paramstyle]
        except KeyError:
            bind = self._compile(dialect, paramstyle)
        if not self._converts:
            return bind(variables)
        profile = dialect_named(dialect or self.dialect or DEFAULT_DIALECT)
        conversion = self._conversions.get(profile.name)
        if conversion is None:  # in this dialect no fragment declares parameters
            return bind(variables)
        bound = bind(conversion.convert(variables, profile, now))
        return bound._replace(reads_group=True) if conversion.reads_group else bound

    def trace(
        self, variables: Mapping[str, Any] | Record, paramstyle: str, *, dialect: str, now: datetime
    ) -> TracedSQL:
        """Like ``bind``, but also return the variables that each bound value is made from."""
        profile = dialect_named(dialect)
        tree = self._tree(profile)
        conversion = self._conversions.get(profile.name)
        given = variables if conversion is None else conversion.convert(variables, profile, now)
        traced = self._binder(tree, profile, paramstyle_named(paramstyle)).trace(given)
        if conversion is None or not conversion.reads_group:
            return traced
        return traced._replace(bound=traced.bound._replace(reads_group=True))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables in the author's SQL, in text order. Raises the errors of ``check``."""
        if self._variables is None:
            tree = tree_of(self)
            shown = (each for each in tree.references if not each.of_guard and each.path not in _CALENDAR)
            self._variables = tuple(self._variable(tree, each) for each in shown)
        return self._variables

    def __repr__(self) -> str:
        return f"<SQLTemplate {self.text[:60]!r}{'…' if len(self.text) > 60 else ''}>"

    def _variable(self, tree: Tree, reference: VariableReference) -> Variable:
        at = tree.source.location(reference.offset)
        guarded = self.tenant_guard.guards_path(reference.path)
        inside = reference.clauses > 0
        mark = reference.not_a_filter
        return Variable(reference.path, at.line, at.column, reference.position, inside, guarded, mark, at.file)

    def _tree(self, dialect: Dialect) -> Tree:
        tree = self._trees.get(dialect.name)
        if tree is None:
            expanded = expand(self.definition, dialect)
            tree = parse(expanded.source, dialect, self.optional, expanded.parameters)
            if expanded.parameters:
                check_parameters(tree.source, tree, expanded.parameters)
                self._conversions[dialect.name] = ParameterConversion(expanded.parameters)
                self._converts = True
            guard = self._tenant_guards[dialect.name] = self._make_tenant_guard(expanded.parameters)
            enforce_tenant_guard(tree.source, dialect, tree, guard)
            if self.definition.tables is not None:
                tree = self.definition.tables.rewrite(tree, dialect)
            self._trees[dialect.name] = tree
        return tree

    def _compile(self, dialect: str | None, paramstyle: str | None) -> Bind:
        profile = dialect_named(dialect or self.dialect or DEFAULT_DIALECT)
        style = paramstyle_named(paramstyle or profile.paramstyle)
        key = profile.name, style.name
        with self._lock:  # one Binder for each dialect and style, so that equal SQL is one str object
            bind = self._binds.get(key)
            if bind is None:
                bind = self._binds[key] = self._binder(self._tree(profile), profile, style).bind
            self._binds[dialect, paramstyle] = bind
        return bind

    def _binder(self, tree: Tree, profile: Dialect, style: Paramstyle) -> Binder:
        check_placeholder_conflicts(tree.source, profile, style, tree.placeholder_conflicts)
        return Binder(tree.source, tree, profile, style, self._tenant_guards[profile.name])


def tree_of(template: SQLTemplate, dialect: str | None = None) -> Tree:
    """Return the compiled template. Raises the errors of ``SQLTemplate.check``."""
    return template._tree(dialect_of(template) if dialect is None else dialect_named(dialect))


def dialect_of(template: SQLTemplate) -> Dialect:
    """Return the template's dialect, else the first dialect that accepts the SQL. Raises the errors of ``check``."""
    if template.dialect is not None:
        return dialect_named(template.dialect)
    first: TemplateError | None = None
    for dialect in DIALECTS.values():  # postgresql is the first
        try:
            template._tree(dialect)
        except TemplateError as error:
            first = first or error
        else:
            return dialect
    raise first if first is not None else AssertionError("there are dialects")
