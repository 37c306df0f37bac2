// Runs before anything is painted: puts the mode and the version that the reader chose last onto the root element, and
// the mark of a page that has scripts.
(function () {
  "use strict";
  var root = document.documentElement;
  root.classList.add("js");
  function kept(key) {
    try {
      return localStorage.getItem(key);
    } catch (error) {
      return null; // no storage: what the server wrote stands
    }
  }
  if ("defaultMode" in root.dataset) {
    var mode = kept("docs-mode");
    if (mode === "light" || mode === "dark") root.dataset.mode = mode;
  }
  if ("versions" in root.dataset) {
    var version = kept("docs-version:" + root.dataset.site);
    if (version !== null && root.dataset.versions.split(" ").indexOf(version) >= 0) root.dataset.version = version;
  }
})();
