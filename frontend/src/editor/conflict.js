// Resolves a conflict: others have saved the file first, so their text is shown next to the author's.

import { html } from "../dashboards/dom.js";
import { load } from "../dashboards/chunks.js";
import { showDialog } from "./dialogs.js";

/**
 * @param {import("./document.js").Document} document
 * @param {{text: string | null, revision: string | null}} theirs
 * @param {{take: (text: string) => void, keep: (text: string) => Promise<void>}} choose `take` uses the text of the others, `keep` that of
 *   the author
 */
export async function showConflict(document, theirs, { take, keep }) {
  const host = html("div", { class: "diff-host" });
  let merged = () => document.text;
  const gone = theirs.text === null;
  showDialog(
    gone ? `Somebody has deleted ${document.path}` : `Somebody else has saved ${document.path}`,
    [
      html("p", {}, gone ? "Your text is still here. Save it as a new file, or let it go." : "Their text is on the left, yours on the right. You can edit yours before you keep it."),
      !gone && host,
    ].filter(Boolean),
    [
      { label: gone ? "Save mine as a new file" : "Keep mine", run: () => keep(merged()) },
      !gone && { label: "Take theirs", quiet: true, run: () => () => take(theirs.text) },
      { label: "Decide later", quiet: true },
    ].filter(Boolean),
    { wide: !gone },
  );
  if (gone) return;
  try {
    const { openDiff } = await load("editor_diff.js");
    const diff = openDiff(host, { mine: document.text, theirs: theirs.text, editable: true, language: document.language });
    merged = () => diff.text;
  } catch {
    host.append(html("pre", { tabindex: "0", "aria-label": "Theirs" }, theirs.text), html("pre", { tabindex: "0", "aria-label": "Yours" }, document.text));
    host.classList.add("plain-diff");
  }
}
