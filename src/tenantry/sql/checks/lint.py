"""The lint: finds likely mistakes in templates that compile (docs/sql-checks.md)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from tenantry.errors import Edit, TemplateError, did_you_mean, misspelt
from tenantry.groups import VIEWER_SCHEMA, PropertySchema
from tenantry.sql.binding.paramstyles import paramstyle_named
from tenantry.sql.checks.conditions import comparisons_with_null, or_beside_guarded
from tenantry.sql.checks.coverage import Coverage
from tenantry.sql.checks.findings import Finding, Problem, Severity, error_finding, template_error
from tenantry.sql.checks.needs import needs, property_path, schema_problems, unknown_field
from tenantry.sql.checks.selects import Select, is_query, selects_of
from tenantry.sql.dialects import dialect_named
from tenantry.sql.fragments.fragments import TemplateDefinition, expand
from tenantry.sql.parsing.outline import (
    TokenKind,
    Tokens,
    read_outline,
    split_at,
    written,
)
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import Position, TableGuard, Tree, VariableReference
from tenantry.sql.template import DEFAULT_DIALECT, SQLTemplate, tree_of
from tenantry.sql.tenant_guard import TenantGuard, droppable, is_viewer_input, meant_path

_IGNORED = re.compile(r"tenantry:ignore((?:[ ,]+[a-z]+(?:-[a-z]+)*)+)")


def lint(
    template: SQLTemplate,
    *,
    paramstyle: str | None = None,
    properties: Collection[str] | None = None,
    given: Collection[str] = (),
    schema: PropertySchema | None = None,
    tables: TableGuard | None = None,
) -> tuple[Finding, ...]:
    """Return the findings of one template in its dialect (default ``postgresql``), in text order.

    Unknown properties are reported only if the caller passes ``properties`` (the known paths) or ``schema``, or if the
    path looks misspelt, like ``parms.day``. Paths in ``given`` are known too: the host provides them. With ``tables``,
    a query that cannot be guarded with these tables has the finding ``unguarded``.

    A comment ``tenantry:ignore CODE`` turns off the finding CODE on the comment's line and on the next line. A template
    that does not compile has one finding, ``template-error``.
    """
    try:
        dialect = dialect_named(template.dialect or DEFAULT_DIALECT)
        tree = tree_of(template, dialect.name)
    except TemplateError as error:
        return (template_error(error),)
    source = tree.source
    style = paramstyle_named(paramstyle or dialect.paramstyle)
    selects = list(selects_of(read_outline(source, dialect, tree.references)))
    guard = template.tenant_guard
    if schema is not None:
        properties = schema.paths() | frozenset(properties or ())
    refusals, of_guards = _guard(template, tables) if tables is not None else ([], [])
    references = [*tree.references, *of_guards]
    named = [*references, *_defaults(template, tree.references)]
    problems = [
        *_unknown_variables(tree, named, properties, given, guard.declared),
        *_viewer_problems(named, None if schema is None else schema.viewer, properties or ()),
        *_droppable(template, tree, guard),
        *_inert_tags(tree),
    ]
    definitions = [template.definition, *(each.definition for each in expand(template.definition, dialect).included)]
    problems += _unused_parameters(template, tree, definitions)
    if schema is not None:
        problems += schema_problems((each for each in references if not _is_given(each.path, given)), schema)
    for select in selects:
        found = or_beside_guarded(select, guard)
        if tables is not None:  # guarded tables already hide other groups' rows
            found = (each._replace(severity=Severity.NOTE) for each in found)
        problems += [*found, *comparisons_with_null(select, dialect)]
        if not style.shares and not dialect.equal_values_are_one:
            problems += _repeated_expressions(source.text, select, style.name)
    headers = (Source(each.source.text[: each.header.end], each.source.file) for each in definitions)
    return (*_findings(source, problems, [source, *headers]), *refusals)


def _guard(template: SQLTemplate, tables: TableGuard) -> tuple[list[Finding], list[VariableReference]]:
    guarded = template.guarded(tables)
    try:
        return [], [each for each in tree_of(guarded).references if each.of_guard]
    except TemplateError as error:
        return [error_finding("unguarded", error)], []


def compares_loosely(template: SQLTemplate) -> bool:
    """Whether a template compares a value of the group in a dialect whose comparisons usually ignore case and
    accents."""
    dialect = dialect_named(template.dialect or DEFAULT_DIALECT)
    try:
        references = tree_of(template, dialect.name).references if dialect.loose_texts else ()
    except TemplateError:
        return False
    compared = (each for each in references if each.position not in {Position.CHOICE, Position.LIMIT})
    return any(template.tenant_guard.guards_reference(each) for each in compared)


def wanted_properties(templates: Iterable[SQLTemplate]) -> frozenset[str]:
    return frozenset(path for template in templates for path, _ in needs(references_of(template)))


def coverage_findings(template: SQLTemplate, coverage: Coverage, *, given: Collection[str] = ()) -> Iterator[Finding]:
    """Return the findings of ``coverage`` for the variables that are not in ``given``, or none if the template does not
    compile."""
    try:
        source = tree_of(template).source
    except TemplateError:
        return iter(())
    references = [reference for reference in references_of(template) if not _is_given(reference.path, given)]
    return coverage.findings((reference, source.location(reference.offset)) for reference in references)


def references_of(template: SQLTemplate) -> tuple[VariableReference, ...]:
    """Return the variables of a template, and the properties that its parameters read. Empty if the template does not
    compile."""
    try:
        references = tree_of(template).references
    except TemplateError:
        return ()
    return (*references, *_defaults(template, references))


def _defaults(template: SQLTemplate, references: Iterable[VariableReference]) -> Iterator[VariableReference]:
    for parameter in template.parameters.values():
        at = next((each.offset for each in references if each.path.startswith(parameter.path)), 0)
        for path in parameter.properties:
            yield VariableReference(f"user_group.properties.{path}", at, Position.CHOICE)


def _findings(source: Source, problems: Iterable[Problem], texts: Iterable[Source]) -> Iterator[Finding]:
    ignored = {each for text in texts for each in _ignored(text)}
    for problem in sorted(set(problems), key=_order):
        code, severity, offset, message, fix, variable, location, edit = problem
        location = location or source.location(offset)
        line, column, file = location.line, location.column, location.file
        if (file, line, code) not in ignored:
            found = Finding(code, severity, line, column, message, fix, variable, file=file, edit=edit)
            yield replace(found, included_at=location.included_at)


def _order(problem: Problem) -> tuple[bool, int, int, int, str]:
    line, column = (problem.location.line, problem.location.column) if problem.location is not None else (0, 0)
    return (problem.location is None, line, column, problem.offset, problem.code)


def _ignored(source: Source) -> Iterator[tuple[str, int, str]]:
    for match in _IGNORED.finditer(source.text):
        location = source.location(match.start())
        file, line = location.file, location.line
        for code in re.split("[ ,]+", match[1].strip()):
            yield from ((file, line, code), (file, line + 1, code))


# --- variables --------------------------------------------------------------------------------------------------------


def _unknown_variables(
    tree: Tree,
    references: Iterable[VariableReference],
    properties: Collection[str] | None,
    given: Collection[str],
    declared: Collection[str],
) -> Iterator[Problem]:
    seen: set[str] = set()
    for reference in references:
        path = reference.path
        if path in seen or is_viewer_input(path) or _is_given(path, given):
            continue
        seen.add(path)
        edit = None
        wanted = property_path(path)
        field = unknown_field(path)
        if field is not None:
            problem, fix, edit = field
        elif wanted and properties is None and (meant := meant_path(path)) is not None:
            problem, fix = f"{path} would be a property of the group", f"did you mean {meant}?"
            edit = Edit(path, meant)
        elif wanted and properties is not None and wanted not in properties:
            of_guard = f", which the guarded tables need for the table {reference.of_guard}"
            problem = f"no group has the property {wanted}{of_guard if reference.of_guard else ''}"
            meant = meant_path(path)
            if meant is None:
                near, edit = did_you_mean(wanted, properties), misspelt(wanted, properties)
            else:
                near, edit = f"did you mean {meant}?", Edit(path, meant)
            if wanted.partition(".")[0] in declared or any(each.path == f"params.{wanted}" for each in tree.references):
                near, edit = f"did you mean params.{wanted}?", Edit(path, f"params.{wanted}")
            fix = near or "add it to the groups, or declare it in the environment's schema"
        else:
            continue
        edit = None if reference.of_guard else edit
        yield Problem("unknown-variable", Severity.ERROR, reference.offset, problem, fix.strip(), path, edit=edit)


def _viewer_problems(
    references: Iterable[VariableReference], schema: PropertySchema | None, properties: Collection[str]
) -> Iterator[Problem]:
    known = frozenset() if schema is None else schema.paths() | {"id"}
    for path, reference in {each.path: each for each in references}.items():
        root, _, name = path.partition(".")
        if root != "viewer":
            continue
        if root in properties:
            problem = f"{path} is a value of the viewer's pass, and groups have a property viewer too"
            fix = f"if you mean the property, write user_group.properties.{path}"
            yield Problem("viewer-or-property", Severity.WARNING, reference.offset, problem, fix, path)
        if schema is not None and name not in known:
            problem = (
                f"no viewer has {name or 'a value of this name'}: the schema has no such name under {VIEWER_SCHEMA}"
            )
            fix = did_you_mean(name, known) or f"declare it under {VIEWER_SCHEMA}"
            edit = misspelt(name, known, prefix="viewer.")
            yield Problem("unknown-variable", Severity.ERROR, reference.offset, problem, fix.strip(), path, edit=edit)


def _is_given(path: str, given: Collection[str]) -> bool:
    return any(path == each or path.startswith(f"{each}.") for each in given)


def _droppable(template: SQLTemplate, tree: Tree, guard: TenantGuard) -> Iterator[Problem]:
    for reference in droppable(tree, guard):
        if not reference.not_a_filter and reference.path not in template.optional:
            continue  # the variable is in the column of a filter, which no choice of the viewer drops
        how = "not_a_filter" if reference.not_a_filter else "optional"
        message = f"{reference.path} ({how}) is left out with its clause when a viewer chooses nothing"
        fix = "if it restricts rows, move it out of [[ ]]; otherwise there is nothing to fix"
        yield Problem("droppable", Severity.NOTE, reference.offset, message, fix, reference.path)


def _inert_tags(tree: Tree) -> Iterator[Problem]:
    for tag in tree.inert_tags:
        message = f"{tag.text} is in a comment: it is left out with the comment, and no value is looked up for it"
        yield Problem(
            "tag-in-comment",
            Severity.NOTE,
            tag.offset,
            message,
            "move it out of the comment if you need its value; otherwise there is nothing to fix",
        )


def _unused_parameters(
    template: SQLTemplate, tree: Tree, definitions: Sequence[TemplateDefinition]
) -> Iterator[Problem]:
    used = {reference.path.split(".")[1] for reference in tree.references if is_viewer_input(reference.path)}
    for name in template.parameters:
        if name not in used:
            declared = (each.declared_at(name) for each in definitions)
            location = next((each for each in declared if each is not None), None)
            message = f"the parameter {name} is declared but the query does not use it"
            fix = f"use {{{{ params.{name} }}}}, or remove its declaration"
            yield Problem("unused-parameter", Severity.WARNING, 0, message, fix, f"params.{name}", location)


# --- one value in two placeholders ------------------------------------------------------------------------------------


def _repeated_expressions(sql: str, select: Select, style: str) -> Iterator[Problem]:
    # Engines treat an expression in `select` and its repetition in `group by` as different if they have different
    # placeholders.
    grouped = {written(item): item for item in split_at(select.get("group", []), ",") if _has_variable(item)}
    if not grouped:
        return
    selected = select.get("select", [])
    items = split_at(selected[1:] if selected and selected[0].is_word("distinct", "all") else selected, ",")
    later = [item for item in split_at(select.get("order", []), ",") if _has_variable(item)]
    for text, item in grouped.items():
        whole = next((n for n, each in enumerate(items, 1) if _without_alias(each) == text), None)
        if whole is not None or any(text in written(each) for each in (*items, *later)):
            yield _two_placeholders(item[0].start, sql[item[0].start : item[-1].end], style, whole)


def _without_alias(item: Tokens) -> str:
    if len(item) > 2 and item[-2].is_word("as"):
        return written(item[:-2])
    if len(item) > 1 and item[-1].is_name and item[-2].kind in {TokenKind.GROUP, TokenKind.TAG}:
        return written(item[:-1])
    return written(item)


def _two_placeholders(start: int, item: str, style: str, ordinal: int | None) -> Problem:
    edit = None
    fix = "name it once: select it in a sub-select, and group by its alias outside"
    if ordinal is not None:
        fix = f"write `group by {ordinal}`, the number of its item in select; or select it in a sub-select"
        edit = Edit(item, str(ordinal))
    return Problem(
        "repeated-expression",
        Severity.ERROR,
        start,
        f"with paramstyle {style} this expression and its repetition get two placeholders, which the engine treats as "
        "two expressions",
        fix,
        edit=edit,
    )


def _has_variable(tokens: Tokens) -> bool:
    return any(
        any(reference.position is not Position.CHOICE for reference in token.references)
        or (token.kind is TokenKind.GROUP and not is_query(token) and _has_variable(token.children))
        for token in tokens
    )
