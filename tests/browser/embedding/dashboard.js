// The page of a dashboard as embedding sees it: it asks its server through a Session and shows what came.

import { connect, reportHeight } from "./child.js";

const meta = (name) => document.querySelector(`meta[name="${name}"]`).content;
const root = document.querySelector("#dashboard");
const shown = { answers: 0, events: [] };

function show(changes) {
  Object.assign(shown, changes);
  root.querySelector("output").textContent = JSON.stringify(shown);
}

try {
  const mount = meta("tenantry-mount");
  const session = await connect({ mount, hosts: meta("tenantry-hosts").split(" ").filter(Boolean) });
  const address = `${mount}/${root.dataset.name}/-`;
  let filters = session.filters;

  const panel = async () => {
    const response = await session.fetch(`${address}/panels`, { method: "POST", body: JSON.stringify({ filters }) });
    const answer = response.ok ? await response.json() : { status: response.status, ...(await response.json()) };
    shown.answers += 1;
    return answer;
  };
  const load = async (count = 1) => show({ answer: (await Promise.all(Array.from({ length: count }, panel))).at(-1) });
  const stream = async () => {
    const response = await session.fetch(`${address}/stream`, { method: "POST" });
    show({ stream: response.status });
    try {
      for await (const part of chunks(response.body)) show({ stream: part.length });
      show({ stream: "ended" });
    } catch {
      show({ stream: "broken" });
    }
    await load();
  };
  const press = (name, work) => root.querySelector(`[data-name=${name}]`).addEventListener("click", () => work());

  press("load", () => load());
  press("six", () => load(6));
  press("stream", stream);
  press("tall", () => root.querySelector("p").style.setProperty("height", "1500px"));
  press("filter", () => {
    filters = { city: "Praha" };
    session.send("filters", filters);
    load();
  });
  session.on("filters", (given) => {
    filters = given;
    load();
  });
  session.on("theme", (theme) => show({ theme }));
  session.on("ended", (data) => show({ ended: data.code }));
  reportHeight(session, root);
  show({ theme: session.theme });
  await load();
  session.send("ready");
} catch (error) {
  show({ failed: error.code ?? String(error) });
}

async function* chunks(body) {
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
