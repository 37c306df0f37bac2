// Finds the rows and cells in which two results differ.

/**
 * @typedef {object} Pair
 * @property {any[] | null} left
 * @property {any[] | null} right null if the row is only on the other side
 * @property {Set<number>} cells the places of the cells that differ
 */

/**
 * Compares rows with the same value in the first column, if these values are unique on each side. Otherwise compares rows at the same
 * place.
 * @param {any[][]} left
 * @param {any[][]} right
 * @returns {{pairs: Pair[], byFirst: boolean, changed: number, onlyLeft: number, onlyRight: number}}
 */
export function differences(left, right) {
  const byFirst = isKey(left) && isKey(right);
  const keys = (rows) => rows.map((row, place) => (byFirst ? textOf(row[0]) : String(place)));
  const [leftKeys, rightKeys] = [keys(left), keys(right)];
  const rightOf = new Map(rightKeys.map((key, place) => [key, right[place]]));
  const placeOf = new Map(leftKeys.map((key, place) => [key, place]));
  const pairs = [];
  let next = 0;
  const takeLeft = (to) => {
    for (; next <= to; next += 1) pairs.push(pair(left[next], rightOf.get(leftKeys[next]) ?? null));
  };
  rightKeys.forEach((key, place) => {
    if (placeOf.has(key)) takeLeft(placeOf.get(key));
    else pairs.push(pair(null, right[place]));
  });
  takeLeft(left.length - 1);
  return {
    pairs,
    byFirst,
    changed: pairs.filter(({ cells }) => cells.size).length,
    onlyLeft: pairs.filter((each) => !each.right).length,
    onlyRight: pairs.filter((each) => !each.left).length,
  };
}

function pair(left, right) {
  const cells = new Set(left && right ? left.flatMap((value, place) => (textOf(value) === textOf(right[place]) ? [] : [place])) : []);
  return { left, right, cells };
}

function isKey(rows) {
  return new Set(rows.map(([first]) => textOf(first))).size === rows.length;
}

function textOf(value) {
  return JSON.stringify(value) ?? "null";
}
