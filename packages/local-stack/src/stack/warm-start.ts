/**
 * Keeps the results of steps that every start of a broker or of the registry would repeat, beside their files: a
 * formatted data folder, and the classes that Java needs (class-archive.ts).
 *
 * - The folder of these results is whole (whole-folder.ts).
 * WS2  The folder's name holds a digest of the output of `java -version`, so another Java has another folder.
 * WS3  No start depends on the folder: where it cannot be made, or Java writes no file, starts are only slower.
 */
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { prepareKafka } from "../broker/kafka-processes.ts";
import { keepFormatted } from "../broker/kafka-storage.ts";
import type { ClassArchive } from "../parts/class-archive.ts";
import type { JavaParts } from "../parts/java-parts.ts";
import { type Filling, isBeingMade, isFolder, makeWholeFolder } from "../parts/whole-folder.ts";
import { prepareRegistry } from "./registry-process.ts";

const KAFKA_CLASSES = "kafka.jsa";
const REGISTRY_CLASSES = "registry.jsa";
const FORMATTED = "formatted";
/** How long Java may take to write the classes at the end of a process, in ms. */
const END_DEADLINE_MS = 120_000;

export interface WarmStart {
  readonly kafkaClasses: ClassArchive | undefined;
  readonly registryClasses: ClassArchive | undefined;
  /** The folder that `keepFormatted` filled. */
  readonly formatted: string | undefined;
}

export interface WarmStartOptions {
  readonly parts: JavaParts;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called with a line for each step that takes long. */
  readonly log: (line: string) => void;
}

/**
 * Returns the results that exist. Where they are missing, it starts both programs for nobody's use to make the results,
 * which takes some 10 s; while another process does that, it answers none. Never rejects (WS3).
 */
export async function keepWarmStart(options: WarmStartOptions): Promise<WarmStart> {
  const { parts, log } = options;
  const folder = folderOf(parts);
  if (!(await isFolder(folder)) && !(await isBeingMade(folder))) {
    log("preparing quick starts of Kafka and the registry (once)");
    await makeWholeFolder(folder, (filling) => fillWarmStart(filling, options)).catch((error: unknown) => {
      log(`starts stay slow: ${String(error).split("\n")[0]}`);
    });
  }
  return findWarmStart(parts);
}

/** Returns the results that exist, for a caller that cannot wait until they are made. Never rejects (WS3). */
export async function findWarmStart(parts: JavaParts): Promise<WarmStart> {
  const folder = folderOf(parts);
  const files: readonly string[] = await readdir(folder).catch(() => []);
  const pathOf = (name: string): string | undefined => (files.includes(name) ? join(folder, name) : undefined);
  const classesOf = (path: string | undefined): ClassArchive | undefined => (path === undefined ? path : { use: path });
  return {
    kafkaClasses: classesOf(pathOf(KAFKA_CLASSES)),
    registryClasses: classesOf(pathOf(REGISTRY_CLASSES)),
    formatted: pathOf(FORMATTED),
  };
}

function folderOf({ folder, java }: JavaParts): string {
  return join(folder, `warm-${createHash("sha256").update(java).digest("hex").slice(0, 12)}`);
}

async function fillWarmStart({ kept, scratch: dataDir }: Filling, { parts, env }: WarmStartOptions): Promise<void> {
  const common = { dataDir, shortLived: true, env, onUnexpectedExit: () => {} };
  const { processes } = await prepareKafka({
    ...common,
    ...{ jars: parts.kafka, count: 1, classes: { make: join(kept, KAFKA_CLASSES) } },
  });
  await keepFormatted(join(dataDir, "kafka-1"), join(kept, FORMATTED));
  const registry = await prepareRegistry({
    ...common,
    ...{ distribution: parts.registry, classes: { make: join(kept, REGISTRY_CLASSES) } },
  });
  for (const process of [...processes, registry.process]) {
    await process.start();
    await process.stop(END_DEADLINE_MS);
  }
}
