/**
 * A folder and a beginning of topic names for the installations that end with their process, and not with a test file:
 * both are removed at the end of the run.
 */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { scratchFolder } from "@posthaste/local-stack/scratch-folder";
import { deleteTopics } from "@posthaste/testkit/topics";

let folder: string;

export async function setup(): Promise<void> {
  folder = await mkdtemp(join(scratchFolder(process.env), "posthaste-e2e-"));
  process.env["POSTHASTE_E2E_FOLDER"] = folder;
}

export async function teardown(): Promise<void> {
  const isUsed = (await readdir(folder)).length > 0;
  if (isUsed && process.env["KAFKA_BROKERS"]) await deleteTopics(topicPrefixOf(folder));
  await rm(folder, { recursive: true, force: true });
}

/** The beginning of the topic names of every installation of the run. */
export function topicPrefixOf(folder: string): string {
  return `t-${basename(folder)}-`;
}
