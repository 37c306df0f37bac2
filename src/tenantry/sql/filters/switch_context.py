from __future__ import annotations

from abc import ABC, abstractmethod

from tenantry.errors import Edit, TemplateError
from tenantry.sql.dialects import Dialect
from tenantry.sql.filters.choice_names import default_name
from tenantry.sql.lexing.tags import DEFAULT, Argument, Filter, VariableTag
from tenantry.sql.parameters.declared import Parameter
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import Node, Position, VariableReference


class SwitchContext(ABC):
    def __init__(
        self,
        source: Source,
        dialect: Dialect,
        tag: VariableTag,
        this: Filter,
        reference: VariableReference,
        parameter: Parameter | None,
    ) -> None:
        self.source = source
        self.dialect = dialect
        self.tag = tag
        self.filter = this
        self.reference = reference
        """The variable that chooses a branch."""
        self.parameter = parameter
        """The declaration of that variable, or None."""

    @property
    def default(self) -> str | None:
        default = self.tag.filter(DEFAULT)
        return default_name(self.source, self.dialect, default.arguments[0]) if default is not None else None

    @abstractmethod
    def compile(self, argument: Argument) -> tuple[Node, ...]:
        """Return the nodes of an argument. Call this once for each argument, in text order."""

    @abstractmethod
    def variable(self, path: str, position: Position = Position.VALUE, *, conversion: str = "") -> VariableReference:
        """Return a new variable for a branch, such as ``params.period.start``."""

    @abstractmethod
    def declared(self, path: str) -> Parameter | None: ...
    def error(self, problem: str, fix: str, *, offset: int | None = None, edit: Edit | None = None) -> TemplateError:
        at = self.filter.offset if offset is None else offset
        return self.source.error(at, problem, fix, variable=self.reference.path, edit=edit)
