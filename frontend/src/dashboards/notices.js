// The page if there is no dashboard to show: says what has happened, and what the viewer can do.

import { html } from "./dom.js";

/** @type {Record<string, [string, string]>} reason for no session (embed/child.js), or state of a response -> title and sentence */
const SENTENCES = {
  no_host: ["This dashboard is part of another page", "The page around it has not opened it. Please load that page again."],
  no_token: ["There is no access to this dashboard", "The page around it has none to give. Please sign in there again."],
  code_used: ["This address has been used already", "It opens a dashboard once. Please load the page around it again."],
  no_session: ["Please open this dashboard from your product", "This address alone opens nothing."],
  cookies_blocked: ["Cookies are blocked, or this visit has ended", "Please allow cookies for this site, and open the dashboard again from where you came."],
  unreachable: ["The dashboard could not be loaded", "The server cannot be reached. Please try again shortly."],
  ended: ["This access has ended", "Please load the page around this dashboard again, or ask who gave it to you."],
  embedding_not_allowed: ["This dashboard may not be shown here", "Please ask who gave it to you."],
  missing_scope: ["This preview is of another dashboard", "It shows that one alone."],
  forbidden: ["There is no access to this dashboard", "Please ask who gave it to you."],
  unknown_dashboard: ["There is no such dashboard", "It may have been renamed."],
  broken: ["This dashboard has a mistake", ""],
  invalid_filters: ["This choice cannot be shown", "The address holds a filter that this dashboard does not have."],
};

/** Whether there is a sentence for this code. */
export function isSaid(code) {
  return Object.hasOwn(SENTENCES, code);
}

/**
 * @param {string} code
 * @param {{detail?: string, label?: string, run?: () => void}} [more] the server's sentence, and a button
 * @returns {HTMLElement}
 */
export function notice(code, { detail, label, run } = {}) {
  const [title, sentence] = SENTENCES[code] ?? SENTENCES.unreachable;
  const button = label ? html("button", { type: "button", class: "button", click: run }, label) : null;
  return html("main", { class: "page" }, html("div", { class: "notice", role: "alert" }, html("h1", {}, title), html("p", { class: code }, detail ?? sentence), button));
}
