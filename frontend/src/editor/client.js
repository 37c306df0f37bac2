// Requests to the editor's server.

import { messages } from "../dashboards/stream.js";

export const MOUNT = document.querySelector('meta[name="tenantry-mount"]')?.content ?? "";
const HEADERS = { "Content-Type": "application/json", "X-Tenantry-Editor": "1" };
const UNREACHABLE = { code: "unreachable", message: "The server cannot be reached. Please try again shortly." };

/** Emits "lost" when the session of the author has ended. */
export const connection = new EventTarget();

/** The server's response is an error, or there is no response. */
export class Refused extends Error {
  /**
   * @param {number} status 0 if there was no response
   * @param {{code?: string, message?: string, field?: string}} [error]
   * @param {any} [answer] the complete JSON of the response
   */
  constructor(status, error = {}, answer = {}) {
    super(error.message ?? `The server answered with the status ${status}.`);
    Object.assign(this, { status, code: error.code ?? "unknown", field: error.field, answer });
  }
}

/**
 * @param {string} path below MOUNT/-/
 * @param {object} body
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<Response>} a response with a status below 300; throws Refused for others
 */
export async function post(path, body, { signal } = {}) {
  let response;
  try {
    response = await fetch(`${MOUNT}/-/${path}`, { method: "POST", headers: HEADERS, body: JSON.stringify(body), signal });
  } catch (error) {
    throw signal?.aborted ? error : new Refused(0, UNREACHABLE);
  }
  if (response.ok) return response;
  const answer = await response.json().catch(() => ({}));
  if (response.status === 401 && path !== "session") connection.dispatchEvent(new Event("lost"));
  throw new Refused(response.status, answer.error, answer);
}

/** @returns {Promise<any>} the JSON of the response; throws Refused */
export async function ask(path, body, options) {
  return (await post(path, body, options)).json();
}

/** @returns {AsyncGenerator<any>} the lines of the response as they arrive; throws Refused */
export async function* lines(path, body, options) {
  const response = await post(path, body, options);
  try {
    yield* messages(response);
  } catch (error) {
    throw options?.signal?.aborted ? error : new Refused(0, UNREACHABLE);
  }
}
