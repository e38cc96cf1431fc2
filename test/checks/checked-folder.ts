/** A folder of a test's own, for a check of `npm run verify` to look at. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runNode } from "@posthaste/testkit/run-node";
import { afterEach, beforeEach } from "vitest";

let folder: string;

/** To be called at the top of a test file. */
export function useFolder(): void {
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "posthaste-checked-"));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });
}

/** Writes these files, by their paths in the folder, and runs `scripts/check-NAME.mjs` on it. */
export async function check(name: string, files: Readonly<Record<string, string>> = {}) {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  const program = fileURLToPath(new URL(`../../scripts/check-${name}.mjs`, import.meta.url));
  return await runNode([program, folder], { env: process.env });
}
