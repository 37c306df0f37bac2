// Brings what the server knows of a text to the code view: findings, variables, the catalogue, the meaning of tags.
// Typing waits for none of it.

import { ask, MOUNT } from "./client.js";
import { nameOf } from "./document.js";
import { latest } from "./latest.js";

/**
 * @param {import("./workspace.js").Workspace} workspace
 * @param {any} view the element `tenantry-code`
 * @param {{findings: (findings: any[]) => void, params: (params: any[]) => void, dialect: (name: string) => void, meaning: (meaning: any) => void, failed: (error: Error) => void}} shown
 */
export function followLanguage(workspace, view, shown) {
  const knowledge = { variables: [], params: [], fragments: [], catalogue: null };
  const body = (...names) => workspace.body(workspace.active, ...names);
  const tell = (changes) => view.setKnowledge(Object.assign(knowledge, changes));

  const check = latest(() => ask("check", body("path", "text", "drafts", "environment", "group", "schema")), ({ findings, dialect }) => {
    if (dialect) shown.dialect(dialect);
    view.setFindings(findings);
    shown.findings(findings);
  }, shown.failed);
  const variables = latest(() => ask("variables", body("path", "text", "environment", "group", "viewer", "schema")), (answer) => {
    tell(answer);
    shown.params(answer.params);
  });
  const meaning = latest(() => ask("meaning", body("path", "text", "drafts", "environment", "group", "viewer", "schema", "params")), (answer) => {
    view.setMeaning(answer);
    shown.meaning(answer);
  });
  const catalogue = latest((refresh = false) => ask("catalogue", { ...body("environment", "group", "schema"), refresh }), (answer) => {
    tell({ catalogue: answer });
    if (answer.dialect) shown.dialect(answer.dialect);
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

  /** What the file of a dashboard can hold. */
  async function describeDashboards() {
    schema ??= fetch(`${MOUNT}/-/dashboard-schema.json`).then((response) => (response.ok ? response.json() : Promise.reject(new Error(response.statusText))));
    try {
      tell({ schema: await schema, queries: workspace.files.filter(({ path }) => path.endsWith(".sql")).map(({ path }) => nameOf(path).replace(/\.sql$/, "")) });
    } catch {
      schema = null; // the file can be written without it, and the next one asks again
    }
  }

  let known = "";
  workspace.on("text open choice params", follow);
  workspace.on("open", () => workspace.active?.isDashboard && describeDashboards());
  workspace.on("open choice", () => {
    const { active, choice } = workspace;
    const key = JSON.stringify([choice.environment, choice.group?.id, choice.schema]);
    if (key === known || !active || !choice.group) return;
    known = key;
    catalogue();
  });
  return { refresh: () => workspace.choice.group && catalogue(true) };
}
