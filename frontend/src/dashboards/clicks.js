// Converts a click on a row, or on a mark that combines several rows, to values of controls on this or another dashboard.

import { bucketsOf } from "./charts/buckets.js";
import { Rows, whenOf } from "./charts/rows.js";
import { words } from "./charts/series.js";
import { asTheyAre, Filters } from "./filters.js";
import { moment } from "./times.js";

const DIFFER = "This combines rows with different values.";
const ABSENT = "Rows without a value, or with an empty one, cannot be filtered.";
const NO_DAYS = "The dates of this value are not known.";

/** @typedef {{data: any, places: number[]}} Clicked the message of a panel, and the places of the clicked rows */

/**
 * Does what the panel's author has set for clicks: filters the page, opens another dashboard, or notifies the host.
 * @param {import("./dashboard.js").Dashboard} dashboard
 * @param {any} about the panel in the dashboard's definition
 * @param {Clicked} clicked
 * @returns {string | undefined} a sentence for the viewer if the click does nothing
 */
export function choose(dashboard, about, clicked) {
  const { click, id: panel } = about;
  const { filters, page } = dashboard;
  const rows = new Rows(clicked.data.columns, clicked.data.rows);
  const records = clicked.places.map((place) => rows.record(place));
  if (click.event) {
    const [row, ...others] = records.map((record) => Object.fromEntries(click.event.map((column) => [column, record[column]])));
    if (others.some((other) => click.event.some((column) => other[column] !== row[column]))) return DIFFER;
    return page.session.send("click", { dashboard: dashboard.name, panel, row });
  }
  const controls = click.open ? new Map(click.controls.map((control) => [control.name, control])) : filters.controls;
  const { values, problem } = valuesOf(click.values, controls, clicked);
  if (problem) return problem;
  if (click.open) {
    const { fragment, notes } = linkOf(about, filters, values, clicked);
    return page.open(click.open, fragment, notes);
  }
  const again = records.every((record) => isChosen(click, filters, record));
  dashboard.choose(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, again ? null : value])));
}

/** Whether the page is filtered by the values of this row. */
export function isChosen(click, filters, record) {
  if (!click || click.open || click.event) return false;
  return Object.entries(click.values).every(([name, column]) => {
    return !isAbsent(record[column]) && filters.isChosen(name) && [filters.value(name)].flat().includes(String(record[column]));
  });
}

/**
 * @param {Record<string, string>} columns the columns of the values, by the names of the controls
 * @param {Map<string, any>} controls
 * @param {Clicked} clicked
 * @returns {{values?: Record<string, any>, problem?: string}} a sentence for the viewer if controls cannot hold these values
 */
function valuesOf(columns, controls, { data, places }) {
  const rows = new Rows(data.columns, data.rows);
  const values = {};
  let several = 0;
  for (const [name, column] of Object.entries(columns)) {
    const { kind, many } = controls.get(name) ?? {};
    const all = rows.values(column);
    const own = [...new Set(places.map((place) => all[place]))];
    if (own.some(isAbsent)) return { problem: ABSENT };
    if (own.length > 1 && (!many || (several += 1) > 1)) return { problem: DIFFER };
    values[name] = many ? own.map(String) : kind === "range" ? daysOf(moment(own[0]), all, data) : kind === "date" ? day(moment(own[0])) : String(own[0]);
    if (!values[name]) return { problem: NO_DAYS };
  }
  return { values };
}

/** Whether a filter cannot select this value. */
function isAbsent(value) {
  return value === null || value === undefined || value === "";
}

/** The first and the last day of the bucket (hour, day, week …) that starts at `at`, limited to the period. Null if they are unknown. */
function daysOf(at, all, data) {
  const { total, reduced, rows } = data;
  const { period } = whenOf(data);
  const times = all.filter((value) => !isAbsent(value)).map(moment);
  const isWhole = !reduced && !(total > rows.length) && times.length === all.length;
  if (isWhole && period && times.every((time) => time === at)) return period; // the response has all rows of this bucket
  const buckets = isWhole ? bucketsOf(times, whenOf(data)) : null;
  if (!buckets) return null;
  const [start, end] = [at, buckets.next(at)].map(day);
  if (start === end) return null;
  const last = day(buckets.next(at) - 1);
  return { start: period && period.start > start ? period.start : start, end: period && period.end < last ? period.end : last };
}

function day(at) {
  return Number.isNaN(at) ? null : new Date(at).toISOString().slice(0, 10);
}

/**
 * The link to another dashboard, which will show the total of the clicked rows.
 * @param {any} panel the panel in the dashboard's definition
 * @param {Filters} filters
 * @param {Record<string, any>} values the values of the click
 * @param {Clicked} clicked
 * @returns {{fragment: string, notes: string[]}} the filters of the link, and notes for the viewer about why its numbers may differ
 */
function linkOf({ click, reads = [] }, filters, values, { data, places }) {
  const active = reads.filter((name) => filters.value(name) !== null && !(name in values) && String(filters.value(name)));
  const kept = Object.fromEntries(active.filter((name) => click.keeps.includes(name)).map((name) => [name, filters.value(name)]));
  const others = click.controls.filter(({ name, has_default: hasDefault }) => hasDefault && !(name in values) && !(name in kept));
  const cleared = Object.fromEntries(others.filter(({ clearable }) => clearable).map(({ name }) => [name, ""]));
  const carried = { ...kept, ...cleared, ...values };
  const parts = new Filters(asTheyAre(Object.keys(carried)));
  parts.set(carried);
  const dropped = active.filter((name) => click.drops.includes(name)).map((name) => filters.controls.get(name)?.label ?? words(name));
  const added = others.filter(({ clearable }) => !clearable).map(({ label }) => label);
  const rows = new Rows(data.columns, data.rows);
  const clicked = Object.values(click.values).map((column) => {
    const all = rows.values(column);
    return { all, own: new Set(places.map((place) => all[place])) };
  });
  const alike = data.rows.filter((_, place) => clicked.every(({ all, own }) => own.has(all[place])));
  const notes = [
    dropped.length && `What you clicked was also filtered by ${dropped.join(", ")}; this page is not.`,
    added.length && `This page is also filtered by ${added.join(", ")}; what you clicked was not.`,
    alike.length > places.length && "You clicked only a part of this.",
    click.other_days && "This page has another time zone or other weeks.",
  ];
  return { fragment: parts.fragment, notes: notes.filter(Boolean) };
}
