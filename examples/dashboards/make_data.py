"""Writes the data of a clinic, a factory and a shop, up to now, into ``data.duckdb``."""

from __future__ import annotations

import json
import math
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

TABLES = """
create or replace table appointments (
    id integer, clinic text, starts timestamp, doctor text, reason text, minutes integer, attended boolean,
    fee decimal(10, 2), balance decimal(12, 2));
create or replace table readings (
    plant text, taken timestamptz, sensor text, leak double, pressure double, batches bigint);
create or replace table returns (
    order_id bigint, shop text, returned timestamptz, product text, reason text, amount decimal(14, 2),
    days_kept integer);
"""
DOCTORS = ["Dr. Achterberg-Mbeki", "Dr. Li", "Dr. O'Neill", None, ""]
REASONS = ["Check-up", "Vaccination", "Follow-up after an operation of the knee", "X-ray", None]
SENSORS = ["A1", "A2", "Kiln north, lower thermocouple", "B7"]
PRODUCTS = ["Lamp", "Bottle 0.5 l", "Desk", "Chair", "Kettle", "Ladder", "Mat", "Rucksack 40 l", "Tent", "Mug", "Clock"]
WHY = ["Too small", "Damaged", "Late", "Changed my mind", "Not as described"]


def appointments(chance: random.Random, now: datetime) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for back in range(400, -15, -1):
        day = (now - timedelta(days=back)).replace(hour=8, minute=0, second=0, microsecond=0)
        if day.weekday() > 4:
            continue
        for turn in range(chance.randrange(6, 14)):
            doctor = chance.choices(DOCTORS, [5, 4, 3, 1, 0.4])[0]
            fee = round(chance.uniform(35, 260), 2)
            came = None if back < 0 else chance.random() < 0.9
            balance = round(chance.choice([0, 0, fee, -fee, -3 * fee]), 2)
            starts = day + timedelta(minutes=35 * turn)
            reason = chance.choice(REASONS)
            rows.append(
                (len(rows) + 1, "hill", starts, doctor, reason, chance.choice([15, 30, 45]), came, fee, balance)
            )
    return rows


def readings(chance: random.Random, now: datetime) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    hour = now.replace(minute=0, second=0, microsecond=0)
    for back in range(24 * 45, -1, -1):
        if 300 < back < 372 or back % 97 == 0:
            continue
        at = hour - timedelta(hours=back)
        for number, sensor in enumerate(SENSORS):
            if sensor == "B7" and back > 400:
                continue
            leak = abs(chance.gauss(3e-5, 2e-5)) * (number + 1) * 1e-3
            pressure = None if chance.random() < 0.02 else 1013 + 4 * math.sin(back / 24) + chance.gauss(0, 1) - number
            rows.append(("east", at, sensor, leak, pressure, 9_007_199_254_700_000 // 900 + back))
    return rows


def returns(chance: random.Random, now: datetime) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for back in range(24 * 800, -1, -1):
        at = now - timedelta(hours=back)
        for _ in range(chance.choice([0, 0, 0, 1, 2] if at.weekday() != 6 else [0, 0, 0, 0, 1])):
            product = chance.choices(PRODUCTS, range(len(PRODUCTS), 0, -1))[0]
            amount = round(math.exp(chance.gauss(8.2, 0.9)), 0)
            why = chance.choices(WHY, [4, 3, 2, 2, 1])[0]
            rows.append((4_000_000_000 + len(rows), "edo", at, product, why, amount, chance.randrange(1, 31)))
    return rows


def write(path: Path) -> None:
    chance, now = random.Random(7), datetime.now(UTC)  # noqa: S311 - the same rows in each run
    with duckdb.connect(str(path)) as data, TemporaryDirectory() as folder:
        data.execute("set timezone = 'UTC'")
        data.execute(TABLES)
        for table, rows in (
            ("appointments", appointments(chance, now.replace(tzinfo=None))),
            ("readings", readings(chance, now)),
            ("returns", returns(chance, now)),
        ):
            names = data.table(table).columns
            file = Path(folder) / f"{table}.json"
            file.write_text(json.dumps([dict(zip(names, row, strict=True)) for row in rows], default=str))
            data.execute(f"insert into {table} select * from read_json('{file}')")  # noqa: S608 - names of our own


if __name__ == "__main__":
    write(Path(__file__).with_name("data.duckdb"))
