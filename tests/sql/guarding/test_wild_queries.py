"""Queries as people write them: each is guarded, or its refusal is named; and how long that takes."""

from __future__ import annotations

import re
import time
from statistics import quantiles

import pytest

from tenantry.errors import TemplateError
from tenantry.sql.guarding import GuardedTables, read_tables
from tests.sql.test_wild_queries import WRITTEN, template
from tests.sql.wild_spellings import Spelling

REFUSED = {
    57: "`prewhere` is not supported",
    59: "the function listagg may read a table",  # Redshift: without an engine there is no list of its functions
}
SECONDS = {"p90": 0.03, "most": 0.25}


def tables_of(spelling: Spelling) -> GuardedTables:
    """A declaration of the tables that the query names, as its errors ask for them."""
    names: dict[str, str] = {"unused": "id"}
    while True:
        tables = read_tables({"tables": names})
        try:
            template(spelling).guarded(tables).check()
        except TemplateError as error:
            missing = re.search(r"the table (\S+) is not declared", error.message)
            if missing is None:
                raise
            names[missing[1]] = "id"
        else:
            return tables


def test_each_is_guarded_or_its_refusal_is_named() -> None:
    """Red with an argument of Select taken out of the grammar."""
    for index, spelling in WRITTEN:
        if index in REFUSED:
            with pytest.raises(TemplateError, match=REFUSED[index]):
                tables_of(spelling)
        else:
            tables_of(spelling)


@pytest.mark.slow
def test_a_guarded_query_compiles_in_time() -> None:
    """Processor time, since other tests run beside this one. Red with each combination of clauses proved at load."""
    taken = []
    for index, spelling in WRITTEN:
        if index in REFUSED:
            continue
        made = template(spelling).guarded(tables_of(spelling))
        begin = time.process_time()
        made.check()
        taken.append(time.process_time() - begin)
    assert quantiles(taken, n=10)[-1] <= SECONDS["p90"]
    assert max(taken) <= SECONDS["most"]
