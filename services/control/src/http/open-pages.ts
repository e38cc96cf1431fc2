import { type ConsoleFiles, readConsoleFiles } from "@posthaste/console/files";
import type { Log } from "@posthaste/core/log";

/** The built pages of the console; null where they were not built: the API is served without them. */
export async function openPages(log: Log): Promise<ConsoleFiles | null> {
  const pages = await readConsoleFiles();
  if (pages === null)
    log.warn({ event: "console_not_built" }, "the web pages are missing: npm run build -w @posthaste/console");
  return pages;
}
