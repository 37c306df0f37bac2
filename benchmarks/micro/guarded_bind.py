"""Guarded tables: a warm bind beside that of a query whose author wrote the predicate, and the compilation of queries:
those that people wrote, the largest ones, and hostile ones that are refused.
"""

from __future__ import annotations

import asyncio
import json
import time
from ast import literal_eval
from collections.abc import Iterator
from itertools import product
from statistics import median, quantiles

from benchmarks.harness.measure import Cell, compare, repeat
from benchmarks.harness.one_source import ENVIRONMENT, SCHEMA, OneSource, group
from benchmarks.harness.table import Aim, Table
from engines.corpus import CORPUS
from tenantry import DataSources
from tenantry.datasources.bound_query import QueryRequest, bind_query
from tenantry.datasources.query_label import QueryLabel
from tenantry.errors import TemplateError
from tenantry.groups import RegisteredSource
from tenantry.sql import SQLTemplate
from tests.sql.guarding.stages import ENGINES, TABLES
from tests.sql.guarding.test_rules import HOSTILE
from tests.sql.guarding.test_wild_queries import REFUSED, tables_of
from tests.sql.test_wild_queries import WRITTEN as SPELLINGS
from tests.sql.test_wild_queries import template as spelled

ROUNDS = 9
_TIMES = 3  # each a template of its own; of a processor that others use too, the fastest counts
BIND_AIM, P90_AIM, MOST_AIM, REFUSED_AIM = 1.10, 30.0, 250.0, 200.0
URLS = {"sqlite": "sqlite:///never-opened.db", "postgresql": "postgresql://never@127.0.0.1/opened"}
WHERE = "region = {{ user_group.properties.region }}"
WRITTEN = f"select id, amount from orders where customer_id = {{{{ user_group.id }}}} and {WHERE}"
BARE = f"select id, amount from orders where {WHERE}"  # only bound

LARGEST = {
    "165 sums": "select " + ", ".join(["sum(" + " + ".join(["id"] * 10) + ")"] * 165) + " from t",
    "80 unions": " union all ".join(["select id from t"] * 80),
    "970 conditions": "select 1 from t where " + " and ".join(["id = 1"] * 970),
    "430 queries in with": "with c0 as (select 1 as x), "
    + ", ".join(f"c{number} as (select x from c{number - 1})" for number in range(1, 430))
    + " select 1 from c429, t",
}
"""As large as queries may be."""


def table() -> Table:
    """Runs both parts."""
    result = Table("Guarded tables: warm bind and compilation", ["what", "figure", "×"])
    asyncio.run(_binds(result))
    largest = [
        min(_milliseconds(SQLTemplate(sql, each).guarded(TABLES)) for _ in range(_TIMES))
        for sql, each in product(LARGEST.values(), ENGINES)
    ]
    for name, taken in (("written by people", list(_corpus())), ("the largest", largest)):
        p50, p90, most = median(taken), quantiles(taken, n=10, method="inclusive")[-1], max(taken)
        result.add(f"compile, {len(taken)} {name}: half, 90 %, all within", f"{p50:.1f}, {p90:.1f}, {most:.1f} ms", "")
        if taken is not largest:
            result.aims.append(Aim("compile, 90 % of those written by people, ms", p90, P90_AIM))
        result.aims.append(Aim(f"compile, the slowest of {name}, ms", most, MOST_AIM))
    refused = {
        f"{name}, {each}": min(_refused(sql, each) for _ in range(_TIMES))
        for (name, sql), each in product(HOSTILE.items(), ENGINES)
    }
    slowest = max(refused, key=lambda name: refused[name])
    result.add(f"refuse {len(refused)} hostile queries; slowest: {slowest}", f"{refused[slowest]:.1f} ms", "")
    result.aims.append(Aim("refuse hostile nesting, ms", refused[slowest], REFUSED_AIM))
    return result


def _corpus() -> Iterator[float]:
    """Milliseconds of each query that is guarded. Without the corpus, those that the tests hold alone."""
    for index, spelling in SPELLINGS:
        if index not in REFUSED:
            yield _milliseconds(spelled(spelling).guarded(tables_of(spelling)))
    for name in ("slips", "correct") if CORPUS.is_dir() else ():
        for entry in json.loads((CORPUS / "tenant_slips" / f"{name}.json").read_text("utf-8")):
            options = {key: literal_eval(str(value)) for key, value in entry.get("options", {}).items()}
            for dialect in ENGINES:
                try:
                    made = SQLTemplate(entry["sql"], dialect, params=entry["params"], **options)
                except TemplateError:  # not SQL of this dialect
                    continue
                taken = _compiled(made)
                if taken is not None:
                    yield taken


def _compiled(template: SQLTemplate) -> float | None:
    """Milliseconds; None if it is refused."""
    try:
        return _milliseconds(template.guarded(TABLES))
    except TemplateError:
        return None


def _refused(sql: str, dialect: str) -> float:
    made = SQLTemplate(sql, dialect).guarded(TABLES)
    begin = time.process_time()
    try:
        made.check()
    except TemplateError:
        return (time.process_time() - begin) * 1e3
    raise AssertionError("it was not refused")


def _milliseconds(template: SQLTemplate) -> float:
    """Of this process, so that the others on the machine do not count."""
    begin = time.process_time()
    template.check()
    return (time.process_time() - begin) * 1e3


async def _binds(result: Table) -> None:
    async with DataSources(OneSource(URLS["sqlite"])) as sources:
        for dialect, url in URLS.items():
            figures = await compare(_cells(sources, dialect, url), rounds=ROUNDS)
            for what in ("bind", "bind_query"):
                written, guarded = f"{what}, the author's predicate", f"{what}, guarded"
                ratio = figures.ratio(guarded, written)
                result.add(f"{dialect}: {written}", f"{figures.median(written) / 1e3:.2f} µs", "1.00")
                result.add(f"{dialect}: {guarded}", f"{figures.median(guarded) / 1e3:.2f} µs", f"{ratio:.2f}")
                result.aims.append(Aim(f"{dialect}: {what}, guarded ÷ the author's predicate", ratio, BIND_AIM))


def _cells(sources: DataSources, dialect: str, url: str) -> dict[str, Cell]:
    asking = group(properties={"region": "eu"})
    tables = json.dumps({"tables": {"orders": "customer_id"}})
    cells = {}
    for name, sql, declared in (("the author's predicate", WRITTEN, ""), ("guarded", BARE, tables)):
        source = RegisteredSource(f"ds_{dialect}_{name[0]}", SCHEMA, ENVIRONMENT, url, tables=declared)
        opened = sources._open_sources.find(source)
        template = SQLTemplate(sql)
        request = QueryRequest(asking, SCHEMA, template, asking.variables, source, QueryLabel(SCHEMA, "", "acme", ""))
        inner = template if opened.tables is None else template.guarded(opened.tables)
        style = opened.pool.paramstyle
        assert bind_query(opened, request).sql.sql == inner.bind(asking.variables, style, dialect=dialect).sql
        cells[f"bind, {name}"] = repeat(lambda i=inner, s=style: i.bind(asking.variables, s, dialect=dialect))  # type: ignore[misc]
        cells[f"bind_query, {name}"] = repeat(lambda o=opened, r=request: bind_query(o, r))  # type: ignore[misc]
    return cells
