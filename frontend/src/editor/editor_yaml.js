// The bundle of YAML: completion in the files of dashboards by the published JSON schema, and in the headers of queries.

import { entry } from "./code/entries.js";
import { HEADER } from "./code/header_schema.js";
import { offered } from "./code/matching.js";
import { placeAt } from "./code/yaml_place.js";

const WORD = /^[\w-]*$/;
const QUERY_FILE = "the name of a query file";

/**
 * @param {import("@codemirror/autocomplete").CompletionContext} context
 * @param {import("./code/knowledge.js").Knowledge} known
 * @returns {import("@codemirror/autocomplete").CompletionResult | null} what can be written here in the file of a dashboard
 */
export function completeYaml({ state, pos, explicit }, known) {
  return known.schema && complete(state.sliceDoc(0, pos), state.sliceDoc(pos), explicit, known.schema, known);
}

/** @returns {import("@codemirror/autocomplete").CompletionResult | null} what can be written here in the header of a query */
export function completeHeader({ state, pos, explicit }) {
  const text = state.sliceDoc(0, pos);
  const begin = text.indexOf("\n", text.indexOf("/*")) + 1;
  const [after] = state.sliceDoc(pos).split(/^[ \t]*---[ \t]*\*\//m, 1);
  const found = complete(text.slice(begin), after, explicit, HEADER, { queries: [], mapped: [] });
  return found && { ...found, from: found.from + begin };
}

function complete(text, after, explicit, root, known) {
  const place = placeAt(text, after);
  if (!place || (!place.typed && !explicit && !place.begun)) return null;
  const schemas = place.steps.reduce((found, { key, keys }) => found.flatMap((schema) => below(schema, key, keys, root)), alternatives(root, [], root));
  const options = place.isKey ? keysOf(schemas, place.keys, known) : schemas.flatMap((schema) => valuesOf(schema, known));
  if (!place.isKey && place.steps.at(-1)?.key === "schema") options.push(...known.mapped.map((name) => entry(name, "text", "schema", "")));
  return offered(text.length - place.typed.length, [options], place.typed, WORD);
}

/** @returns {any[]} the schemas that a value can have, without those that do not allow one of its keys */
function alternatives(schema, keys, root) {
  const { $ref, anyOf = [] } = schema;
  if ($ref) return alternatives($ref.split("/").slice(1).reduce((found, key) => found[key], root), keys, root);
  const all = [schema, ...anyOf.flatMap((each) => alternatives(each, keys, root))];
  return all.filter(({ properties, additionalProperties }) => {
    if (!properties || !keys.length) return true;
    return additionalProperties !== false || keys.every((key) => key in properties);
  });
}

function below(schema, key, keys, root) {
  const { items, properties = {}, additionalProperties: others } = schema;
  const its = key === null ? items : (properties[key] ?? (typeof others === "object" ? others : undefined));
  return its ? alternatives(its, keys, root) : [];
}

function keysOf(schemas, present, known) {
  const given = schemas.flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties)
      .filter(([name]) => !present.includes(name))
      .map(([name, { description, title }]) => ({ ...entry(name, "property", required.includes(name) ? "required" : "", description ?? title ?? "", `${name}: `), first: required.includes(name) })),
  );
  const scalars = schemas.flatMap((schema) => (schema.properties ? [] : valuesOf(schema, known)));
  return [...given.filter(({ first }) => first), ...given.filter(({ first }) => !first), ...scalars];
}

function valuesOf({ enum: values, const: only, type, title, description = "" }, known) {
  if (title === QUERY_FILE) return known.queries.map((name) => entry(name, "fragment", "query", ""));
  const given = values ?? (only === undefined ? (type === "boolean" ? [true, false] : []) : [only]);
  return given.map((value) => entry(String(value), "text", "", description));
}
