// Writes each file that is named also by brotli and gzip, as small as they make it, with nothing of the time or machine.

import { readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const OPERATING_SYSTEM = 9; // a byte of gzip's header
const UNKNOWN = 255;

for (const file of process.argv.slice(2)) {
  const content = readFileSync(file);
  const hints = { [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  const byBrotli = brotliCompressSync(content, { params: { ...hints, [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } });
  const byGzip = gzipSync(content, { level: constants.Z_BEST_COMPRESSION });
  byGzip[OPERATING_SYSTEM] = UNKNOWN;
  writeFileSync(`${file}.br`, byBrotli);
  writeFileSync(`${file}.gz`, byGzip);
}
