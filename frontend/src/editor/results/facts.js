// The facts about a run: the number of rows, the duration, the source, what was cut, and a link to save the rows.

import { html } from "../../dashboards/dom.js";
import { save } from "../../dashboards/menu_entries.js";
import { post } from "../client.js";
import { nameOf } from "../document.js";

/**
 * @param {import("../run.js").Run | null} run
 * @param {{name: string} | undefined} group
 * @param {import("../../dashboards/values.js").Formats} formats
 * @param {import("../workspace.js").Workspace} workspace
 * @returns {Node[]}
 */
export function factsOf(run, group, formats, workspace) {
  if (!run) return [];
  const { started, done } = run;
  const count = (value) => formats.text(value, { type: "integer" });
  const rows = run.columns.length ? `${count(run.rows.length)} ${run.rows.length === 1 ? "row" : "rows"}` : null;
  const time = done ? duration(done.seconds, formats) : run.ended ? null : "running";
  const waited = done?.queue_seconds >= 0.1 ? `${duration(done.queue_seconds, formats)} in the queue` : null;
  const source = started?.source && `${started.source.name} (${started.engine})`;
  const words = [rows, time, waited, source].filter(Boolean).map((each) => ` · ${each}`);
  const state = started?.suspended ? "suspended" : started?.expired ? "expired" : null;
  const { choice, unguarded } = workspace;
  const now = { ...choice, group: choice.group?.id, unguarded: Boolean(unguarded) };
  const isOld = ["environment", "group", "viewer", "schema", "unguarded"].some((key) => JSON.stringify(run.body[key]) !== JSON.stringify(now[key]));
  return [
    (started?.unguarded ?? run.body.unguarded) && html("p", { class: "warning" }, "Without guards: these rows may be of every group."),
    isOld && html("p", { class: "warning" }, `Not as ${run.body.group !== now.group && choice.group ? choice.group.name : "chosen above"}: run the query again`),
    state && html("p", { class: "warning" }, `This group is ${state}: its viewers see nothing.`),
    ...(started?.notes ?? []).map((note) => html("p", { class: "warning" }, note)),
    done?.cut && html("p", { class: "warning" }, `Cut after ${count(run.rows.length)} rows`),
    html("p", { class: "count", role: "status" }, html("span", { class: "group-name", title: group.name }, `As ${group.name}`), ...words),
    done && workspace.may("run") && html("button", { type: "button", class: "link", click: (event) => download(run, event.target) }, "CSV"),
  ].filter(Boolean);
}

export function duration(seconds, formats) {
  return seconds < 1 ? `${formats.text(Math.max(1, Math.round(seconds * 1000)), { type: "integer" })} ms` : formats.text(seconds, { format: "duration" });
}

async function download({ body }, button) {
  button.disabled = true;
  try {
    const response = await post("csv", body);
    save(await response.blob(), `${nameOf(body.path).replace(/\.sql$/, "")}.csv`);
  } catch (error) {
    button.after(html("p", { class: "warning", role: "alert" }, error.message));
  }
  button.disabled = false;
}
