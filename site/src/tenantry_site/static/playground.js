// The playground of API pages: builds the request from the inputs, keeps the snippets in step, sends, shows the answer.
// What is typed stays in the memory of this page; only the choice of a base URL is remembered.
(() => {
"use strict";

const root = document.querySelector("[data-api]");
if (!root) return;
const { method, path: route, servers, ways: signings = [], media: medias = [], host, relay, query: byQuery, node } = JSON.parse(root.dataset.api);
const bodyless = ["GET", "HEAD"].includes(method);

const all = (selector) => [...root.querySelectorAll(selector)];
const one = (selector, within = root) => within.querySelector(selector);
const [form, bases, types, ways] = ["try", "bases", "types", "ways"].map((name) => one(`[data-${name}]`));
const shown = (element) => !element.closest("[hidden]");
const chosen = (select) => (select ? Number(select.value) : 0);

function parse(text) {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { error };
  }
}

function make(name, words = "", properties = {}) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(words);
  return element;
}

// --- the request: the same rules as request.py ---

// Within the form: the parameters that an author describes in the text are marked with data-in, too.
const inputs = (place) => all(`[data-try] [data-in="${place}"]`).filter(shown);
const lines = (input) => input.value.split("\n").filter(Boolean);
const blank = (name) => `<${name.replace(/[^A-Za-z0-9]+/g, "_").replace(/^_+|_+$/g, "").toUpperCase() || "VALUE"}>`;
const line = (text) => text.replace(/[\x00-\x1f\x7f]+/g, " ").trim();
const encode = encodeURIComponent;
const home = (address) => (address.includes("://") ? address : (/^http/.test(location.protocol) ? location.origin : host) + address);

function base() {
  const at = chosen(bases);
  let { url } = servers[at];
  for (const input of all(`[data-server="${at}"] [data-variable]`)) {
    url = url.replaceAll(`{${input.dataset.variable}}`, encodeURI(input.value));
  }
  return home(url);
}

function path() {
  const values = new Map(inputs("path").map((input) => [input.dataset.name, input.value && expanded(input, encode)]));
  return route.map((part, at) => (at % 2 ? values.get(part) || `{${part}}` : part)).join("");
}

// An object in an input that is sent by its parts.
function members({ value, dataset: { kind, style } }) {
  const found = kind === "json" && style !== "whole" ? parse(value).value : null;
  if (!found || typeof found !== "object" || Array.isArray(found)) return null;
  return Object.entries(found).map(([key, item]) => [key, typeof item === "string" ? item : JSON.stringify(item)]);
}

function expanded(input, encode) {
  const { name, kind, style } = input.dataset;
  const explode = !("joined" in input.dataset);
  const before = { label: ".", matrix: ";" }[style] || "";
  const items = members(input)?.map((pair) => pair.map(encode));
  let found = [items ? items.join() : encode(input.value)];
  if (items && explode) found = items.map((pair) => pair.join("="));
  if (kind === "list") found = [lines(input).map(encode)].flatMap((each) => (explode ? each : each.join()));
  if (style === "matrix" && !(items && explode)) found = found.map((each) => `${encode(name)}=${each}`);
  return before + found.join(before || ",");
}

function pairs(input) {
  const { name, kind, style } = input.dataset;
  const explode = !("joined" in input.dataset);
  const items = members(input)?.map(([key, item]) => [key, encode(item)]);
  if (items) {
    if (style === "deepObject") return items.map(([key, item]) => [`${name}[${key}]`, item]);
    return explode ? items : [[name, items.map(([key, item]) => `${encode(key)},${item}`).join()]];
  }
  if (kind !== "list") return [[name, encode(input.value)]];
  const values = lines(input).map(encode);
  if (explode) return values.map((item) => [name, item]);
  return [[name, values.join({ spaceDelimited: "%20", pipeDelimited: "|" }[style] || ",")]];
}

function query(real, signing) {
  const found = inputs("query").flatMap((input) => {
    const { name } = input.dataset;
    if (input.value) return pairs(input);
    return input.required && !real ? [[name, `{${name}}`]] : [];
  });
  for (const { name, typed, text, in: place } of signing) {
    if (place === "query" && (typed || !real)) found.push([name, typed ? encode(text) : `{${name}}`]);
  }
  return found.map(([name, value], at) => `${at ? "&" : "?"}${encode(name)}=${value}`).join("");
}

// The prefix stands before the field. A value that was pasted with it has it once all the same.
const prefixOf = (field) => field.dataset.prefix || "";

