// Shows the page again when it has changed. Only a site that is being written carries this script.
(function () {
  "use strict";

  const script = document.currentScript;
  const { stream, page, version } = script.dataset;
  const key = `reload:${location.pathname}`;
  let source = null;

  // A browser keeps the place of a reload by itself, but not when the page grew meanwhile above what is being read.
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) || "null");
    sessionStorage.removeItem(key);
    if (kept && !location.hash) {
      requestAnimationFrame(() => window.scrollTo({ left: kept.left, top: kept.top, behavior: "instant" }));
    }
  } catch {
    // no storage: the browser's own memory has to do
  }

  function reload() {
    try {
      sessionStorage.setItem(key, JSON.stringify({ left: window.scrollX, top: window.scrollY }));
    } catch {
      // as above
    }
    location.reload();
  }

  function listen() {
    source = new EventSource(`${stream}?page=${encodeURIComponent(page)}`);
    source.addEventListener("version", (event) => {
      if (event.data !== version) {
        source.close();
        reload();
      }
    });
    source.addEventListener("error", () => {
      // A broken line is mended by the browser; one that was refused (the server starts, or is full) is not.
      if (source.readyState === EventSource.CLOSED) {
        source = null;
        setTimeout(follow, 1000);
      }
    });
  }

  // A page that is hidden listens for nothing: browsers allow six connections to a host.
  function follow() {
    if (document.visibilityState === "hidden") {
      if (source) {
        source.close();
        source = null;
      }
    } else if (!source) {
      listen();
    }
  }

  document.addEventListener("visibilitychange", follow);
  window.addEventListener("pagehide", () => {
    if (source) {
      source.close();
      source = null;
    }
  });
  window.addEventListener("pageshow", follow);
  follow();
})();
