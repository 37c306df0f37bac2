// Reads lines {dialect, text}; writes for each a string with a letter for each UTF-16 unit: t in a tag, s in a string,
// n in a quoted name, c in a comment, a dot elsewhere.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder] = process.argv.slice(2);
const from = (name) => import(pathToFileURL(`${folder}/${name}`));
const [{ SqlLexer, tokens }, { rulesOf }, { wordsOf }] = await Promise.all(["lexer.js", "rules.js", "words.js"].map(from));

const inTag = (context) => context !== null && (context.kind === "tag" || inTag(context.below));

for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const { dialect, text } = JSON.parse(line);
  const letters = Array(text.length).fill(".");
  for (const { kind, from, to, state, before } of tokens(new SqlLexer(rulesOf(dialect), wordsOf(dialect)), text)) {
    const plain = kind === "comment" || before.kind === "header" ? "c" : kind === "name" ? "n" : kind === "string" || before.kind === "string" ? "s" : ".";
    const tagged = kind === "tagMark" || before.kind === "tag" || (plain === "." && (inTag(before) || inTag(state.top)));
    letters.fill(tagged ? "t" : plain, from, to);
  }
  console.log(letters.join(""));
}
