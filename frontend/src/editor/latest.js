// Requests while an author types: one at a time, after a pause, and only the answer for the newest text counts.

const PAUSE = 400;

/**
 * @param {(...values: any[]) => Promise<any>} request
 * @param {(answer: any) => void} use
 * @param {(error: Error) => void} [failed]
 * @returns {(...values: any[]) => void}
 */
export function latest(request, use, failed = () => {}) {
  let timer;
  let running = false;
  let again = null;

  async function run(values) {
    if (running) return void (again = values);
    running = true;
    try {
      const answer = await request(...values);
      if (!again) use(answer);
    } catch (error) {
      if (!again) failed(error);
    }
    running = false;
    if (again) [values, again] = [again, null], run(values);
  }

  return (...values) => {
    again &&= values; // the answer under way is old already
    clearTimeout(timer);
    timer = setTimeout(run, PAUSE, values);
  };
}
