// Whether an answer may stay open for changes. Over HTTP/1.1 a browser has six connections to a host, for all frames of
// all pages together, so that only the first frames keep one; the others ask from time to time.

const FRAMES = 2;

/** @returns {Promise<boolean>} once for the life of the page, which holds its place until it ends */
export async function mayStayOpen() {
  if (/^h[23]/.test(performance.getEntriesByType("navigation")[0]?.nextHopProtocol ?? "")) return true;
  if (!navigator.locks) return false; // not a secure context
  for (let place = 1; place <= FRAMES; place += 1) if (await taken(`tenantry-open-${place}`)) return true;
  return false;
}

function taken(name) {
  return new Promise((resolve) => {
    const held = (lock) => {
      resolve(Boolean(lock));
      return lock ? new Promise(() => {}) : null;
    };
    navigator.locks.request(name, { ifAvailable: true }, held).catch(() => resolve(false));
  });
}