function bare(field) {
  const prefix = prefixOf(field);
  const value = prefix ? field.value.trimStart() : field.value;
  return prefix && value.toLowerCase().startsWith(prefix.toLowerCase()) ? value.slice(prefix.length).trimStart() : value;
}

// What signs in. A snippet has names in place of secrets that are hidden in their field too.
function secrets(real) {
  const way = chosen(ways);
  return (signings[way] || []).map((each, at) => {
    const fields = all(`[data-way="${way}"] [data-credential="${at}"]`);
    const open = (field) => real || (field.type === "text" && field.value);
    const texts = fields.map((field, part) => {
      return prefixOf(field) + (open(field) ? bare(field) : blank(each.kind === "bearer" ? "TOKEN" : each.labels[part]));
    });
    return { ...each, texts, text: texts[0], typed: fields.some((field) => field.value.trim() && open(field)) };
  });
}

function build(real) {
  const signing = secrets(real);
  const headers = [];
  const crumbs = [];
  for (const { kind, in: place, name, text, typed } of signing) {
    if ((real && !typed) || kind === "basic") continue;
    if (place === "cookie") crumbs.push(`${name}=${text}`);
    if (place === "header") headers.push([name, line(kind === "bearer" && !/^bearer /i.test(text) ? `Bearer ${text}` : text)]);
  }
  for (const input of [...inputs("header"), ...inputs("cookie")]) {
    const { name, in: place } = input.dataset;
    const value = !input.value && input.required && !real && blank(name);
    if (place === "header" && (input.value || value)) headers.push([name, line(value || expanded(input, String))]);
    else if (input.value || value) crumbs.push(...(value ? [[name, value]] : pairs(input)).map((pair) => pair.join("=")));
  }
  if (crumbs.length) headers.push(["Cookie", line(crumbs.join("; "))]);
  const body = content();
  if (body.kind && !body.pairs) headers.push(["Content-Type", line(body.type)]);
  const basic = signing.find(({ kind, typed }) => kind === "basic" && (!real || typed));
  return { ...body, url: base() + path() + query(real, signing), headers, user: basic && basic.texts };
}

function content() {
  const at = chosen(types);
  if (!medias[at]) return {};
  const [type, kind] = medias[at];
  const field = one(`[data-media="${at}"] [data-body]`);
  if (field) return field.files ? { type, kind, file: field.files[0] } : { type, kind: kind === "json" ? kind : "text", text: field.value };
  const found = inputs("body").flatMap((input) => {
    const { name } = input.dataset;
    const file = input.files && input.files[0];
    if (input.dataset.kind === "list") return lines(input).map((each) => [name, each]);
    if (!input.value && !input.required) return [];
    return [input.files ? [name, file ? file.name : "FILE", true, file] : [name, input.value || blank(name)]];
  });
  return { type, kind, pairs: found };
}

// --- snippets: the same as snippets/*.py ---

const quote = (text) => JSON.stringify(text);
const quoted = (texts) => texts.map(quote).join(", ");
const shell = (text) => `'${text.replaceAll("\0", "").replaceAll("'", "'\"'\"'")}'`;
const WORDS = { true: "True", false: "False", null: "None" };

function literal(kind, text, python, indent) {
  if (kind !== "json" || parse(text).error) return null;
  const spelled = text.trim().replace(/("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b/g, (_, string, colon = "", word) => {
    if (word) return python ? WORDS[word] : word;
    const again = quote(JSON.parse(string));
    return colon && !python && again === '"__proto__"' ? `[${again}]${colon}` : again + colon;
  });
  return spelled.replaceAll("\n", `\n${" ".repeat(indent)}`);
}

function curl({ url, headers, user, kind, text, pairs }) {
  const parts = [method === "HEAD" ? "curl --head" : `curl --request ${method}`, `--url ${shell(url)}`];
  if (user) parts.push(`--user ${shell(user.join(":"))}`);
  for (const pair of headers) parts.push(`--header ${shell(pair.join(": "))}`);
  if (kind === "binary") parts.push("--data-binary '@FILE'");
  if (text !== undefined) parts.push(`--data-raw ${shell(text)}`);
  for (const [name, value, file] of pairs || []) {
    const option = kind === "form" ? "data-urlencode" : file ? "form" : "form-string";
    parts.push(`--${option} ${shell(`${name}=${file ? "@" : ""}${value}`)}`);
  }
  return parts.join(" \\\n  ");
}

const SEND = [
  "try:",
  "    response = urlopen(request)",
  "except HTTPError as error:",
  "    response = error",
  "print(response.status, response.read().decode())",
].join("\n");
const named = (text) => text.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22");

