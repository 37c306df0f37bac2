// Decides whether this page may keep a response open for changes. With HTTP/1.1 a browser has six connections to a host, for all frames of
// all pages together. So only the first frames keep one open, and the others ask for changes at intervals.

const FRAMES = 2;

/** @returns {Promise<boolean>} call this once; the page then keeps its permission until it ends */
export async function mayStayOpen() {
  if (/^h[23]/.test(performance.getEntriesByType("navigation")[0]?.nextHopProtocol ?? "")) return true;
  if (!navigator.locks) return false; // the page is not a secure context
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
