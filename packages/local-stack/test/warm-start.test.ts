import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { keepWarmStart } from "../src/stack/warm-start.ts";

let folder: string;
let said: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "posthaste-warm-start-"));
  said = [];
});

afterEach(() => rm(folder, { recursive: true }));

/** With a stand-in for Java that runs `script`. */
async function find(script: string, java = "openjdk 17") {
  await writeFile(join(folder, "java"), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, "java"), 0o755);
  const parts = { folder: join(folder, "parts"), kafka: "kafka", registry: "registry", java };
  return keepWarmStart({ parts, env: { PATH: folder }, log: (line) => said.push(line) });
}

const NOTHING = { kafkaClasses: undefined, registryClasses: undefined, formatted: undefined };

it("WS3: says why there is none where it cannot be made, and leaves nothing behind", async () => {
  expect(await find("echo no such class >&2; exit 1")).toEqual(NOTHING);
  expect(said).toEqual([
    "preparing quick starts of Kafka and the registry (once)",
    expect.stringMatching(/^starts stay slow: .*data folder .* cannot be made: no such class$/),
  ]);
  expect(await readdir(join(folder, "parts"))).toEqual([]);
});

it("WS2, WS3: takes what there is of the Java that runs, and makes it for another one", async () => {
  const failing = "exit 1";
  // The name as any other program can tell it: the first characters of the SHA-256 of "openjdk 17".
  const kept = join(folder, "parts", "warm-ad81ab8af289");
  await mkdir(kept, { recursive: true });
  expect(await find(failing)).toEqual(NOTHING);
  await writeFile(join(kept, "kafka.jsa"), "");
  expect(await find(failing)).toEqual({ ...NOTHING, kafkaClasses: { use: join(kept, "kafka.jsa") } });
  await writeFile(join(kept, "registry.jsa"), "");
  await mkdir(join(kept, "formatted"));
  expect(await find(failing)).toEqual({
    kafkaClasses: { use: join(kept, "kafka.jsa") },
    registryClasses: { use: join(kept, "registry.jsa") },
    formatted: join(kept, "formatted"),
  });
  expect(said).toEqual([]);
  expect(await find(failing, "openjdk 21")).toEqual(NOTHING);
  expect(said).toHaveLength(2);
});

it("goes without while another process makes it", async () => {
  await mkdir(join(folder, "parts", "warm-ad81ab8af289-filling-abcdef"), { recursive: true });
  expect(await find("exit 1")).toEqual(NOTHING);
  expect(said).toEqual([]);
});
