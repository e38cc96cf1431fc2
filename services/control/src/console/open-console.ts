import { readConsoleFiles } from "@posthaste/console/files";
import type { Log } from "@posthaste/core/log";
import type { ServedPages } from "@posthaste/http-kit/server";
import { consolePages } from "./console-pages.ts";

/** The built pages of the console; null where they were not built: the API is served without them. */
export async function openConsole(log: Log): Promise<ServedPages | null> {
  const files = await readConsoleFiles();
  if (files !== null) return consolePages(files);
  log.warn({ event: "console_not_built" }, "the web pages are missing: npm run build -w @posthaste/console");
  return null;
}