function python({ url, headers, user, kind, text, pairs }) {
  const rows = (items, indent = 8) => items.map((item) => `${" ".repeat(indent)}${item},\n`).join("");
  let [before, data] = ["", ""];
  const lines = headers.map((pair) => pair.map(quote).join(": "));
  if (user) lines.unshift(`"Authorization": "Basic " + b64encode(${quote(user.join(":"))}.encode()).decode()`);
  if (kind === "binary") data = 'open("FILE", "rb").read()';
  if (kind === "form") data = `urlencode([\n${rows(pairs.map((pair) => `(${quoted(pair.slice(0, 2))})`))}    ]).encode()`;
  if (kind === "multipart") {
    const part = ([name, value, file]) => {
      const disposition = `name="${named(name)}"${file ? `; filename="${named(value)}"` : ""}`;
      return `(${quote(disposition)}, ${file ? `open(${quote(value)}, "rb").read()` : `${quote(value)}.encode()`})`;
    };
    before = [
      "boundary = uuid4().hex",
      'body = b""',
      `for disposition, content in [\n${rows(pairs.map(part), 4)}]:`,
      '    head = f"--{boundary}\\r\\nContent-Disposition: form-data; {disposition}\\r\\n\\r\\n"',
      '    body += head.encode() + content + b"\\r\\n"',
      'body += f"--{boundary}--\\r\\n".encode()\n\n',
    ].join("\n");
    data = "body";
    lines.push('"Content-Type": "multipart/form-data; boundary=" + boundary');
  }
  if (text !== undefined) {
    const value = literal(kind, text, true, 4);
    data = value === null ? `${quote(text)}.encode()` : `json.dumps(${value}).encode()`;
  }
  const imports = [
    data.startsWith("json.") && "import json",
    user && "from base64 import b64encode",
    "from urllib.error import HTTPError",
    kind === "form" && "from urllib.parse import urlencode",
    "from urllib.request import Request, urlopen",
    kind === "multipart" && "from uuid import uuid4",
  ].filter(Boolean);
  const parts = [quote(url), `method=${quote(method)}`];
  if (lines[0]) parts.push(`headers={\n${rows(lines)}    }`);
  if (data) parts.push(`data=${data}`);
  return `${imports.join("\n")}\n\n${before}request = Request(\n${rows(parts, 4)})\n${SEND}`;
}

function javascript({ url, headers, user, kind, text, pairs }) {
  let [before, body] = ["", ""];
  if (kind === "binary") body = "fileInput.files[0]";
  if (kind === "form") body = `new URLSearchParams([${pairs.map((pair) => `[${quoted(pair.slice(0, 2))}]`).join(", ")}])`;
  if (kind === "multipart") {
    const part = ([name, value, file]) => `form.append(${quote(name)}, ${file ? "fileInput.files[0]" : quote(value)});\n`;
    [before, body] = [`const form = new FormData();\n${pairs.map(part).join("")}\n`, "form"];
  }
  if (text !== undefined) {
    const value = literal(kind, text, false, node ? 0 : 2);
    body = value === null ? quote(text) : `JSON.stringify(${value})`;
  }
  const list = headers.map((pair) => `    ${pair.map(quote).join(": ")},\n`);
  if (user) list.unshift(`    "Authorization": "Basic " + btoa(${quote(user.join(":"))}),\n`);
  if (node) {
    const parts = { URL: quote(url), HEADERS: list.join(""), BODY: pairs ? `String(${body})` : body, HTTP: /^http:/.test(url) ? "http" : "https" };
    return node.replace(/@([A-Z]+)@/g, (_, name) => parts[name]);
  }
  const rows = `  method: ${quote(method)},\n${list[0] ? `  headers: {\n${list.join("")}  },\n` : ""}${body && `  body: ${body},\n`}`;
  return `${before}const response = await fetch(${quote(url)}, {\n${rows}});\nconsole.log(response.status, await response.text());`;
}

