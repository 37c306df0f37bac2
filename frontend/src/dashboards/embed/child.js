/** The frame's side of the hand-over: how the page of a dashboard gets its token, and with it a Session. */

import { isAllowed } from "./hosts.js";
import { Session } from "./session.js";

const PROTOCOL = 1;
/** Milliseconds that a frame waits for its host. The host may have to get the token from its own server first. */
const PATIENCE = 30_000;
const TALLEST = 20_000;

/** Why there is no session; `code` is "no_host", "no_token", "code_used", "ended" or "unreachable". */
class NoSession extends Error {
  constructor(code) {
    super(code);
    this.code = code;
  }
}

/**
 * Makes the session of this page from a single-use code in its address, from the element that embeds the page, or from a cookie.
 * @param {{mount: string, hosts: string[]}} page  the path of the dashboards; the origins that may embed this page
 * @returns {Promise<Session>}  rejects with NoSession
 */
export function connect({ mount, hosts }) {
  const code = takeCode();
  if (code !== null) return redeem(mount, code);
  if (window.parent === window) return Promise.resolve(new Session({ token: null, group: groupOfAddress() }));
  return welcomed(hosts);
}

/**
 * Reports the height of `wrapper` to the host, now and whenever it changes. `wrapper` must have `display: flow-root`, and nothing in it may
 * be as tall as the window. Otherwise frame and page would make each other grow.
 */
export function reportHeight(session, wrapper) {
  let last = 0;
  const observer = new ResizeObserver(() => {
    const { height: own } = wrapper.getBoundingClientRect();
    const height = Math.min(Math.max(Math.ceil(own), wrapper.scrollHeight), TALLEST); // includes content that overflows
    if (height !== last) session.send("height", (last = height));
  });
  observer.observe(wrapper);
  return () => observer.disconnect();
}

// --- a single-use code, in a plain iframe ---

/** Takes the code of `#code=…` out of the address and returns it. Other parts of the fragment stay. */
function takeCode() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const code = fragment.get("code");
  if (code === null) return null;
  fragment.delete("code");
  const rest = fragment.toString();
  history.replaceState(history.state, "", location.pathname + location.search + (rest && `#${rest}`));
  return code;
}

async function redeem(mount, code) {
  const request = { method: "POST", body: JSON.stringify({ code }), headers: { "Content-Type": "application/json" } };
  const credentials = document.querySelector("meta[name=tenantry-author]") ? "same-origin" : "omit"; // the session of the SQL editor's author
  const options = { ...request, credentials, cache: "no-store", redirect: "error" };
  const response = await fetch(`${mount}/-/redeem`, options).catch(() => null);
  if (response?.status === 401) throw new NoSession("ended"); // the group's end date has passed
  if (!response?.ok) throw new NoSession(response && response.status < 500 ? "code_used" : "unreachable");
  const { token } = await response.json();
  return new Session({ token, credentials, host: window.parent === window ? null : ancestor() });
}

/** The origin of the page that embeds this one in a plain iframe, or "null" if the browser does not tell it. */
function ancestor() {
  const named = location.ancestorOrigins?.[0] ?? "null";
  if (named !== "null" || !document.referrer) return named;
  return new URL(document.referrer).origin;
}

// --- a direct visit, with a cookie ---

function groupOfAddress() {
  return new URLSearchParams(location.search).get("group");
}

// --- the element of a host's page ---

function welcomed(hosts) {
  const { promise, resolve, reject } = deferred();
  const id = randomId();
  const timer = setTimeout(() => finish(() => reject(new NoSession("no_host"))), PATIENCE);

  function finish(settle) {
    clearTimeout(timer);
    removeEventListener("message", onMessage);
    settle();
  }

  function onMessage({ source, origin, data, ports }) {
    if (source !== window.parent || !isAllowed(origin, hosts)) return;
    if (data?.tenantry !== PROTOCOL || data.type !== "welcome" || data.id !== id || ports.length !== 1) return;
    const [port] = ports;
    finish(() => (data.token ? resolve(hosted(port, origin, data)) : reject(new NoSession("no_token"))));
  }

  addEventListener("message", onMessage);
  window.parent.postMessage({ tenantry: PROTOCOL, type: "hello", id }, "*"); // contains no secret
  return promise;
}

function hosted(port, origin, { token, filters, given, theme, colors }) {
  let renewal = null;
  const askHost = (refused) => {
    renewal = deferred();
    port.postMessage({ type: "token-required", data: refused });
    return renewal.promise;
  };
  const session = new Session({ token, host: origin, askHost, post: (message) => port.postMessage(message), filters, given, theme, colors });
  port.onmessage = ({ data: message }) => {
    if (message.type === "token") renewal?.resolve(message.data);
    if (message.type === "no-token") renewal?.reject(new NoSession(message.data));
    else session.receive(message);
  };
  return session;
}

/** A random id for this document, so that it ignores an answer to the document before a reload. */
function randomId() {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("");
}

function deferred() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}
