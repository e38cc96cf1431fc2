/** docs/logs.md names every event that a service logs, and no other. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "./snippets.ts";

/** Packages that run in no service, and those with events of another kind. */
const ELSEWHERE = /^packages\/(?:cli|client|console|core|local-stack|testbed|testkit|tooling)\//;
/** The ways in which sources name an event, with the names in groups. */
const NAMED = [
  /\bevent(?::| =) (?:[^"\n]*\? )?"([a-z]+(?:_[a-z]+)*)"(?: : "([a-z_]+)")?/g,
  /#(?:say\("\w+", |fields\()"([a-z_]+)"/g,
  /, "([a-z]+_waits_for_schema)"/g,
];

async function eventsOf(file: string): Promise<readonly string[]> {
  const text = await readFile(join(root, file), "utf8");
  return NAMED.flatMap((form) => [...text.matchAll(form)]).flatMap(([, ...names]) => names.filter(Boolean));
}

it("names the events of the sources", async () => {
  const folders = ["packages", "services"].map(async (folder) => {
    const files = await readdir(join(root, folder), { recursive: true });
    return files.map((file) => `${folder}/${file}`);
  });
  const files = (await Promise.all(folders)).flat();
  const sources = files.filter((file) => /^[^/]+\/[^/]+\/src\/.*(?<!\.test)\.ts$/.test(file) && !ELSEWHERE.test(file));
  const logged = new Set((await Promise.all(sources.map(eventsOf))).flat());
  expect(logged.size).toBeGreaterThan(100);
  const page = await readFile(join(root, "docs/logs.md"), "utf8");
  const cells = [...page.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell = ""]) => cell);
  const named = cells.flatMap((cell) => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, name = ""]) => name));
  expect(named.toSorted()).toEqual([...logged].toSorted());
});
