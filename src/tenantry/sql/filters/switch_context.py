"""What a filter that builds a Switch is given: its tag, and the means to compile the author's SQL in it."""

from __future__ import annotations

from abc import ABC, abstractmethod

from tenantry.errors import TemplateError
from tenantry.sql.dialects import Dialect
from tenantry.sql.filters.choice_names import default_name
from tenantry.sql.lexing.tags import DEFAULT, Argument, Filter, VariableTag
from tenantry.sql.parameters.declared import Parameter
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import Node, Position, VariableReference


class SwitchContext(ABC):
    """One filter of one tag. ``reference`` is the tag's variable, whose value decides; ``parameter`` is its
    declaration, if it is a declared ``params.*``."""

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
        self.parameter = parameter

    @property
    def default(self) -> str | None:
        """What the tag's ``default`` names."""
        default = self.tag.filter(DEFAULT)
        return default_name(self.source, self.dialect, default.arguments[0]) if default is not None else None

    @abstractmethod
    def compile(self, argument: Argument) -> tuple[Node, ...]:
        """The nodes of an argument of the filter: SQL of the author, which may hold tags of its own.

        An argument is compiled once, in the order of the text; its nodes can be in several branches.
        """

    @abstractmethod
    def variable(self, path: str, position: Position = Position.VALUE, *, conversion: str = "") -> VariableReference:
        """A further variable for the branches: ``params.period.start`` of ``params.period``. Its absence is an error in
        the branch that it is in."""

    @abstractmethod
    def declared(self, path: str) -> Parameter | None:
        """The declaration of a variable in an argument, if it is a declared ``params.*``."""

    def error(self, problem: str, fix: str, *, offset: int | None = None) -> TemplateError:
        """The error at the filter, or at an offset, to raise."""
        return self.source.error(self.filter.offset if offset is None else offset, problem, fix)
