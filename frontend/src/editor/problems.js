// The list of findings in words, below the text.

import { html } from "../dashboards/dom.js";

const WORDS = { error: "Error", warning: "Warning", info: "Note", hint: "Note" };

/**
 * @param {{go: (offset: number) => void, fix: (edit: any) => void, mayType: () => boolean}} actions
 * @returns {{element: HTMLElement, show: (findings: any[], text: string) => void, fail: (error: Error) => void}}
 */
export function problemList({ go, fix, mayType }) {
  const element = html("section", { class: "problems", "aria-label": "Problems", hidden: true, tabindex: "0" });

  function row(finding, text) {
    const { from = 0, severity, message, fix: advice, edit } = finding;
    const line = text.slice(0, from).split("\n").length;
    return html(
      "li",
      { class: `problem-row is-${severity}` },
      html("button", { type: "button", class: "link", click: () => go(from) }, `Line ${line}`),
      html("span", { class: "severity" }, WORDS[severity] ?? severity),
      html("span", { class: "problem-text" }, message, advice && html("span", { class: "advice" }, ` · ${advice}`)),
      edit && mayType() && html("button", { type: "button", class: "link", click: () => fix(edit) }, "Fix"),
    );
  }

  return {
    element,
    show(findings, text) {
      element.hidden = !findings.length;
      element.replaceChildren(html("ul", {}, ...findings.map((each) => row(each, text))));
    },
    fail(error) {
      element.hidden = false;
      element.replaceChildren(html("p", { class: "problem" }, error.message));
    },
  };
}
