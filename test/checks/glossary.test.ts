/** The check of `npm run verify` that exported names are made of words that the glossary explains, or of plain ones. */
import { describe, expect, it } from "vitest";
import { check, useFolder } from "./checked-folder.ts";

const GLOSSARY = "| Word | Means |\n|---|---|\n| permit, to bury | given or refused |\n\n`decode` and `assertX`\n";

useFolder();

/** Checks a file of core with these lines beside this glossary, and others. */
function checkLines(lines: readonly string[], others: Readonly<Record<string, string>> = {}) {
  const files = { "docs/glossary.md": GLOSSARY, "packages/core/src/isolation/x.ts": lines.join("\n") };
  return check("glossary", { ...files, ...others });
}

describe("an exported name", () => {
  it("may be of words of the glossary in all their forms, and of plain English, Kafka's and HTTP's", async () => {
    const { code, stdout } = await checkLines([
      "export class Permit<T> {}",
      "export interface PermittedRequests {}",
      "export const MAX_PERMITS = 1;",
      "export async function assertBuriedKafkaTopics() {}",
    ]);
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
    const { code, stderr } = await checkLines(["export const PERMITS = 1;", line]);
    expect(code).toBe(1);
    expect(stderr).toBe(`packages/core/src/isolation/x.ts: "${word}" of ${name} is not in docs/glossary.md\n`);
  });

  it("is looked at in neither tests nor what is not exported nor other packages", async () => {
    const { code, stdout } = await checkLines(["class Room {}", "export class Permit {}"], {
      "packages/core/src/x.test.ts": "export class Room {}",
      "packages/client/src/x.ts": "export class Room {}",
    });
    expect([code, stdout]).toEqual([0, "1 exported names looked at\n"]);
  });

  it("is to be found at all", async () => {
    expect((await check("glossary", { "docs/glossary.md": GLOSSARY })).code).toBe(1);
  });
});
