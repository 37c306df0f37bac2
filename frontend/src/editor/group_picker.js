// A picker for one of many groups: the author types a part of its name or id, and then selects it from a list.

import { freshId, html, icon } from "../dashboards/dom.js";
import { popover } from "../dashboards/popover.js";
import { ask } from "./client.js";

const PAUSE = 200;

/**
 * @param {string} label
 * @param {() => string} environment
 * @param {(group: {id: string, name: string}) => void} choose
 * @returns {{element: HTMLElement, show: (group: {id: string, name: string} | null) => void}}
 */
export function groupPicker(label, environment, choose) {
  const listId = freshId("groups");
  const list = html("ul", { id: listId, class: "options", role: "listbox", "aria-label": "Groups", tabindex: "-1" });
  const word = html("p", { class: "count", role: "status" });
  const search = html("input", {
    class: "search",
    role: "combobox",
    "aria-label": "Search by name or id",
    "aria-controls": listId,
    "aria-expanded": "true",
    "aria-autocomplete": "list",
    placeholder: "Name or id",
    autocomplete: "off",
    spellcheck: "false",
    input: () => find(PAUSE),
    keydown: keys,
  });
  const name = html("span", { class: "choice-text" });
  const id = freshId("group");
  const content = html("div", { class: "choices-panel groups-panel", role: "dialog", "aria-label": label }, search, list, word);
  const button = html("button", { type: "button", class: "choice", id, "aria-haspopup": "dialog", "aria-labelledby": `${id}-label ${id}` }, name, icon("down"));
  const { close } = popover(button, content, { opened });
  const element = html("div", { class: "control group-control" }, html("span", { class: "control-label", id: `${id}-label` }, label), html("div", { class: "holder" }, button, content));
  let groups = [];
  let after = null;
  let active = 0;
  let asked = 0;
  let timer;
  /**
   * `pending`: there is no response yet for the typed text. Since then, `marked`: the author has marked a group. `wanted`: the author has
   * asked for the first group of the response.
   */
  let [pending, marked, wanted] = [false, false, false];

  function opened() {
    search.value = "";
    search.focus({ preventScroll: true });
    find(0);
  }

  /** Requests groups after a pause in typing. Ignores the responses to older requests. */
  function find(pause, more = false) {
    clearTimeout(timer);
    asked += 1;
    const mine = asked;
    pending = !more;
    marked = wanted = false;
    timer = setTimeout(async () => {
      try {
        const body = { environment: environment(), search: search.value.trim(), ...(more && { after }) };
        const answer = await ask("groups", body);
        if (mine !== asked) return;
        const before = marked && groups[active]?.id;
        active = more ? groups.length : Math.max(0, answer.groups.findIndex(({ id }) => id === before));
        groups = more ? [...groups, ...answer.groups] : answer.groups;
        after = answer.after ?? null;
        pending = false;
        show();
        if (wanted && !content.hidden) take(active);
      } catch (error) {
        if (mine !== asked) return;
        pending = false;
        word.textContent = error.message;
      }
    }, pause);
  }

  function show() {
    list.replaceChildren(...groups.map(option));
    if (after !== null) list.append(html("li", { id: `${listId}-${groups.length}`, class: "option more-option", role: "option", "aria-selected": "false", click: () => find(0, true) }, "Show more"));
    word.textContent = groups.length ? ("") : "No group has this in its name or id.";
    mark();
  }

  function option(group, place) {
    return html(
      "li",
      { id: `${listId}-${place}`, class: "option", role: "option", "aria-selected": "false", click: () => take(place) },
      html("span", { class: "option-name" }, group.name),
      group.name !== group.id && html("span", { class: "option-id" }, group.id),
    );
  }

  function mark() {
    [...list.children].forEach((each, place) => each.setAttribute("aria-selected", String(place === active)));
    search.setAttribute("aria-activedescendant", list.children[active]?.id ?? "");
    list.children[active]?.scrollIntoView({ block: "nearest" });
  }

  function take(place) {
    if (place === groups.length && after !== null) return find(0, true);
    if (!groups[place]) return;
    close(true);
    choose(groups[place]);
  }

  function keys(event) {
    const last = list.children.length - 1;
    const next = { ArrowDown: Math.min(active + 1, last), ArrowUp: Math.max(active - 1, 0), PageDown: Math.min(active + 8, last), PageUp: Math.max(active - 8, 0) }[event.key];
    if (next !== undefined) {
      active = next;
      marked = true;
      mark();
    } else if (event.key === "Enter") {
      if (pending && !marked) wanted = true;
      else take(active);
    } else return;
    event.preventDefault();
  }

  return {
    element,
    show(group) {
      name.textContent = group?.name ?? "Choose a group";
      button.title = group ? `${group.name} (${group.id})` : "";
    },
  };
}
