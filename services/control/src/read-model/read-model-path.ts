/** Where the read model's file is. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "@posthaste/core/log";

/** Null, which is memory, also for a folder that cannot be made: the log is a cache, and no reason not to start. */
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
