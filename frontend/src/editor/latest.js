// Asks the server about what is typed: after a pause, one request at a time, and only the answer for the newest text
// counts.

const PAUSE = 400;

/**
 * @template A
 * @param {(...values: any[]) => Promise<A>} request
 * @param {(answer: A) => void} use gets the answer, unless there was another call since its request
 * @param {(error: Error) => void} [failed] gets the failure of the newest request
 * @param {number} [pause] milliseconds without a call before the request
 * @returns {(...values: any[]) => void}
 */
export function latest(request, use, failed = () => {}, pause = PAUSE) {
  let calls = 0;
  let timer;
  /** @type {Promise<void> | null} */
  let underWay = null;

  async function run(call, values) {
    try {
      const answer = await request(...values);
      if (call === calls) use(answer);
    } catch (error) {
      if (call === calls) failed(error);
    }
  }

  async function send(call, values) {
    await underWay;
    if (call !== calls) return;
    underWay = run(call, values);
    await underWay;
  }

  return (...values) => {
    calls += 1;
    clearTimeout(timer);
    timer = setTimeout(send, pause, calls, values);
  };
}