const PIECES =
  /("(?:[^"\\\n]|\\.)*")(?=\s*:)|("(?:[^"\\\n]|\\.)*"|'[^']*')|(^\/\/.*)|\b(true|false|null|True|False|None|import|from|try|except|as|for|in|const|let|await|new)\b|(-?\b\d[\d.eE+-]*\b)/gm;

function paint(code, text) {
  const nodes = [];
  let end = 0;
  for (const match of text.length > 1e5 ? [] : text.matchAll(PIECES)) {
    nodes.push(text.slice(end, match.index), make("span", match[0], { className: "gsckm"[match.slice(1).findIndex(Boolean)] }));
    end = match.index + match[0].length;
  }
  code.replaceChildren(...nodes, text.slice(end));
}

const snippets = all("[data-snippets] > .tab pre code");
const filled = servers.map((server) => server.filled);
let before = filled[0].includes("://") ? filled[0] : host + filled[0];

function refresh() {
  if (form) {
    const request = build(false);
    [curl, python, javascript].forEach((write, at) => {
      const text = write(request);
      if (snippets[at] && snippets[at].textContent !== text) paint(snippets[at], text);
    });
    return;
  }
  const after = home(filled[chosen(bases)]); // without a form, only the address changes
  if (before !== after) for (const code of snippets) paint(code, code.textContent.replace(before, () => after));
  before = after;
}

// --- the base URL ---

function onBase() {
  for (const each of all("[data-server]")) each.hidden = Number(each.dataset.server) !== chosen(bases);
  refresh();
}

if (bases) {
  let memory = {};
  try {
    memory = localStorage;
  } catch {} // forbidden: the choice lasts as long as the page
  bases.value = Math.max(0, servers.findIndex(({ url }) => url === memory["base-url"]));
  bases.addEventListener("change", () => {
    memory["base-url"] = servers[chosen(bases)].url;
    onBase();
  });
}
onBase();
if (!form) return;

// --- problems ---

function problem(input) {
  const value = input.value.trim();
  const { kind, in: place } = input.dataset;
  if (!value) return input.required ? "This is required." : "";
  if (place === "path" && /^\.\.?$/.test(expanded(input, String))) return "A path cannot hold . or .. alone.";
  if (kind === "number" && !Number.isFinite(Number(value))) return "This is not a number.";
  const json = kind === "json" || (!place && !input.files && medias[chosen(types)][1] === "json");
  const { error } = json ? parse(input.value) : {};
  return error ? `This is not JSON: ${error.message}` : "";
}

function mark(input, words = problem(input)) {
  const id = `${input.id}-problem`;
  document.getElementById(id)?.remove();
  input.ariaInvalid = words ? "true" : null;
  input.setAttribute("aria-describedby", words ? id : "");
  if (words) input.after(make("p", words, { id, className: "try-problem" }));
  return words;
}

function faulty() {
  const wrong = all("[data-try] :is([data-in], [data-body])").filter((input) => shown(input) && mark(input));
  if (!wrong.length) return false;
  for (let each = wrong[0]; each; each = each.parentElement) each.open = true;
  wrong[0].focus();
  live.textContent = `Inputs to mend: ${wrong.length}.`;
  return true;
}

// --- sending ---

const [note, answer, live, stop, send] = ["note", "answer", "live", "stop", "send"].map((name) => one(`[data-${name}]`));
let going = null;

function say(words) {
  note.textContent = live.textContent = words;
  note.hidden = !words;
}

function payload({ kind, text, pairs, file }) {
  if (!pairs) return file || text;
  if (kind === "form") return new URLSearchParams(pairs.map((pair) => pair.slice(0, 2)));
  const data = new FormData();
  for (const [name, value, isFile, content] of pairs) data.append(name, isFile ? content : value);
  return data;
}

async function byRelay(request, signal) {
  const packed = new Response(payload(request));
  const headers = Object.fromEntries(request.headers);
  if (request.pairs) headers["Content-Type"] = packed.headers.get("Content-Type");
  const body = request.kind ? decoded(await packed.arrayBuffer()) : null;
  if (body === undefined) throw new Error("The relay sends text alone, and this file is none: use the curl command.");
  const reply = await fetch(relay, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Tenantry-Relay": "1" },
    body: JSON.stringify({ method, url: request.url, headers, body }),
    signal,
  });
  const { value } = parse(await reply.text());
  if (value && value.error) throw new Error(`The relay did not send it: ${value.error.message || value.error.code}`);
  if (!value || !value.status) throw new Error(`The relay does not answer as one (status ${reply.status}).`);
  const { body: got, encoding } = value;
  const [text, length] = encoding === "base64" ? [undefined, atob(got).length] : [got, new Blob([got]).size];
  return { ...value, headers: Object.entries(value.headers), text, length };
}

function decoded(bytes) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined; // not text
  }
}

