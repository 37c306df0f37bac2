// Runs a case of frontend/src/editor/latest.js and prints what happened, by names of requests.

import { pathToFileURL } from "node:url";

const [file, name] = process.argv.slice(2);
const { latest } = await import(pathToFileURL(file));

const events = [];
const open = new Map();
const request = (text) => new Promise((resolve, reject) => (events.push(`sent ${text}`), open.set(text, { resolve, reject })));
const ask = latest(request, (answer) => events.push(`used ${answer}`), (error) => events.push(`failed ${error.message}`), 5);
const until = async (event) => {
  while (!events.includes(event)) await new Promise((resolve) => setTimeout(resolve, 1));
};
const idle = () => new Promise((resolve) => setTimeout(resolve, 50));

const cases = {
  async pause() {
    for (const text of ["a", "ab", "abc"]) ask(text);
    await until("sent abc");
    open.get("abc").resolve("for abc");
    await until("used for abc");
  },
  async older() {
    ask("a");
    await until("sent a");
    ask("ab"); // its pause is not over when the older answer comes
    open.get("a").resolve("for a");
    await until("sent ab");
    open.get("ab").resolve("for ab");
    await until("used for ab");
  },
  async one() {
    ask("a");
    await until("sent a");
    ask("ab");
    await idle();
    ask("abc");
    await idle();
    events.push("a comes");
    open.get("a").reject(new Error("of a"));
    await until("sent abc");
    open.get("abc").resolve("for abc");
    await until("used for abc");
  },
  async failure() {
    ask("a");
    await until("sent a");
    open.get("a").reject(new Error("of a"));
    await until("failed of a");
    ask("ab");
    await until("sent ab");
    open.get("ab").resolve("for ab");
    await until("used for ab");
  },
};
await cases[name]();
console.log(JSON.stringify(events));
