// The values that a viewer would choose: a field for each parameter that the query declares.

import { presetLabel } from "../dashboards/controls/presets.js";
import { freshId, html, icon } from "../dashboards/dom.js";

const INPUTS = { date: "date", datetime: "datetime-local" };
const RANGES = { "date range": "date", "datetime range": "datetime-local", "relative range": "datetime-local" };
const LIST = "list of ";
/** Ranges that are offered if the query names none. */
const RELATIVE = ["last 30 days", "last 90 days", "last 6 months", "last 12 months"];
const OWN = "dates";

/**
 * @param {(changes: {params?: Record<string, any>, dashboard?: string}) => void} changed
 * @param {(query: string) => Promise<any[][]>} choicesOf returns the rows of a query: values and their labels
 * @returns {{element: HTMLElement, show: (params: any[], values: Record<string, any>, dashboards: {name: string}[], dashboard: string | null) => void}}
 */
export function parameterFields(changed, choicesOf) {
  const element = html("div", { class: "parameters", role: "group", "aria-label": "Parameters", hidden: true });
  let shown = "";
  let values = {};

  function put(name, value) {
    if (value === undefined || value.length === 0) delete values[name];
    else values[name] = value;
    changed({ params: values });
  }

  /** Says where the parameters come from that the query itself does not declare. */
  function origin(dashboards, dashboard) {
    if (dashboards.length === 1) return html("p", { class: "count params-origin" }, `As in ${dashboards[0].name}`);
    const id = freshId("dashboard");
    const names = dashboards.map(({ name }) => [name, name]);
    const input = html("select", { id, change: () => changed({ dashboard: input.value }) }, ...names.map(([name]) => html("option", { value: name, selected: name === dashboard }, name)));
    return html("div", { class: "control" }, html("label", { for: id }, "As in"), html("span", { class: "select" }, input, icon("down")));
  }

  function fieldOf(param) {
    const id = freshId("param");
    const { name, type, label = name } = param;
    const input = control(param, id, values[name], (value) => put(name, value));
    if (param.choices_query) suggest(input, param.choices_query, type?.startsWith(LIST));
    return html("div", { class: "control" }, html("label", { for: id, title: type }, label), input);
  }

  /**
   * Offers the choices that a query provides, once the field gets the focus. In a list, choices that are already in the field are omitted.
   */
  function suggest(input, query, list) {
    const options = html("datalist", { id: freshId("choices") });
    let rows = [];
    const offer = () => {
      const before = list ? input.value.slice(0, input.value.lastIndexOf(",") + 1) : "";
      const taken = new Set(listed(before));
      options.replaceChildren(...rows.filter(([value]) => !taken.has(String(value))).map(([value, label]) => html("option", { value: [before, value].filter((each) => each !== "").join(" ") }, String(label ?? value))));
    };
    const fill = async () => {
      rows = await choicesOf(query).catch(() => []); // without choices, any value can be typed
      offer();
    };
    input.addEventListener("focus", fill, { once: true });
    if (list) input.addEventListener("input", offer);
    input.setAttribute("list", options.id);
    element.append(options);
  }

  return {
    element,
    /** @param {{name: string, type: string, choices?: any[], default?: any}[]} params */
    show(params, given, dashboards, dashboard) {
      const key = JSON.stringify([params, dashboards, dashboard]);
      if (key === shown && given === values) return;
      shown = key;
      values = given;
      element.hidden = !params.length;
      element.replaceChildren();
      element.append(...params.map(fieldOf), ...(dashboards.length ? [origin(dashboards, dashboard)] : []));
    },
  };
}

function control({ name, type, choices, labels = choices, presets, default: usual }, id, value, put) {
  const list = Boolean(type?.startsWith(LIST));
  const one = list ? type.slice(LIST.length) : type; // null if the query does not declare the parameter
  const placeholder = usual === undefined || usual === null ? "not set" : typeof usual === "string" ? usual : JSON.stringify(usual);
  if (RANGES[one]) return range({ name, choices, presets, default: usual }, id, RANGES[one], value, put);
  const named = choices?.map((each, place) => [String(each), String(labels[place])]);
  if (choices && list) return several(id, named, value, put);
  if (choices) return options(id, named.filter(([each]) => each !== placeholder), value, named.find(([each]) => each === placeholder)?.[1] ?? placeholder, put);
  if (one === "boolean" && !list) return options(id, [["true", "true"], ["false", "false"]], value, placeholder, put);
  const read = (text) => (list ? listed(text) : text);
  return html("input", {
    id,
    type: list ? "text" : (INPUTS[one] ?? "text"),
    inputmode: one === "integer" || one === "decimal" ? "decimal" : null,
    value: Array.isArray(value) ? value.join(", ") : value,
    placeholder: list ? "a, b, c" : placeholder,
    autocomplete: "off",
    spellcheck: "false",
    input: ({ target }) => put(read(target.value)),
  });
}

/** The values of a list, which commas separate. */
const listed = (text) => text.split(",").map((each) => each.trim()).filter(Boolean);

function several(id, choices, value = [], put) {
  const input = html("select", { id, multiple: true, size: Math.min(choices.length, 3), change: () => put([...input.selectedOptions].map((each) => each.value)) });
  input.append(...choices.map(([each, label]) => html("option", { value: each, selected: value.includes(each) }, label)));
  return input;
}

function options(id, choices, value, placeholder, put) {
  const input = html("select", { id, change: () => put(input.value) }, html("option", { value: "" }, placeholder), ...choices.map(([each, label]) => html("option", { value: each, selected: each === value }, label)));
  return html("span", { class: "select" }, input, icon("down"));
}

/** A field for a range: a relative range, with the default first, or two days that the author enters. */
function range({ name, choices, presets, default: usual }, id, type, value, put) {
  const places = html("span", { class: "range-fields" });
  const words = (text) => String(text).replaceAll("-", " ");
  const others = (choices ?? presets ?? RELATIVE).filter((each) => words(each) !== words(usual)).map(String);
  const entered = value !== undefined && typeof value !== "string";
  const input = html("select", { id, change: chosen }, html("option", { value: "" }, usual ? presetLabel(String(usual)) : "not set"), ...others.map((each) => html("option", { value: each, selected: each === value }, presetLabel(each))), !choices && html("option", { value: OWN, selected: entered }, "Dates …"));

  function chosen() {
    places.replaceChildren(...(input.value === OWN ? ends(name, type, entered ? value : {}, put) : []));
    put(input.value === OWN ? undefined : input.value);
  }

  if (entered) places.replaceChildren(...ends(name, type, value, put));
  return html("span", { class: "range-fields" }, html("span", { class: "select" }, input, icon("down")), places);
}

function ends(name, type, value, put) {
  const given = { ...value };
  const end = (key, label) =>
    html("input", {
      type,
      value: given[key],
      "aria-label": `${name}, ${label}`,
      input: ({ target }) => {
        if (target.value) given[key] = target.value;
        else delete given[key];
        put(Object.keys(given).length ? { ...given } : undefined);
      },
    });
  return [end("start", "first"), "–", end("end", "last")];
}
