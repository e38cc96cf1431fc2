/**
 * What every start of a broker or of the registry would do again, done once and kept beside their files: a formatted
 * data folder, and the classes that Java needs (class-archive.ts).
 *
 * WS1  The folder is whole (whole-folder.ts).
 * WS2  The folder's name holds a digest of what Java says of itself: another Java has another folder.
 * WS3  Nothing depends on it: where it cannot be made, or Java leaves no file, starts are slower and that is all.
 */
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ClassArchive } from "./class-archive.ts";
import type { JavaParts } from "./java-parts.ts";
import { prepareKafka } from "./kafka-processes.ts";
import { keepFormatted } from "./kafka-storage.ts";
import { prepareRegistry } from "./registry-process.ts";
import { type Filling, isBeingMade, isFolder, makeWholeFolder } from "./whole-folder.ts";

const KAFKA_CLASSES = "kafka.jsa";
const REGISTRY_CLASSES = "registry.jsa";
const FORMATTED = "formatted";
/** Java writes the classes down at the end of a process, for some seconds. */
const END_DEADLINE_MS = 120_000;

export interface WarmStart {
  readonly kafkaClasses: ClassArchive | undefined;
  readonly registryClasses: ClassArchive | undefined;
  /** A folder of `keepFormatted`. */
  readonly formatted: string | undefined;
}

export interface WarmStartOptions {
  readonly parts: JavaParts;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Told what takes long. */
  readonly log: (line: string) => void;
}

/**
 * What there is of it. Made when it lacks, by a start of both that nobody uses, which takes some 10 s; while another
 * process makes it there is none. Never rejects (WS3).
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

/** What there is of it, for who cannot wait until it is made. Never rejects (WS3). */
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
