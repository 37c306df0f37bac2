from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tenantry.errors import Location
from tenantry.sql.syntax_tree import VariableReference, reference_key
from tenantry.sql.template import SQLTemplate, tree_of


class TagPlace(NamedTuple):
    """A variable in the author's SQL, and the place of its tag."""

    reference: VariableReference
    location: Location

    def is_in(self, references: tuple[VariableReference, ...]) -> bool:
        """Whether ``references``, the variables of a bound value, include the variable in this tag."""
        return reference_key(self.reference) in map(reference_key, references)


def tag_places(template: SQLTemplate, dialect: str) -> Iterator[TagPlace]:
    """Yield each variable in the author's SQL, in text order. Raises TemplateError if the template does not compile."""
    tree = tree_of(template, dialect)
    for reference in tree.references:
        if not reference.of_guard:
            yield TagPlace(reference, tree.source.location(reference.offset))
