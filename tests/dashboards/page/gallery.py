"""A dashboard with every kind of panel, its rows made up but alike those of the flights."""

from __future__ import annotations

import math
from datetime import date, timedelta
from typing import Any

from tests.dashboards.page.stand_in import Message, StandIn, rows

MONTHS = [f"2013-{month:02}-01" for month in range(1, 13)]
DELAYS = [10.2, 8.4, 12.1, 13.9, None, 20.8, 21.7, 12.6, -2.9, 6.2, 5.4, 16.6]
ORIGINS = ("EWR", "JFK", "LGA")
ROUTES = [
    ("EWR → SFO", 1200),
    ("EWR → ORD", 980),
    ("LGA → IAH", 860),
    ("JFK → LAX", 640),
    ("EWR → LAS", 330),
    ("LGA → DEN", 122),
]
PERIOD: Message = {
    "name": "period",
    "kind": "range",
    "label": "Period",
    "description": "",
    "many": False,
    "required": False,
    "default": {"preset": "last-30-days"},
    "presets": ["last-30-days", "this-year", "last-year"],
    "choices": None,
    "min": None,
    "max": None,
    "clearable": False,
    "open": [],
    "depends": [],
}
ORIGIN: Message = PERIOD | {
    "name": "origin",
    "kind": "choices",
    "label": "Origin",
    "many": True,
    "default": None,
    "presets": [],
    "choices": [
        {"value": value, "label": label}
        for value, label in (("EWR", "Newark"), ("JFK", "Kennedy"), ("LGA", "LaGuardia"))
    ],
}
ROUTE: Message = ORIGIN | {
    "name": "route",
    "label": "Route",
    "many": False,
    "choices": [{"value": name, "label": name} for name, _ in ROUTES],
}
NAME: Message = ORIGIN | {"name": "name", "kind": "text", "label": "Airline", "many": False, "choices": None}


def by_origin() -> list[list[Any]]:
    return [
        [month, origin, round(300 + 90 * place + 60 * math.sin(number / 2 + place))]
        for number, month in enumerate(MONTHS)
        for place, origin in enumerate(ORIGINS)
    ]


def days(count: int) -> list[list[Any]]:
    first = date(2013, 1, 1)
    return [
        [str(first + timedelta(days=day)), round(20 + 8 * math.sin(day / 9) + 5 * math.cos(day / 3.1), 2)]
        for day in range(count)
    ]


def routes(count: int) -> list[list[Any]]:
    return [
        [
            f"EWR → {chr(65 + n % 26)}{chr(65 + n * 7 % 26)}X",
            900 - n * 17,
            200 + n * 47.5,
            0.61 + n % 7 / 20,
            -3.2 + n * 1.37,
            12500.5 - n * 211,
        ]
        for n in range(count)
    ]


ROUTE_COLUMNS = {
    "route": "text",
    "flights": "integer",
    "distance": "float",
    "on_time_share": "float",
    "delay": "float",
    "revenue": "decimal",
}


def figures() -> list[Message]:
    month_line = rows(
        {"month": "date", "flights": "integer"}, *[[month, 100 + n * n] for n, month in enumerate(MONTHS)]
    )
    compared = rows(
        {"flights": "integer"}, [336_776], compare=rows({"flights": "integer"}, [321_004]), sparkline=month_line
    )
    delay = rows({"delay": "float"}, [12.64], compare=rows({"delay": "float"}, [10.1]))
    share = rows({"share": "float"}, [0.7812], compare=rows({"share": "float"}, [0.7812]))
    return [
        {"kind": "figure", "figure": "flights", "better": "higher", "title": "Flights", "answer": compared},
        {"kind": "figure", "figure": "delay", "better": "lower", "unit": "min", "title": "Mean delay", "answer": delay},
        {"kind": "figure", "figure": "share", "format": "percent", "title": "On time", "answer": share},
        {
            "kind": "figure",
            "figure": "revenue",
            "format": "currency",
            "title": "Revenue",
            "answer": rows({"revenue": "decimal"}, ["1204500.50"]),
        },
    ]


