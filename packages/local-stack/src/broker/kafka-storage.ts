/**
 * Formats a broker's data folder before the broker's first start. Kafka's own tool starts a whole Java to write two
 * small files; from a folder that the tool has formatted, others are made by copies of those files with ids of their
 * own.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFile, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { StackError } from "../process/stack-error.ts";

const run = promisify(execFile);

/** The id of every cluster. Any fixed id serves, since the brokers' folders belong together by their place. */
const CLUSTER_ID = "cG9zdGhhc3RlLWxvY2FsMQ";
/** The file with the ids of the node and of the folder. A broker does not start in a folder without it. */
const META = "meta.properties";
/** The file with the features that a new cluster begins with, the same for every node. */
const BOOTSTRAP = "bootstrap.checkpoint";

export interface StorageOptions {
  readonly nodeId: number;
  readonly logDir: string;
  /** Arguments of `java` that come before a program's name. */
  readonly java: readonly string[];
  /** The broker's settings. */
  readonly properties: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A folder that `keepFormatted` filled. */
  readonly formatted?: string | undefined;
}

/** Formats the folder unless it is formatted. Throws StackError with the words of Kafka's tool. */
export async function formatStorage({ nodeId, logDir, ...options }: StorageOptions): Promise<void> {
  const isFormatted = await stat(join(logDir, META)).then(
    () => true,
    () => false,
  );
  if (isFormatted) return;
  if (options.formatted !== undefined) return copyFormatted(options.formatted, { nodeId, logDir });
  const args = [...options.java, "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", options.properties];
  await run("java", args, { env: { ...options.env } }).catch((error: { stderr?: string }) => {
    throw new StackError(`Kafka's data folder ${logDir} cannot be made: ${error.stderr ?? String(error)}`);
  });
}

/** Copies the files that Kafka's tool made in `logDir`, before a broker starts there, into `folder`. */
export async function keepFormatted(logDir: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const file of [META, BOOTSTRAP]) await copyFile(join(logDir, file), join(folder, file));
}

async function copyFormatted(from: string, { nodeId, logDir }: { nodeId: number; logDir: string }): Promise<void> {
  const ids: Readonly<Record<string, string>> = { "node.id": String(nodeId), "directory.id": folderId() };
  const lines = (await readFile(join(from, META), "utf8")).split("\n").map((line) => {
    const name = line.split("=", 1).join();
    return name in ids ? `${name}=${ids[name]}` : line;
  });
  await mkdir(logDir, { recursive: true });
  await copyFile(join(from, BOOTSTRAP), join(logDir, BOOTSTRAP));
  // This file comes last, since with it the folder counts as formatted.
  await writeFile(join(logDir, META), lines.join("\n"));
}

/** Draws a folder's id as Kafka does: 16 bytes in base64 for URLs, which do not begin with a hyphen. */
function folderId(): string {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  return bytes.toString("base64url");
}
