"""WrappedTemplate: a template whose bound text is put into another statement, as a count of its rows."""

from __future__ import annotations

from tenantry.datasources.query_label import template_name
from tenantry.sql import BoundSQL, SQLTemplate


class WrappedTemplate:
    """What data sources run in place of a template that it is made of."""

    def __init__(self, template: SQLTemplate) -> None:
        self.template = template
        """The other one."""
        self.name: str = template_name(template)
        """That of the other one."""

    def wrap(self, bound: BoundSQL) -> BoundSQL:
        """The statement around a bound text."""
        raise NotImplementedError
