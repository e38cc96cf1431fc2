/** The check of `npm run verify` that exported names are made of words that the glossary explains, or of plain ones. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runNode } from "@posthaste/testkit/run-node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const program = fileURLToPath(new URL("../../scripts/check-glossary.mjs", import.meta.url));
const GLOSSARY = "| Word | Means |\n|---|---|\n| permit, to bury | given or refused |\n\n`decode` and `assertX`\n";
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "posthaste-glossary-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function write(path: string, text: string): Promise<void> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** Checks a file of core with these lines beside this glossary. */
async function check(...lines: readonly string[]) {
  await write("docs/glossary.md", GLOSSARY);
  await write("packages/core/src/isolation/x.ts", lines.join("\n"));
  return await runNode([program, folder], { env: process.env });
}

describe("an exported name", () => {
  it("may be of words of the glossary in all their forms, and of plain English, Kafka's and HTTP's", async () => {
    const { code, stdout } = await check(
      "export class Permit<T> {}",
      "export interface PermittedRequests {}",
      "export const MAX_PERMITS = 1;",
      "export async function assertBuriedKafkaTopics() {}",
    );
    expect([code, stdout]).toEqual([0, "4 exported names looked at\n"]);
  });

  it.each([
    ["export class PermitRoom {}", "Room", "PermitRoom"],
    ["export function zapTopic() {}", "zap", "zapTopic"],
    ["export const MAX_ZAPS = 1;", "ZAPS", "MAX_ZAPS"],
    ["export type KafkaSURLYReader = string;", "SURLY", "KafkaSURLYReader"],
    // What the glossary says of a word explains no other.
    ["export interface GivenPermit {}", "Given", "GivenPermit"],
  ])("with a stray word is reported with its file: %s", async (line, word, name) => {
    const { code, stderr } = await check("export const PERMITS = 1;", line);
    expect(code).toBe(1);
    expect(stderr).toBe(`packages/core/src/isolation/x.ts: "${word}" of ${name} is not in docs/glossary.md\n`);
  });

  it("is looked at in neither tests nor what is not exported nor other packages", async () => {
    await write("packages/core/src/x.test.ts", "export class Room {}");
    await write("packages/client/src/x.ts", "export class Room {}");
    const { code, stdout } = await check("class Room {}", "export class Permit {}");
    expect([code, stdout]).toEqual([0, "1 exported names looked at\n"]);
  });

  it("is to be found at all", async () => {
    await write("docs/glossary.md", GLOSSARY);
    expect((await runNode([program, folder], { env: process.env })).code).toBe(1);
  });
});
