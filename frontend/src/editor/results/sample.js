// Runs the query for a sample of all groups, and shows which of them fail and why.

import { freshId, html } from "../../dashboards/dom.js";
import { Formats } from "../../dashboards/values.js";
import { lines } from "../client.js";
import { RUN } from "../workspace.js";
import { duration } from "./facts.js";

const SIZE = 10;
const MOST = 50;

/**
 * @param {import("../workspace.js").Workspace} workspace
 * @param {() => {document: import("../document.js").Document} | null} current
 */
export function sample(workspace, current) {
  const formats = new Formats();
  const id = freshId("sample");
  const size = html("input", { id, type: "number", min: 1, max: MOST, value: SIZE });
  const start = html("button", { type: "button", class: "quiet-button", click: run }, "Run for a sample");
  const stop = html("button", { type: "button", class: "quiet-button", hidden: true, click: () => controller?.abort() }, "Stop");
  const word = html("p", { class: "count", role: "status" });
  const host = html("div", {});
  const element = html("div", { class: "sample" }, html("div", { class: "compare-head" }, html("div", { class: "control" }, html("label", { for: id }, "Groups"), size), start, stop, word), host);
  let controller = null;

  async function run() {
    const { document } = current() ?? {};
    if (!document) return;
    controller?.abort();
    const mine = new AbortController();
    controller = mine;
    const body = { ...workspace.body(document, ...RUN), size: Math.min(MOST, Math.max(1, size.valueAsNumber || SIZE)) };
    const found = [];
    running(true);
    try {
      for await (const message of lines("sample", body, { signal: mine.signal })) {
        if (message.error && !message.group) throw new Error(message.error.message);
        if (message.group) found.push(message);
        show(found, message.done);
      }
    } catch (error) {
      if (controller === mine) word.textContent = mine.signal.aborted ? `Stopped. ${tally(found)}` : error.message;
    }
    if (controller === mine) running(false);
  }

  function running(is) {
    start.hidden = is;
    stop.hidden = !is;
    if (is) host.replaceChildren();
    if (is) word.textContent = "Running …";
  }

  function tally(found) {
    const failed = found.filter(({ error }) => error).length;
    return `${found.length} ${found.length === 1 ? "group" : "groups"}: ${found.length - failed} succeeded, ${failed} failed.`;
  }

  function show(found, done) {
    word.textContent = tally(found);
    const failed = found.filter(({ error }) => error);
    const empty = found.filter(({ error, rows }) => !error && !rows);
    const others = found.filter(({ error, rows }) => !error && rows);
    const heads = ["Group", "Result", "Rows", "Time"];
    const table = html("table", {}, html("caption", { class: "visually-hidden" }, "Groups of the sample"), html("thead", {}, html("tr", {}, ...heads.map((each, place) => html("th", { scope: "col", class: place > 1 ? "number" : null }, each)))), html("tbody", {}, ...[...failed, ...empty, ...others].map(row)));
    host.replaceChildren(html("div", { class: "table" }, table));
    if (done) word.textContent = tally(found);
  }

  function row({ group, name, rows, seconds, error }) {
    const choose = () => workspace.choose({ group: { id: group, name } });
    const outcome = error ? html("span", { class: "problem" }, error.message) : rows ? "succeeded" : html("span", { class: "count" }, "no rows");
    return html(
      "tr",
      {},
      html("th", { scope: "row" }, html("button", { type: "button", class: "link", title: "Continue as this group", click: choose }, name)),
      html("td", { class: "wraps" }, outcome),
      html("td", { class: "number" }, error ? "" : formats.text(rows, { type: "integer" })),
      html("td", { class: "number" }, seconds === undefined ? "" : duration(seconds, formats)),
    );
  }

  return {
    element,
    reset() {
      controller?.abort();
      controller = null;
      running(false);
      word.textContent = "";
      host.replaceChildren();
    },
  };
}
