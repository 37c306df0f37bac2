"""DataSources whose settings a test gives by name."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from tenantry import DataSources
from tenantry.datasources import Limits, Monitoring, Sharing
from tenantry.ports import SourceHolder


def data_sources(store: SourceHolder, **settings: Any) -> DataSources:
    """``settings`` are arguments of DataSources, and fields of Limits, Sharing and Monitoring."""
    sharing = Sharing(**_taken(Sharing, settings))
    limits = Limits(sharing=sharing, **_taken(Limits, settings))
    monitoring = Monitoring(**_taken(Monitoring, settings))
    return DataSources(store, limits=limits, monitoring=monitoring, **settings)


def executed(sources: DataSources) -> int:
    """How many queries were sent to their sources."""
    return sum(each.running + each.executions.total() for each in sources.activity.sources.values())


def joined(sources: DataSources) -> int:
    """How many queries joined an equal one in flight."""
    return sum(each.joined for each in sources.activity.sources.values())


def stopped(sources: DataSources) -> int:
    """How many executions ended because all their callers left."""
    return sum(each.executions["stopped"] for each in sources.activity.sources.values())


def _taken(kind: type[Any], settings: dict[str, Any]) -> dict[str, Any]:
    return {field.name: settings.pop(field.name) for field in fields(kind) if field.name in settings}