def charts() -> list[list[Message]]:
    monthly = rows({"month": "date", "mean_delay": "float"}, *map(list, zip(MONTHS, DELAYS, strict=True)), age=125)
    origins = rows({"month": "date", "origin": "text", "flights": "integer"}, *by_origin())
    route_rows = rows({"route": "text", "flights": "integer"}, *map(list, ROUTES))
    points = rows(
        {"distance": "float", "delay": "float", "flights": "integer", "origin": "text", "route": "text"},
        *[[200 + n * 37 % 2400, math.sin(n) * 20 + 12, n * n % 900, ORIGINS[n % 3], f"R{n}"] for n in range(60)],
    )
    hours = rows(
        {"hour": "integer", "weekday": "text", "delay": "float"},
        *[
            [hour, day, round(hour * 1.3 - 8 + place * 1.5, 1)]
            for hour in range(5, 24)
            for place, day in enumerate(("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"))
        ],
    )
    by_month = {"by": "month", "color": "origin", "answer": origins}
    return [
        [
            {
                "kind": "line",
                "line": ["mean_delay"],
                "by": "month",
                "unit": "min",
                "title": "Mean departure delay",
                "reference": {"value": 15, "label": "target"},
                "answer": monthly,
            },
            {
                "kind": "bar",
                "bar": ["flights"],
                "by": "route",
                "horizontal": True,
                "title": "Flights by route",
                "click": {"values": {"route": "route"}, "open": ""},
                "answer": route_rows,
            },
        ],
        [
            {"kind": "line", "line": ["flights"], "title": "Flights by origin", **by_month},
            {"kind": "area", "area": ["flights"], "stack": "sum", "title": "Flights, stacked", **by_month},
            {"kind": "area", "area": ["flights"], "stack": "share", "title": "Share of origins", **by_month},
        ],
        [
            {"kind": "bar", "bar": ["flights"], "stack": "sum", "title": "Flights by month", **by_month},
            {"kind": "bar", "bar": ["flights"], "title": "Side by side", **by_month},
            {"kind": "donut", "donut": "flights", "by": "route", "title": "Routes", "answer": route_rows},
        ],
        [
            {
                "kind": "scatter",
                "scatter": "delay",
                "by": "distance",
                "size": "flights",
                "color": "origin",
                "label": "route",
                "unit": "min",
                "title": "Delay and distance",
                "answer": points,
            },
            {
                "kind": "heatmap",
                "heatmap": "delay",
                "by": "hour",
                "rows": "weekday",
                "unit": "min",
                "title": "Delay by hour",
                "answer": hours,
            },
        ],
        [
            {
                "kind": "area",
                "area": ["delay"],
                "by": "day",
                "title": "Delay by day",
                "description": "Each day of a year.",
                "width": 8,
                "answer": rows({"day": "date", "delay": "float"}, *days(365)),
            },
            {
                "kind": "bar",
                "bar": ["delay"],
                "by": "month",
                "title": "Above and below",
                "width": 4,
                "answer": rows(
                    {"month": "date", "delay": "float"}, *[[month, 5 - n] for n, month in enumerate(MONTHS)]
                ),
            },
        ],
    ]


def table(size: int = 45) -> Message:
    every = routes(size)

    def page(asked: Message, filters: Any) -> Message:
        sort = asked.get("sort") or "-flights"  # without a word it is the author's
        place = list(ROUTE_COLUMNS).index(sort.removeprefix("-"))
        ordered = sorted(every, key=lambda row: row[place], reverse=sort.startswith("-"))
        start = asked.get("page", 0) * 12
        return rows(ROUTE_COLUMNS, *ordered[start : start + 12], total=size)

    columns = [
        {"name": "route"},
        {"name": "flights", "bar": True},
        {"name": "distance", "hide": 2},
        {"name": "on_time_share", "format": "percent", "title": "On time"},
        {"name": "delay", "hide": 1},
        {"name": "revenue", "format": "currency", "hide": 3},
    ]
    return {
        "kind": "table",
        "title": "Routes",
        "columns": columns,
        "page": 12,
        "sort": "-flights",
        "answer": page,
        "click": {"values": {"route": "route"}, "open": ""},
        "query": "select route, count(*)\nfrom flights\ngroup by route",
    }


def gallery(stand_in: StandIn) -> str:
    """The address of it."""
    words = {
        "kind": "text",
        "text": "Departures from the three airports of New York.\n\nA flight is late from 15 minutes on.",
    }
    empty = {
        "kind": "bar",
        "bar": ["flights"],
        "by": "route",
        "title": "Cancelled flights",
        "answer": rows({"route": "text", "flights": "integer"}),
    }
    broken = {
        "kind": "line",
        "line": ["flights"],
        "by": "month",
        "title": "Forecast",
        "answer": {
            "error": {
                "code": "missing_variable",
                "message": "Something that this panel needs is not set for you: region.",
            }
        },
    }
    one = {
        "kind": "bar",
        "bar": ["flights"],
        "by": "route",
        "horizontal": True,
        "title": "One route",
        "answer": rows({"route": "text", "flights": "integer"}, ["EWR → SFO", 12]),
    }
    return stand_in.show(
        figures(),
        *charts(),
        [{"kind": "heading", "heading": "Details"}],
        [table()],
        [empty, broken, one],
        [words],
        title="Departures of United Airlines",
        description="Flights from the airports of New York in 2013.",
        controls=[PERIOD, ORIGIN, ROUTE, NAME],
    )
