"""Attacks that were written by hand: ``queries`` have one column ``x`` of text, and are tried at every place;
``statements`` are tried as they are.

``SCHEMA`` is the name of the schema, and a name between two ``^`` is quoted as the engine quotes names.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from tests.sql.guarding.attacks.databases import Engine
from tests.sql.guarding.attacks.placements import everywhere
from tests.sql.guarding.attacks.texts import common
from tests.sql.guarding.attacks.trial import Attack


def queries(engine: Engine) -> list[Attack]:
    """Those of every engine, and those of this one."""
    own = import_module(f"{__name__}.{engine.name}")
    plain = [*common.QUERIES.strip().splitlines(), *common.ODD_QUERIES, *own.QUERIES.strip().splitlines(), *own.ODD]
    return [Attack(_spelled(text, engine)) for text in plain] + [
        Attack(_spelled(each.text, engine), each.params, each.fragments, each.viewer) for each in common.TEMPLATES
    ]


def statements(engine: Engine) -> list[Attack]:
    """Those that are whole statements only."""
    own = import_module(f"{__name__}.{engine.name}")
    texts = [*common.STATEMENTS.strip().splitlines(), *own.STATEMENTS.strip().splitlines()]
    return [Attack(_spelled(text, engine)) for text in texts]


def attacks(engine: Engine) -> Iterator[Attack]:
    """Every text at every place."""
    for query in queries(engine):
        yield from everywhere(query)
    yield from statements(engine)


def _spelled(text: str, engine: Engine) -> str:
    quote = "`" if engine.dialect in {"mysql", "mariadb"} else '"'
    return text.replace("SCHEMA", engine.schema).replace("^", quote)
