/** The check of `npm run verify` that a schema reads the records of the committed ones. */
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runNode } from "@posthaste/testkit/run-node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const program = fileURLToPath(new URL("../../scripts/check-schemas.mjs", import.meta.url));
const KIND = { type: "enum", name: "Kind", symbols: ["a", "b", "other"], default: "other" };
const ID = { name: "id", type: "string" };
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "posthaste-schemas-"));
  await mkdir(join(folder, "schemas"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** The schema of dead letters with these fields. */
async function write(...fields: readonly object[]): Promise<void> {
  const schema = { type: "record", name: "DeadLetter", fields };
  await writeFile(join(folder, "schemas/dead-letter.avsc"), JSON.stringify(schema));
}

function git(...args: readonly string[]): void {
  const author = ["-c", "user.name=n", "-c", "user.email=e@e.example"];
  const { status, stderr } = spawnSync("git", ["-C", folder, ...author, ...args], { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, expect.any(String)]);
}

function commit(): void {
  git("add", "-A");
  git("commit", "-q", "-m", "schemas");
}

const check = () => runNode([program, folder], { env: process.env });

describe("a schema", () => {
  it("may get fields with defaults and new words beside an enum's default", async () => {
    git("init", "-q");
    await write(ID, { name: "kind", type: KIND });
    commit();
    const grown = { ...KIND, symbols: ["a", "b", "c", "other"] };
    await write(ID, { name: "kind", type: grown }, { name: "more", type: ["null", "int"], default: null });
    expect(await check()).toEqual({ code: 0, stdout: "1 schemas of 1 commits compared\n", stderr: "" });
  });

  it.each([
    ["gets a field without a default", [ID, { name: "kind", type: KIND }, { name: "more", type: "int" }]],
    [
      "changes a field's type",
      [
        { name: "id", type: "long" },
        { name: "kind", type: KIND },
      ],
    ],
  ])("that %s is refused, with the commit whose records it would not read", async (_, fields) => {
    git("init", "-q");
    await write(ID, { name: "kind", type: KIND });
    commit();
    await write(...fields);
    const { code, stderr } = await check();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^schemas\/dead-letter\.avsc is not backward compatible \(.*\): records of commit [0-9a-f]{9} would not be read\n$/,
    );
  });

  it("is compared with the commit before the last, too, where the damage was committed", async () => {
    git("init", "-q");
    await write(ID);
    commit();
    await write({ name: "id", type: "long" });
    commit();
    const { code, stdout, stderr } = await check();
    expect([code, stdout]).toEqual([1, "2 schemas of 2 commits compared\n"]);
    expect(stderr.split("\n")).toHaveLength(2);
  });

  it("that is gone is refused", async () => {
    git("init", "-q");
    await write(ID);
    await writeFile(join(folder, "schemas/other.avsc"), '{"type":"record","name":"R","fields":[]}');
    commit();
    await rm(join(folder, "schemas/other.avsc"));
    expect((await check()).stderr).toMatch(/^schemas\/other\.avsc is gone: records of commit/);
  });

  it("that older releases read has a default in each of its enums, however deep", async () => {
    const bare = { type: "enum", name: "Kind", symbols: ["a", "b"] };
    await write(ID, { name: "kinds", type: { type: "array", items: bare } });
    const { code, stderr } = await check();
    expect([code, stderr]).toEqual([1, 'schemas/dead-letter.avsc: the enum Kind has no default "other"\n']);
  });

  it("without a git history is compared with nothing, which is said", async () => {
    await write(ID);
    const note = "note: there is no git history here: the schemas were compared with nothing\n";
    expect(await check()).toEqual({ code: 0, stdout: note, stderr: "" });
  });
});
