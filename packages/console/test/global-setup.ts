/** Builds the pages where their sources changed: the tests look at the pages that a browser gets. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { isBuilt } from "../build/sources.mjs";

const BUILD = fileURLToPath(new URL("../build/main.ts", import.meta.url));

export async function setup(): Promise<void> {
  if (!isBuilt()) await promisify(execFile)(process.execPath, [BUILD]);
}
