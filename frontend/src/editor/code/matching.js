// Finds the names that match the typed text, as a result for CodeMirror's completion. Names that begin with it are first, then names with a
// part that does, then names that contain it.

const MOST = 100;

/**
 * @template {{ label: string, key: string }} T
 * @param {readonly (readonly T[])[]} lists in order of preference; ``key`` is the label in lower case
 * @param {string} typed
 * @returns {T[]} at most 100, each label once
 */
function fitting(lists, typed) {
  const wanted = typed.toLowerCase();
  const [first, second, third] = [[], [], []];
  for (const list of lists) {
    for (const entry of list) {
      const at = placeOf(entry.key, wanted);
      if (at < 0) continue;
      const found = at === 0 ? first : /[._]/.test(entry.key[at - 1]) ? second : third;
      if (found.length < MOST) found.push(entry);
    }
    if (first.length === MOST) break;
  }
  const seen = new Set();
  return [...first, ...second, ...third].filter(({ label }) => !seen.has(label) && seen.add(label)).slice(0, MOST);
}

function placeOf(key, wanted) {
  const first = key.indexOf(wanted);
  if (first <= 0) return first;
  const part = Math.max(key.indexOf(`.${wanted}`), key.indexOf(`_${wanted}`));
  return part < 0 ? first : part + 1;
}

/** @returns {readonly number[]} the beginning and end of the typed text within a label */
function typedPart(label, typed) {
  const at = placeOf(label.toLowerCase(), typed.toLowerCase());
  return at < 0 || !typed ? [] : [at, at + typed.length];
}

/**
 * @param {number} from where the typed word begins
 * @param {RegExp} valid matches a word; while the typed word matches, the same lists are searched again
 * @returns {import("@codemirror/autocomplete").CompletionResult | null}
 */
export function offered(from, lists, typed, valid) {
  const options = fitting(lists, typed);
  if (!options.length) return null;
  return {
    from,
    options,
    filter: false,
    getMatch: (option) => typedPart(option.label, typed),
    update(_current, start, end, context) {
      const now = context.state.sliceDoc(start, end);
      return valid.test(now) ? offered(start, lists, now, valid) : null;
    },
  };
}
