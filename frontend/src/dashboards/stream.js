// Reads NDJSON while it arrives: each line is a message.

/**
 * @param {Response} response
 * @returns {AsyncGenerator<any>}
 */
export async function* messages(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line) yield JSON.parse(line);
  }
  if (rest.trim()) yield JSON.parse(rest);
}
