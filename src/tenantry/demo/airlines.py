"""Airline: one customer of the demo. Sixteen of them look at the same dashboard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tenantry.groups import GroupDraft

SCHEMA = "flights"
"""The schema id that every group's mapping routes."""

SQLITE, DUCKDB = "flights_sqlite", "flights_duckdb"
"""The two data sources, by the id that the demo gives them. Each holds the flights of its own airlines only."""

CURRENCY = "USD"
MINUTE_COST = 75.0
"""What a minute of delay costs, in CURRENCY: a round assumption, so that the dashboard has money to show."""


@dataclass(frozen=True, slots=True)
class Airline:
    """A user group to be. ``home_airports``: which of New York's three begin at least a tenth of its flights."""

    carrier: str
    name: str
    home_airports: tuple[str, ...]
    accent: str
    source: str
    locale: str = "en-US"

    @property
    def properties(self) -> dict[str, Any]:
        """What the group is created with, and what its dashboard may read as variables."""
        return {
            "carrier": self.carrier,
            "home_airports": list(self.home_airports),
            "currency": CURRENCY,
            "locale": self.locale,
            "accent": self.accent,
            "delay_cost": MINUTE_COST,
        }

    @property
    def mapping(self) -> dict[str, str]:
        """Where the group's flights are."""
        return {SCHEMA: self.source}

    def draft(self) -> GroupDraft:
        """The group to create, with the airline's code as its ``user_group_id``."""
        return GroupDraft(self.carrier, self.name, self.properties, self.mapping)


AIRLINES = (
    Airline("9E", "Endeavor Air", ("JFK", "LGA"), "#3b6ea5", SQLITE),
    Airline("AA", "American Airlines", ("EWR", "JFK", "LGA"), "#0b6bb3", SQLITE),
    Airline("AS", "Alaska Airlines", ("EWR",), "#01426a", SQLITE),
    Airline("B6", "JetBlue Airways", ("EWR", "JFK", "LGA"), "#0f766e", DUCKDB),
    Airline("DL", "Delta Air Lines", ("JFK", "LGA"), "#b3122d", SQLITE),
    Airline("EV", "ExpressJet Airlines", ("EWR", "LGA"), "#2b59a2", DUCKDB),
    Airline("F9", "Frontier Airlines", ("LGA",), "#1a7f4b", SQLITE),
    Airline("FL", "AirTran Airways", ("LGA",), "#0b7a75", DUCKDB),
    Airline("HA", "Hawaiian Airlines", ("JFK",), "#8e2f86", SQLITE),
    Airline("MQ", "Envoy Air", ("JFK", "LGA"), "#a63a24", DUCKDB),
    Airline("OO", "SkyWest Airlines", ("EWR", "LGA"), "#4d5bb0", DUCKDB),
    Airline("UA", "United Air Lines", ("EWR", "LGA"), "#2456c4", SQLITE),
    Airline("US", "US Airways", ("EWR", "JFK", "LGA"), "#5a6472", DUCKDB),
    Airline("VX", "Virgin America", ("EWR", "JFK"), "#c2263b", DUCKDB, locale="en-GB"),
    Airline("WN", "Southwest Airlines", ("EWR", "LGA"), "#a85600", SQLITE),
    Airline("YV", "Mesa Airlines", ("LGA",), "#6b4fa0", DUCKDB),
)

SHOWN = ("UA", "B6", "HA")
"""The three whose addresses the demo prints: two data sources, and 58,665, 54,635 and 342 flights."""


def airline(carrier: str) -> Airline:
    """Raises KeyError for a code that is not among AIRLINES."""
    return {each.carrier: each for each in AIRLINES}[carrier]
