/** Control's refusals are read at a terminal and in the console, where a path of the API helps nobody. */
import { glob, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SOURCES = [
  "services/control/src/**/*.ts",
  "packages/{configuration,core,dead-letters,http-kit,kafka,read-model}/src/**/*.ts",
];
/** Where the text of a refusal is written: a call, or the field of one; up to the end of the statement, or near it. */
const REFUSALS = /(?:new (?:Problem|PosthasteError)\(|\brefused\(|\bmessage: |\bdetail: )[^;]{0,200}/g;
/** The literals among them, and the part of one that looks like a path of the API. */
const LITERAL = /"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;
const PATH = /(?:^["`]|[\s(])\/[a-z][a-z0-9{}/-]*/;
/** A caller of a path that is not there is told where all of them are. */
const ALLOWED = /\$\{path\}: see \/openapi\.json/;

function pathsIn(source: string): readonly string[] {
  const literals = [...source.matchAll(REFUSALS)].flatMap(([text]) => text.match(LITERAL) ?? []);
  return literals.filter((each) => PATH.test(each) && !ALLOWED.test(each));
}

it("no refusal names a path of the API", async () => {
  const found: string[] = [];
  let refusals = 0;
  for await (const path of glob(SOURCES, { cwd: ROOT })) {
    if (path.endsWith(".test.ts")) continue;
    const source = await readFile(`${ROOT}${path}`, "utf8");
    refusals += [...source.matchAll(REFUSALS)].length;
    for (const text of pathsIn(source)) found.push(`${path}: ${text}`);
  }
  expect(found).toEqual([]);
  expect(refusals).toBeGreaterThan(100);
});

it.each([
  ['throw new Problem("conflict", `$' + "{id}: name one at /secret/next first`);", 1],
  ['refused("make one: POST /v1/sources")', 1],
  ['throw invalidInput([{ path: "plan", message: "see /v1/replays" }]);', 1],
  ['throw new Problem("conflict", `$' + "{a}/b is full, of data and/or keys`);", 0],
  ['defineRoute({ path: "/v1/sources" })', 0],
])("%s names %i", (source, count) => {
  expect(pathsIn(source)).toHaveLength(count);
});
