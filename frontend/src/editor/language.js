// Asks the server about the text, and gives its responses to the code view: findings, variables, the catalogue, the meaning of tags. Typing
// never waits for them.

import { ask, MOUNT } from "./client.js";
import { latest } from "./latest.js";

/** Milliseconds after which to ask again while the server is still counting groups. */
const COUNTING = 2_000;
/** Milliseconds for which a catalogue is not requested again. */
const CURRENT = 600_000;

/**
 * @param {import("./workspace.js").Workspace} workspace
 * @param {any} view the element `tenantry-code`
 * @param {{findings: (findings: any[]) => void, params: (params: any[], dashboards: any[]) => void, dialect: (name: string) => void, meaning: (meaning: any) => void, failed: (error: Error) => void}} shown
 */
export function followLanguage(workspace, view, shown) {
  const knowledge = { variables: [], params: [], fragments: [], catalogue: null };
  const body = (...names) => workspace.body(workspace.active, ...names);
  const tell = (changes) => view.setKnowledge(Object.assign(knowledge, changes));

  const check = latest(() => ask("check", body("path", "text", "drafts", "environment", "group", "schema", "dashboard")), ({ findings, dialect, groups }) => {
    if (groups === null) setTimeout(check, COUNTING); // the counts of groups are not ready
    if (dialect) shown.dialect(dialect);
    view.setFindings(findings);
    shown.findings(findings);
  }, shown.failed);
  /** Like `latest`, for requests that only queries need. If another file is open, it sends no request and ignores responses. */
  const ofQuery = (request, use) => {
    let asked;
    return latest(() => {
      asked = workspace.active;
      return asked?.language === "sql" ? request() : Promise.reject(new Error("no query"));
    }, (answer) => asked === workspace.active && use(answer));
  };
  let latestVariables = "";
  let dashboards = []; // the dashboards that use the query
  const variables = ofQuery(() => ask("variables", body("path", "text", "drafts", "environment", "group", "viewer", "schema", "dashboard")), (answer) => {
    const known = latestVariables;
    latestVariables = JSON.stringify(answer);
    if (latestVariables === known) return; // so that a field keeps the focus while the author fills it in
    tell(answer);
    dashboards = answer.dashboards;
    workspace.active.usedBy = dashboards.map(({ name }) => name);
    shown.params(answer.params, dashboards);
    adopt();
  });

  /** Sets the schema to that of the dashboard that uses the query. This happens once for each query and dashboard. */
  function adopt() {
    const { active, choice, schemas } = workspace;
    const { name, schema } = dashboards.find((each) => each.name === active.dashboard) ?? dashboards[0] ?? {};
    if (active.adopted === name || !schemas.includes(schema)) return;
    active.adopted = name;
    if (schema !== choice.schema) workspace.choose({ schema });
  }

  const meaning = ofQuery(() => ask("meaning", body("path", "text", "drafts", "environment", "group", "viewer", "schema", "params", "dashboard")), (answer) => {
    view.setMeaning(answer);
    shown.meaning(answer);
  });
  const catalogue = latest((refresh = false) => ask("catalogue", { ...body("environment", "group", "schema"), refresh }), (answer) => {
    outdated = Date.now() + CURRENT - answer.age * 1000;
    tell({ catalogue: answer });
    shown.dialect(answer.dialect);
  });

  function follow() {
    const { active, choice } = workspace;
    if (!active || !choice.environment) return;
    check();
    if (active.language !== "sql" || !choice.group) return;
    variables();
    meaning();
  }

  let schema = null;

  /** Requests the JSON schema of dashboards. */
  async function describeDashboards() {
    schema ??= fetch(`${MOUNT}/-/dashboard-schema.json`).then((response) => (response.ok ? response.json() : Promise.reject(new Error(response.statusText))));
    try {
      tell({ schema: await schema, mapped: workspace.schemas, queries: workspace.files.filter(({ kind }) => kind === "query").map(({ path }) => path.replace(/^queries\/|\.sql$/g, "")) });
    } catch {
      schema = null; // completion is not essential, and the next file requests the schema again
    }
  }

  let known = "";
  let outdated = 0;
  workspace.on("open", () => ([latestVariables, dashboards] = ["", []]));
  workspace.on("schemas", () => dashboards.length && adopt());
  workspace.on("text open choice params", follow);
  workspace.on("open choice schemas", () => workspace.active?.isDashboard && describeDashboards());
  workspace.on("open choice", () => {
    const { active, choice } = workspace;
    const key = JSON.stringify([choice.environment, choice.group?.id, choice.schema]);
    if (!active || !choice.group || (key === known && Date.now() < outdated)) return;
    known = key;
    catalogue();
  });
  return { refresh: () => workspace.choice.group && catalogue(true) };
}
