/** A Python with the packages that an example needs, in an environment of its own that later runs find again. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { access, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "@posthaste/local-stack/java-parts";
import { type FoundProgram, PYTHON, provideProgram } from "@posthaste/testkit/debian-program";

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 180_000;

/**
 * Makes the environment where there is none yet. `requirements` are pip's, each with its version. Tells why there is
 * none: no Python, no `venv`, or a package index that cannot be reached.
 */
export async function providePython(requirements: readonly string[]): Promise<FoundProgram> {
  const python = await provideProgram(PYTHON, process.env);
  if ("missing" in python) return python;
  const name = createHash("sha256")
    .update(JSON.stringify([python.path, requirements]))
    .digest("hex")
    .slice(0, 12);
  const cache = cacheFolder(process.env);
  const folder = join(cache, `python-${name}`);
  const path = join(folder, "bin", "python");
  if (await exists(path)) return { path };
  await mkdir(cache, { recursive: true });
  const filling = await mkdtemp(join(cache, "filling-"));
  try {
    await run(python.path, ["-m", "venv", filling]);
    const options = { timeout: INSTALL_TIMEOUT_MS };
    await run(join(filling, "bin", "python"), ["-m", "pip", "install", "--quiet", ...requirements], options);
    await rename(filling, folder);
    return { path };
  } catch (error) {
    await rm(filling, { recursive: true, force: true });
    // Another run was faster.
    if (await exists(path)) return { path };
    return { missing: `Python's packages could not be installed: ${String(error).trim().split("\n").at(-1)}` };
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
