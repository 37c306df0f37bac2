// Asks the server about typed text: after a pause, with one request at a time. Only the response for the newest text is used.

const PAUSE = 400;

/**
 * @template A
 * @param {(...values: any[]) => Promise<A>} request
 * @param {(answer: A) => void} use gets the response, unless there was another call after its request
 * @param {(error: Error) => void} [failed] gets the error of the newest request
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
