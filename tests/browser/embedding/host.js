// A host's page: an element for each group that the page names, and a note of all that happens.

window.noted = { asked: {}, events: [], messages: [] };
addEventListener("message", (event) => window.noted.messages.push(event.origin));

const wanted = document.querySelector("meta[name=groups]").content.split(" ").filter(Boolean);
const { dashboards, name, same } = document.body.dataset;
const given = {};

for (const group of wanted) {
  const element = document.createElement("tenantry-dashboard");
  element.id = group;
  element.getToken = async () => {
    noted.asked[group] = (noted.asked[group] ?? 0) + 1;
    if (same && given[group]) return given[group];
    const response = await fetch(`/token/${group}`);
    if (!response.ok) throw new Error(`no token: ${response.status}`);
    return (given[group] = await response.text());
  };
  for (const type of ["ready", "height", "filters", "error", "click"])
    element.addEventListener(type, (event) => noted.events.push([group, type, event.detail]));
  element.setAttribute("src", dashboards);
  element.setAttribute("name", name);
  document.body.append(element);
}
