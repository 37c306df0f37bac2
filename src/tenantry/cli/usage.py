from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import click
from click.core import ParameterSource

from tenantry.cli.options import (
    as_name,
    author,
    choose_environment,
    environment_filter_option,
    get_environment,
    json_option,
    keys_option,
    note_unsealed,
    settings,
    with_store,
)
from tenantry.cli.output import print_csv, print_note, print_rows
from tenantry.groups import Environment, Usage, UsageKey
from tenantry.ports import Store

_HOUR: Final = timedelta(hours=1)
_TIMES: Final[Mapping[str, str]] = {"hour": "%Y-%m-%dT%H:%MZ", "day": "%Y-%m-%d", "month": "%Y-%m"}


def as_hour(value: str) -> datetime:
    """Read a date or an hour, in UTC unless it names another time zone. Raises click.BadParameter."""
    try:
        read = datetime.fromisoformat(value)
        at = read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        text = f"{value!r} is not a date: write 2026-11-01, or 2026-11-01T13:00 for an hour in UTC"
        raise click.BadParameter(text) from None
    if (at.minute, at.second, at.microsecond) != (0, 0, 0):
        raise click.BadParameter(f"{value!r} is not a whole hour in UTC: usage is stored by the hour, so write …:00")
    return at


@click.command()
@click.option("--group", type=as_name, metavar="ID", help="Show only this group. It may be a group that was deleted.")
@environment_filter_option
@click.option(
    "--since",
    type=as_hour,
    metavar="DATE",
    help="Show usage from this date or hour, in UTC; default: the start of this month.",
)
@click.option(
    "--until", type=as_hour, metavar="DATE", help="Show usage before this date or hour, in UTC; default: now."
)
@click.option(
    "--by",
    multiple=True,
    type=click.Choice([*_TIMES, "group", "source", "viewer"]),
    default=["group"],
    show_default=True,
    help="Group the totals by this field; repeatable: --by month --by group prints a row for each group and month.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "csv"]),
    default="table",
    show_default=True,
    help="The output format without --json.",
)
@json_option
@click.option(
    "--prune-before",
    type=as_hour,
    metavar="DATE",
    help="Instead of showing usage, delete all usage before this date, for all groups in all environments.",
)
@keys_option
@with_store
async def usage(
    store: Store,
    group: str | None,
    environment: str | None,
    since: datetime | None,
    until: datetime | None,
    by: tuple[str, ...],
    style: str,
    as_json: bool,
    prune_before: datetime | None,
) -> None:
    """Show the usage of groups: resolved tokens, queries, rows, and query time in seconds.

    All times are in UTC. Usage of the last minute may be missing, because programs store it with a delay.
    """
    if as_json and style == "csv":
        raise click.UsageError("--json and --format csv contradict each other: leave one out")
    now = datetime.now(UTC)
    if prune_before is not None:
        # Refuse the option, but not TENANTRY_ENVIRONMENT, which may be set for other commands.
        given = click.get_current_context().get_parameter_source("environment") is ParameterSource.COMMANDLINE
        if given or any(each is not None for each in (group, since, until)):
            raise click.UsageError(
                "--prune-before is for all groups: leave out --group, --environment, --since and --until"
            )
        if prune_before > now:
            raise click.UsageError("--prune-before is in the future: it would delete current usage. Give a past date")
        await _prune(store, prune_before)
        return
    begin = since or now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    end = until or now.replace(minute=0, second=0, microsecond=0) + _HOUR
    if begin >= end:
        raise click.UsageError(f"--since {begin:%Y-%m-%dT%H:%MZ} must be before --until {end:%Y-%m-%dT%H:%MZ}")
    if "viewer" in by:
        by = _with_viewer(by, since, until)
    name = await _environment(store, environment, needed=group is not None)
    found = await _read(store, begin, end, by, name, group)
    if not found and group is not None:
        await _note_unknown(store, await choose_environment(store, name), group)
    sources = await _source_names(store, {key.environment for _, key in found}) if "source" in by else {}
    rows = [_row(time, key, used, by, sources) for (time, key), used in sorted(found.items())]
    _print(rows, _sum(found.values()), by, "json" if as_json else style)


