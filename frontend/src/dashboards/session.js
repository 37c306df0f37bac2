// How the page speaks to the server: by the group's token in memory, or by the cookie of a direct visit.

/**
 * @typedef {object} Session
 * @property {(path: string, options: RequestInit) => Promise<Response>} fetch
 * @property {Record<string, any>} filters what the host begins with
 * @property {(event: "filters" | "theme" | "ended", run: (data: any) => void) => void} on
 * @property {(event: "ready" | "height" | "error" | "filters", data?: any) => void} send
 */

/** @returns {Promise<Session>} */
export async function connect() {
  return {
    fetch: (path, options) => fetch(path, { cache: "no-store", ...options }),
    filters: {},
    on() {},
    send() {},
  };
}

export function reportHeight() {}
