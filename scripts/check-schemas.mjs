// npm run verify: each schema reads the records of the committed ones, as our codecs would read them: of the commit
// that the branch left main at, of the last commit, and of the one before it. A topic holds records of every one of
// them. An enum that others or an older release read has a default for a word that comes later.
// node scripts/check-schemas.mjs [FOLDER]   The last line names the compared commits, or says that there is no history
// to compare with; the exit code is 1 for a schema that does not read its predecessor.
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { root } from "./bootstrap.mjs";

/** Schemas whose enums an older reader may meet with a word that it does not know. */
const READ_BY_OLDER = ["attempt-batch.avsc", "dead-letter.avsc", "delivery.avsc", "unrouted-events.avsc"];

const avro = createRequire(new URL("../packages/kafka/package.json", import.meta.url))("avsc");
const folder = process.argv[2] ?? root;
const wrong = [];

const git = (...args) => {
  const { status, stdout } = spawnSync("git", ["-C", folder, ...args], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : null;
};

const schemas = new Map(
  globSync("schemas/*.avsc", { cwd: folder }).map((path) => [basename(path), readFileSync(join(folder, path), "utf8")]),
);
if (schemas.size === 0) wrong.push("there is no schema in schemas/");

for (const name of READ_BY_OLDER) {
  for (const each of enumsOf(JSON.parse(schemas.get(name) ?? "null"))) {
    if (each.default !== "other") wrong.push(`schemas/${name}: the enum ${each.name} has no default "other"`);
  }
}

const commits = [git("merge-base", "HEAD", "origin/main"), git("rev-parse", "HEAD"), git("rev-parse", "HEAD~1")];
const bases = [...new Set(commits.filter((commit) => commit !== null))];
let compared = 0;
for (const commit of bases) {
  for (const path of git("ls-tree", "--name-only", commit, "schemas/")?.split("\n") ?? []) {
    if (!path.endsWith(".avsc")) continue;
    compared += 1;
    const text = schemas.get(basename(path));
    const problem = text === undefined ? "is gone" : refusal(text, git("show", `${commit}:${path}`));
    if (problem !== null) wrong.push(`${path} ${problem}: records of commit ${commit.slice(0, 9)} would not be read`);
  }
}

for (const line of wrong) console.error(line);
if (bases.length === 0) console.log("note: there is no git history here: the schemas were compared with nothing");
else console.log(`${compared} schemas of ${bases.length} commits compared`);
process.exit(wrong.length === 0 ? 0 : 1);

/** Null where the one reads the records of the other. */
function refusal(text, committed) {
  try {
    const [reader, writer] = [text, committed].map((each) => avro.Type.forSchema(JSON.parse(each)));
    reader.createResolver(writer);
    return null;
  } catch (error) {
    return `is not backward compatible (${error.message})`;
  }
}

/** Every enum of a schema, wherever it stands in it. */
function enumsOf(value) {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.values(value).flatMap((each) => enumsOf(each));
  return value.type === "enum" ? [value, ...inner] : inner;
}