def _with_viewer(by: tuple[str, ...], *given: datetime | None) -> tuple[str, ...]:
    if {"hour", "source"} & set(by):
        raise click.UsageError("viewers are counted per day, not per data source: leave out --by hour and --by source")
    if any(each is not None and each.hour for each in given):
        raise click.UsageError("viewers are counted by day: give --since and --until as dates without an hour")
    return (*by, "group")  # a viewer's id is unique only within its group


async def _prune(store: Store, before: datetime) -> None:
    deleted = 0
    while count := await store.usage.prune(before, author=author()):
        deleted += count
    click.echo(str(deleted))
    print_note(f"Deleted {deleted} rows of usage before {before:%Y-%m-%dT%H:%MZ}.")
    await note_unsealed(store)


async def _environment(store: Store, named: str | None, *, needed: bool) -> str | None:
    if needed:  # a group's id is unique only within its environment
        return (await choose_environment(store, named)).name
    name = settings(environment=named).environment
    if name is not None:
        await get_environment(store, name)
    return name


async def _note_unknown(store: Store, environment: Environment, group: str) -> None:
    if await store.groups.get(environment, group) is None:  # usage outlives a deleted group
        print_note(f"{environment.name} has no user group {group!r}, and no usage of it in this time")


async def _read(
    store: Store, begin: datetime, end: datetime, by: Sequence[str], environment: str | None, group: str | None
) -> dict[tuple[str, UsageKey], Usage]:
    oldest = await store.usage.oldest()
    if oldest is None:
        return {}
    style = next((style for unit, style in _TIMES.items() if unit in by), "")
    sums: dict[tuple[str, UsageKey], Usage] = {}
    by_viewer = "viewer" in by
    for since, until in _spans(max(begin, oldest), end, by_hour="hour" in by):
        found = await store.usage.sums(since, until, environment=environment, group=group, by_viewer=by_viewer)
        for (env, of, source, viewer), used in found.items():
            key = UsageKey(env, of if "group" in by else "", source if "source" in by else "", viewer)
            row = (since.strftime(style), key)
            sums[row] = sums.get(row, Usage()).plus(used)
    return sums


def _spans(begin: datetime, end: datetime, *, by_hour: bool) -> Iterator[tuple[datetime, datetime]]:
    while begin < end:
        later = begin + _HOUR if by_hour else begin.replace(hour=0) + timedelta(days=1)
        yield begin, min(later, end)
        begin = later


async def _source_names(store: Store, environments: set[str]) -> dict[tuple[str, str], str]:
    every = [each for each in await store.environments.list() if each.name in environments]
    return {(each.name, source.id): source.provided_id for each in every for source in await store.sources.list(each)}


def _row(
    time: str, key: UsageKey, used: Usage, by: Sequence[str], sources: Mapping[tuple[str, str], str]
) -> dict[str, Any]:
    row: dict[str, Any] = {"environment": key.environment or None}
    row |= {next(unit for unit in _TIMES if unit in by): time} if time else {}
    row |= {"group": key.group} if "group" in by else {}
    row |= {"source": sources.get((key.environment, key.source), key.source) or None} if "source" in by else {}
    row |= {"viewer": key.viewer} if "viewer" in by else {}
    return row | _counts(used)


def _counts(used: Usage) -> dict[str, Any]:
    return {"resolves": used.resolves, "queries": used.queries, "rows": used.rows, "seconds": used.seconds}


def _sum(every: Any) -> Usage:
    total = Usage()
    for each in every:
        total = total.plus(each)
    return total


def _print(rows: Sequence[Mapping[str, Any]], total: Usage, by: Sequence[str], style: str) -> None:
    if style == "table":
        last = [dict.fromkeys(rows[0]) | {"environment": "total"} | _counts(total)] if rows else []
        print_rows([*rows, *last], as_json=False)
        return
    if style == "json":
        print_rows(rows, as_json=True)
    else:
        print_csv([*_row("x" if set(_TIMES) & set(by) else "", UsageKey("", "", ""), total, by, {})], rows)
    print_note("total: " + ", ".join(f"{count} {name}" for name, count in _counts(total).items()))
