import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { assertSameSize } from "./kafka-processes.ts";
import { kafkaSettings, toProperties } from "./kafka-properties.ts";

let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "posthaste-kafka-"));
});

afterEach(() => rm(dataDir, { recursive: true }));

/** The content of the folder after a start with `count` brokers. */
async function begin(count: number): Promise<void> {
  const address = (id: number): string => `127.0.0.1:${20_000 + id}`;
  const layout = { count, clientAddress: address, controllerAddress: address, bindHost: "127.0.0.1" };
  await writeFile(join(dataDir, "kafka-1.properties"), toProperties(kafkaSettings(1, layout, dataDir)));
}

it("lets a fresh folder begin with either size", async () => {
  await expect(assertSameSize(dataDir, 1)).resolves.toBeUndefined();
  await expect(assertSameSize(dataDir, 3)).resolves.toBeUndefined();
});

it.each([1, 3])("lets a folder that began with %i go on with as many", async (count) => {
  await begin(count);
  await expect(assertSameSize(dataDir, count)).resolves.toBeUndefined();
});

it.each([
  [1, 3],
  [3, 1],
])("refuses to turn a cluster of %i into one of %i, and says what to do", async (before, after) => {
  await begin(before);
  await expect(assertSameSize(dataDir, after)).rejects.toThrow(
    `${dataDir} holds a cluster of ${before}: start it with --brokers ${before}, or set POSTHASTE_DATA_DIR to another folder`,
  );
});