async function direct(request, signal) {
  if (request.kind && bodyless) {
    const words = `A browser sends no body with ${method}, and these docs have no relay:`;
    throw new Error(`${words} ${byQuery ? "send it with QUERY, or " : ""}use the curl command.`);
  }
  const started = performance.now();
  const options = { method, headers: request.headers, body: payload(request), signal, credentials: "omit", cache: "no-store" };
  const reply = await fetch(request.url, options).catch((error) => {
    const { origin } = new URL(request.url);
    if (signal.aborted || origin === location.origin) throw error;
    const words = `The browser did not let this page call ${origin}, or nothing answers there.`;
    throw new Error(`${words} Without a relay a page calls other hosts only where they agree: use the curl command.`);
  });
  const bytes = await reply.arrayBuffer();
  const milliseconds = Math.round(performance.now() - started);
  return { status: reply.status, headers: [...reply.headers], text: decoded(bytes), length: bytes.byteLength, milliseconds };
}

async function onSend() {
  if (going || faulty()) return;
  const control = (going = new AbortController());
  const timer = setTimeout(() => control.abort("time"), 30000);
  send.ariaDisabled = "true";
  stop.hidden = false;
  say("Sending…");
  try {
    const request = build(true);
    if (request.headers.some(([name]) => name === "Cookie")) throw new Error("A page cannot send cookies: use the curl command.");
    const bytes = request.user && new TextEncoder().encode(request.user.join(":"));
    if (bytes) request.headers.push(["Authorization", `Basic ${btoa(String.fromCharCode(...bytes))}`]);
    show(await (relay ? byRelay : direct)(request, control.signal));
  } catch (error) {
    const { aborted, reason } = control.signal;
    answer.hidden = true;
    say(!aborted ? error.message : reason === "time" ? "No answer came within 30 seconds." : "Stopped.");
  } finally {
    clearTimeout(timer);
    going = null;
    send.ariaDisabled = null;
    stop.hidden = true;
  }
}

// --- the answer ---

// What would not be seen, or would turn the text around, is.
const visible = (text) =>
  text.replace(/\r\n/g, "\n").replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (each) => {
    return `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
const told = (words) => make("p", words, { className: "try-note" });

function show({ status, headers, text, length, milliseconds, truncated }) {
  const size = length < 1024 ? `${length} bytes` : `${(length / 1024).toFixed(1)} KiB`;
  const first = make("p", make("span", String(status), { className: `status status-${String(status)[0]}` }), { className: "try-status" });
  first.append(` ${milliseconds} ms, ${size}`);
  const table = make("table");
  for (const [name, value] of headers) {
    table.insertRow().append(make("th", name, { scope: "row" }), make("td", visible(String(value))));
  }
  const fold = make("details", make("summary", `Headers (${headers.length})`), { className: "try-headers" });
  fold.append(table);
  answer.replaceChildren(first, fold, ...inside(headers, text, length));
  if (truncated) answer.append(told("The answer is longer; the relay passed on its beginning."));
  answer.hidden = false;
  say("");
  live.textContent = `Answer: status ${status}, ${milliseconds} milliseconds, ${size}.`;
}

function inside(headers, text, length) {
  if (!length) return [told("The answer has no body.")];
  if (text === undefined) {
    const [, type] = headers.find(([name]) => name.toLowerCase() === "content-type") || ["", "of no type"];
    return [told(`The body is not text (${visible(type)}).`)];
  }
  const { value, error } = parse(text);
  const code = make("code");
  const asIs = error || /\d{16}/.test(text); // else rounded
  paint(code, visible(asIs ? text : JSON.stringify(value, null, 2)));
  const block = make("div", make("pre", code, { tabIndex: 0 }), { className: "code" });
  return error && /^\s*[{[]/.test(text) ? [told("The body is not valid JSON."), block] : [block];
}

// --- events ---

form.addEventListener("submit", (event) => {
  event.preventDefault();
  onSend();
});
stop.addEventListener("click", () => going && going.abort());
form.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onSend();
});
form.addEventListener("input", ({ target, inputType }) => {
  if (inputType === "insertFromPaste" && prefixOf(target)) target.value = bare(target);
  if (target.ariaInvalid || ("body" in target.dataset && target.value)) mark(target);
  refresh();
});
form.addEventListener("change", ({ target }) => {
  for (const name of ["way", "media"]) {
    if (target.dataset.chooses === name) for (const each of all(`[data-${name}]`)) each.hidden = each.dataset[name] !== target.value;
  }
  if ("examples" in target.dataset) {
    const area = one("[data-body]", target.closest("[data-media]"));
    area.value = target.value;
    mark(area, "");
  }
  refresh();
});
form.addEventListener("click", ({ target }) => {
  const input = target.dataset.reveal && document.getElementById(target.dataset.reveal);
  if (!input) return;
  const open = input.type === "password";
  input.type = open ? "text" : "password";
  target.textContent = open ? "Hide" : "Show";
  target.ariaPressed = open;
  refresh();
});
})();
