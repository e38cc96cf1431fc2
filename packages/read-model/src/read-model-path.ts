/** The folder of the read model's file. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "@posthaste/core/log";

/**
 * The path of the file; null, for memory, where no folder is set or it cannot be made: the read model is a cache, so
 * this must not keep control from starting.
 */
export async function readModelPath(folder: string | undefined, log: Log): Promise<string | null> {
  if (folder === undefined) return null;
  try {
    await mkdir(folder, { recursive: true });
    return join(folder, "delivery-log.sqlite");
  } catch (error) {
    log.warn({ event: "delivery_log_not_kept", reason: String(error) }, "POSTHASTE_CONTROL_DATA_DIR cannot be used");
    return null;
  }
}
