import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { formatStorage, keepFormatted } from "./kafka-storage.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "posthaste-storage-"));
});

afterEach(() => rm(folder, { recursive: true }));

/** A stand-in for Java that does as Kafka's tool: it counts its runs, and the last argument names its input. */
async function installJava(script: string): Promise<void> {
  await writeFile(join(folder, "java"), `#!/bin/sh\nPATH=/usr/bin:/bin\necho run >> ${folder}/runs\n${script}\n`);
  await chmod(join(folder, "java"), 0o755);
}

const META = "#\n#Sun Nov 22 10:40:22 UTC 2026\nnode.id=1\ndirectory.id=qTMtbiorA2D_0kCOgbKNpQ\nversion=1\n";
const format = (nodeId: number, formatted?: string) => {
  const logDir = join(folder, `kafka-${nodeId}`);
  const properties = join(folder, `kafka-${nodeId}.properties`);
  return formatStorage({ nodeId, logDir, java: ["-cp", "jars"], properties, env: { PATH: folder }, formatted });
};
const textOf = (name: string) => readFile(join(folder, name), "utf8");

async function makeTemplate(): Promise<string> {
  const logDir = join(folder, "first");
  await mkdir(logDir);
  await writeFile(join(logDir, "meta.properties"), META);
  await writeFile(join(logDir, "bootstrap.checkpoint"), Uint8Array.of(0, 255, 10));
  await keepFormatted(logDir, join(folder, "formatted"));
  return join(folder, "formatted");
}

it("has Kafka's tool format a folder, once, where there is none to copy", async () => {
  await installJava(`mkdir ${folder}/kafka-2; echo "$@" > ${folder}/kafka-2/meta.properties`);
  await format(2);
  await format(2);
  expect(await textOf("kafka-2/meta.properties")).toBe(
    `-cp jars kafka.tools.StorageTool format -t cG9zdGhhc3RlLWxvY2FsMQ -c ${folder}/kafka-2.properties\n`,
  );
  expect(await textOf("runs")).toBe("run\n");
});

it("says what Kafka's tool said when it cannot", async () => {
  await installJava("echo no room >&2; exit 1");
  await expect(format(2)).rejects.toThrow(`Kafka's data folder ${folder}/kafka-2 cannot be made: no room\n`);
});

it("copies a formatted folder without Java, for another node and with an id of its own", async () => {
  const formatted = await makeTemplate();
  await format(2, formatted);
  await format(3, formatted);
  const [second, third] = await Promise.all(["kafka-2/meta.properties", "kafka-3/meta.properties"].map(textOf));
  const idOf = (text: string | undefined) => /^directory\.id=(?!-)([\w-]{22})$/m.exec(text ?? "")?.[1];
  expect(new Set([META, second, third].map(idOf)).size).toBe(3);
  expect(second).toBe(META.replace("node.id=1", "node.id=2").replace("qTMtbiorA2D_0kCOgbKNpQ", `${idOf(second)}`));
  expect(third).toContain("\nnode.id=3\n");
  expect([...(await readFile(join(folder, "kafka-2/bootstrap.checkpoint")))]).toEqual([0, 255, 10]);
});

it("leaves a folder as it is that is formatted already", async () => {
  const formatted = await makeTemplate();
  await format(2, formatted);
  const before = await textOf("kafka-2/meta.properties");
  await format(2, formatted);
  expect(await textOf("kafka-2/meta.properties")).toBe(before);
});
