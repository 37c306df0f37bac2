"""BoundSQL: SQL text with its parameters, the only thing that a data source runs."""

from __future__ import annotations

from typing import Any, NamedTuple

from tenantry.sql.paramstyles import Paramstyle


class BoundSQL(NamedTuple):
    """SQL text and the parameters of its placeholders, for a driver's ``execute(sql, params)``.

    ``params`` is a tuple, or a dict for the styles ``named`` and ``pyformat``. For ``format`` and ``pyformat`` it is
    None when the text has no placeholder, and ``%`` is then not doubled: drivers undouble it only when they are given
    parameters. ``repr`` shows the text and never a value. (A tuple because it is frozen and the cheapest to make.)
    """

    sql: str
    params: tuple[Any, ...] | dict[str, Any] | None
    paramstyle: str
    dialect: str

    def __repr__(self) -> str:
        count = len(self.params or ())
        return f"<BoundSQL {self.dialect} {self.paramstyle}, {count} parameter{'s' * (count != 1)}: {self.sql!r}>"


Params = tuple[Any, ...] | dict[str, Any] | None


def hand_over(style: Paramstyle, names: tuple[str, ...], params: tuple[Any, ...]) -> Params:
    """The parameters as a driver of this style wants them."""
    given = dict(zip(names, params, strict=True)) if style.named else params
    return given or None if style.doubles_percent else given
