/**
 * Chooses where a stack that ends with its test keeps its data: in memory where the machine has enough, else on disk.
 * Kafka makes and removes files by the hundred thousand in a run of the tests. A file system on disk took half of the
 * brokers' processor time for that.
 */
import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const IN_MEMORY = "/dev/shm";
/** A whole run of the tests holds less than half of it at once. */
const NEEDED_BYTES = 4 * 1024 ** 3;

/** Returns an existing folder for temporary folders. A `TMPDIR` that is set is kept to. */
export function scratchFolder(
  env: Readonly<Record<string, string | undefined>>,
  freeBytes: (folder: string) => number = freeBytesOf,
): string {
  return !env["TMPDIR"] && freeBytes(IN_MEMORY) >= NEEDED_BYTES ? IN_MEMORY : tmpdir();
}

/** Returns 0 for a folder that does not exist. */
function freeBytesOf(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
