// The page of the SQL editor.

import "./code/element.js";

const mount = document.querySelector('meta[name="tenantry-mount"]').content;
const answer = await fetch(`${mount}/-/state`, {
  method: "POST",
  headers: { "Content-Type": "application/json", "X-Tenantry-Editor": "1" },
  body: "{}",
});
const state = await answer.json();
document.getElementById("editor").textContent = answer.ok ? state.author : state.error.message;
