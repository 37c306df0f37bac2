"""S25: generated templates with hostile values, on each real engine: no value changes what the engine reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Final

from benchmarks.acceptance.check import Check, Effort, Measured
from benchmarks.acceptance.faults.postgres import PostgresServer
from benchmarks.acceptance.structure.engines import ClickHouse, DuckDB, Engine, MariaDB, PostgreSQL, SQLite
from benchmarks.acceptance.structure.proof import Proof, prove
from benchmarks.acceptance.structure.values import hostile_texts
from engines import clickhouse, mariadb
from engines.corpus import CORPUS

_SECONDS: Final = 600.0  # for one engine


@contextmanager
def _postgresql() -> Iterator[Engine]:
    with PostgresServer() as server:
        yield PostgreSQL(server.url())


@contextmanager
def _mariadb() -> Iterator[Engine]:
    with mariadb.running() as server:
        yield MariaDB(server.connect(server.create_database()))


@contextmanager
def _sqlite() -> Iterator[Engine]:
    yield SQLite()


@contextmanager
def _duckdb() -> Iterator[Engine]:
    yield DuckDB()


@contextmanager
def _clickhouse() -> Iterator[Engine]:
    with clickhouse.running() as engine:
        yield ClickHouse(engine)


_ENGINES: Final = (_postgresql, _duckdb, _sqlite, _mariadb, _clickhouse)


def measure(effort: Effort) -> Measured:
    """Changes of structure by 20,000 templates × 10 values on each engine; in a quick run by 200."""
    proofs: list[Proof] = []
    texts = hostile_texts(effort.dice(), CORPUS / "sqli_payloads.txt")
    for start in _ENGINES:
        with start() as engine, closing(engine):
            proof = prove(engine, texts, effort.dice(), templates=effort.pick(200, 20_000), progress=effort.say)
        effort.say(f"{proof.engine}: {proof.changed} changes, {proof.seconds:.0f} s, {proof.refused} texts refused")
        for shown in proof.shown:
            effort.say(shown)
        proofs.append(proof)
    values = sum(proof.values for proof in proofs)
    caught, controls = sum(proof.caught for proof in proofs), sum(proof.controls for proof in proofs)
    changed, templates = sum(proof.changed for proof in proofs), sum(proof.templates for proof in proofs)
    longest = max(proofs, key=lambda proof: proof.seconds)
    figure = (
        f"{changed} changes by {values:,} values in {templates:,} templates on {len(proofs)} engines; the longest, "
        f"{longest.engine}, {longest.seconds:.0f} s (control: {caught} of {controls} spliced ones seen)"
    )
    ok = all(proof.ok and proof.seconds <= _SECONDS for proof in proofs)
    return Measured(figure, ok, {proof.engine: vars(proof) for proof in proofs})


CHECKS = (
    Check(
        "S25",
        "Structure of generated SQL, 10 hostile values each, on real engines: changes",
        "0 of 20,000 templates in ≤ 10 min an engine; control seen",
        measure,
        (600, 3_600),
    ),
)
