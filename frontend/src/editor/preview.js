// The preview of a dashboard for the chosen group, next to the dashboard's file.

import { html } from "../dashboards/dom.js";
import { ask } from "./client.js";
import { latest } from "./latest.js";

/**
 * @param {import("./workspace.js").Workspace} workspace
 * @returns {HTMLElement}
 */
export function preview(workspace) {
  const frame = html("iframe", { title: "Preview of the dashboard", hidden: true });
  const word = html("p", { class: "count", role: "status" }, workspace.may("run") ? "Choose a group to see the dashboard as it does." : "You have no right to run queries, so there is no preview.");
  const element = html("section", { class: "preview", "aria-label": "Preview" }, word, frame);

  let id = null;
  const request = () => {
    const { active } = workspace;
    const { drafts, ...chosen } = workspace.body(active, "drafts", "environment", "group", "viewer");
    const texts = active.changed ? { ...drafts, [active.path]: active.text } : drafts;
    return ask("preview", { dashboard: active.path, drafts: texts, ...chosen, preview: isSecureContext ? id : null }); // only in a secure context frames follow drafts
  };
  let timer = 0;
  const use = ({ preview: current, address, seconds }) => {
    id = current;
    clearTimeout(timer);
    timer = setTimeout(() => workspace.active?.isDashboard && renew(), seconds * 1_000); // renew it before the session ends
    if (!workspace.active?.isDashboard) return;
    const { active, choice: { group } } = workspace;
    word.hidden = !active.changed && !workspace.unsavedBehind(active).length;
    word.textContent = `As ${group.name}, with text that is not saved`;
    word.classList.remove("problem");
    frame.hidden = false;
    if (address !== null) show(address); // otherwise the frame reloads its content itself
  };

  /** If the frame shows the same dashboard again, scrolls to the previous place once the page is tall enough. */
  let due = 0;
  const show = (address) => {
    due = shown === drawn ? due || frame.contentWindow.scrollY : 0;
    drawn = shown;
    frame.src = address;
  };
  frame.addEventListener("load", () => {
    const { contentWindow: page, contentDocument: { body, documentElement: root } } = frame;
    const grown = new ResizeObserver(() => root.scrollHeight >= due + root.clientHeight && page.scrollTo(0, due));
    const scrolled = () => {
      grown.disconnect();
      due = 0;
    };
    page.addEventListener("scroll", scrolled, { once: true }); // ends at this scrolling, or at that of the author
    if (page.scrollY) scrolled();
    else grown.observe(body);
  });
  const failed = (error) => {
    word.hidden = false;
    word.textContent = error.message; // the last valid preview stays visible
    word.classList.add("problem");
  };
  const renew = latest(request, use, failed);
  let shown; // the path of the open dashboard
  let drawn; // the path of the dashboard in the frame
  workspace.on("text open choice saved", () => {
    const { active, choice } = workspace;
    if (!active?.isDashboard || !choice.group || !workspace.may("run")) return;
    if (active.path !== shown) {
      frame.hidden = true;
      id = null;
    }
    shown = active.path;
    renew();
  });
  return element;
}
