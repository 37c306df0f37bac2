from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tenantry.errors import Edit, TemplateError
from tenantry.sql.dialects import Dialect
from tenantry.sql.filters.choice_names import default_name
from tenantry.sql.lexing.tags import DEFAULT, Argument, Filter, VariableTag
from tenantry.sql.parameters.declared import Parameter, find_parameter
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import Node, Position, VariableReference


@dataclass(frozen=True, slots=True)
class SwitchContext:
    source: Source
    dialect: Dialect
    tag: VariableTag
    filter: Filter
    reference: VariableReference
    """The variable that chooses a branch."""
    parameters: Mapping[str, Parameter]
    compile: Callable[[Argument], tuple[Node, ...]]
    """Returns the nodes of an argument. Call this once for each argument, in text order."""
    add_variable: Callable[[str, Position, str], VariableReference]

    @property
    def parameter(self) -> Parameter | None:
        """The declaration of the variable that chooses a branch, or None."""
        return self.declared(self.tag.path)

    @property
    def default(self) -> str | None:
        default = self.tag.filter(DEFAULT)
        return default_name(self.source, self.dialect, default.arguments[0]) if default is not None else None

    def variable(self, path: str, position: Position = Position.VALUE, *, conversion: str = "") -> VariableReference:
        """Return a new variable for a branch, such as ``params.period.start``."""
        return self.add_variable(path, position, conversion)

    def declared(self, path: str) -> Parameter | None:
        return find_parameter(self.parameters, path)

    def error(self, problem: str, fix: str, *, offset: int | None = None, edit: Edit | None = None) -> TemplateError:
        at = self.filter.offset if offset is None else offset
        return self.source.error(at, problem, fix, variable=self.reference.path, edit=edit)
