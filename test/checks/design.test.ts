/** The statements of docs/design.md on the path of an event hold for the files as they are. */
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/design.md"), "utf8");
const INGEST = "services/ingest/src";
const DELIVERY = "services/delivery/src";
const STAGES = ["intake", "check", "admission", "attempt", "outcome"];
const MOST_FILES = 20;

const read = (path: string) => readFileSync(join(root, path), "utf8");
const sources = globSync("{packages,services,test}/**/*.ts", {
  cwd: root,
  exclude: (name) => name === "node_modules" || name === "dist",
});

/** The text below a heading, up to the next one of its level or a higher one. */
function section(heading: string): string {
  const from = page.indexOf(`### ${heading}\n`);
  expect(from).toBeGreaterThan(0);
  const [, text = ""] = page.slice(from).split(/^##+ .*$/m);
  return text;
}

/** The files that a text names, from the project's root; a path without a package is one of `src`. */
function filesIn(text: string, src: string): readonly string[] {
  const named = [...text.matchAll(/`([\w./-]+\.ts)`/g)].map(([, path = ""]) => path);
  return [...new Set(named.map((path) => (/^(?:packages|services)\//.test(path) ? path : `${src}/${path}`)))];
}

/** A file's imports by its path. */
function importsOf(path: string): readonly string[] {
  const imports = read(path).matchAll(/(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+)"/g);
  return [...imports].map(([, target = ""]) => normalize(join(dirname(path), target)));
}

function reachedFrom(path: string, reached = new Set<string>()): ReadonlySet<string> {
  if (!reached.has(path)) {
    reached.add(path);
    for (const each of importsOf(path)) reachedFrom(each, reached);
  }
  return reached;
}

it("every source that the page names is there", () => {
  const names = [...page.matchAll(/`([\w./-]+\.ts)`/g)].map(([, path = ""]) => path);
  expect(names.length).toBeGreaterThan(100);
  // As the page has it: `core/config/source.ts` or `source.ts`, without the folder `src`.
  const isThere = (name: string) =>
    sources.some((path) => `/${path.replace("/src/", "/")}`.endsWith(`/${name.replace("/src/", "/")}`));
  expect(names.filter((name) => !isThere(name))).toEqual([]);
});

describe("from HTTP to acknowledged", () => {
  const files = filesIn(section("From HTTP to acknowledged"), INGEST);

  it(`is told in ${MOST_FILES} files at the most, all of which are there`, () => {
    expect(files.length).toBeGreaterThan(10);
    expect(files.length).toBeLessThanOrEqual(MOST_FILES);
    expect(files.filter((path) => !sources.includes(path))).toEqual([]);
  });

  it("goes through files that the service runs", () => {
    const reached = reachedFrom(`${INGEST}/main.ts`);
    expect(files.filter((path) => path.startsWith(INGEST) && !reached.has(path))).toEqual([]);
  });
});

describe("from the deliveries topic to an outcome", () => {
  const rows = [...section("From the deliveries topic to an outcome").matchAll(/^\| (\w*) *\| (.*) \|$/gm)]
    .map(([, stage = "", text = ""]) => ({ stage, files: filesIn(text.split("|").at(-1) ?? "", DELIVERY) }))
    .filter(({ stage }) => stage !== "Step");

  it("enters each stage once, in their order", () => {
    expect(rows.map(({ stage }) => stage).filter((stage) => stage !== "")).toEqual(STAGES);
    let current = "";
    for (const { stage, files } of rows) {
      if (stage !== "") current = stage;
      expect(files).not.toEqual([]);
      expect(files.filter((path) => !sources.includes(path))).toEqual([]);
      const own = files.filter((path) => path.startsWith(DELIVERY));
      expect(own.map((path) => basename(dirname(path)))).toEqual(own.map(() => current));
    }
  });

  it("goes on by the port that each stage names: an import between stages points to an earlier one", () => {
    const stageOf = (path: string) => STAGES.indexOf(path.slice(DELIVERY.length + 1).split("/")[0] ?? "");
    const inStages = sources.filter((path) => path.startsWith(DELIVERY) && stageOf(path) >= 0);
    const late = inStages
      .filter((path) => !path.endsWith(".test.ts"))
      .flatMap((path) => importsOf(path).map((target) => ({ path, target })))
      .filter(({ path, target }) => stageOf(target) > stageOf(path));
    expect(late).toEqual([]);
    const ports = inStages.filter((path) => path.endsWith("-port.ts"));
    expect([...new Set(ports.map((path) => basename(dirname(path))))].sort()).toEqual([...STAGES.slice(0, -1)].sort());
  });
});
