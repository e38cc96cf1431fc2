/**
 * The Chromium that browser tests drive: the machine's own, or on a build machine Debian's package. Nothing is
 * downloaded from anywhere else.
 */
import { execFile } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { promisify } from "node:util";

const NAMES = ["/usr/bin/chromium", "chromium", "chromium-browser", "google-chrome"];

/** For the package's lists and for the package with what it needs, each. */
const INSTALL_STEP_TIMEOUT_MS = 240_000;

const run = promisify(execFile);

export type Chromium = { readonly path: string } | { readonly missing: string };

export interface ChromiumSearch {
  /** `CHROMIUM_PATH` names the browser, `PATH` is where names are looked up, `CI=true` allows installing one. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Looks for the browser and, where that is allowed and it can be done, installs it first; or tells why there is none.
 */
export async function provideChromium({ env }: ChromiumSearch): Promise<Chromium> {
  const named = env["CHROMIUM_PATH"];
  if (named) return isExecutable(named) ? { path: named } : { missing: `CHROMIUM_PATH is no program: ${named}` };
  const found = find(env["PATH"]);
  if (found) return { path: found };
  if (env["CI"] !== "true") return { missing: "no Chromium was found: set CHROMIUM_PATH, or install it as chromium" };
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) {
    return { missing: "no Chromium was found, and it is only installed as root on Debian" };
  }
  try {
    await install(env);
  } catch (error) {
    return { missing: `no Chromium was found, and installing it failed: ${lastLineOf(error)}` };
  }
  const installed = find(env["PATH"]);
  return installed ? { path: installed } : { missing: "the package chromium brought no program of a known name" };
}

function find(searchPath = ""): string | undefined {
  const folders = searchPath.split(delimiter).filter((folder) => folder !== "");
  return NAMES.flatMap((name) => (isAbsolute(name) ? [name] : folders.map((folder) => join(folder, name)))).find(
    isExecutable,
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function install(env: ChromiumSearch["env"]): Promise<void> {
  const options = { env: { ...env, DEBIAN_FRONTEND: "noninteractive" }, timeout: INSTALL_STEP_TIMEOUT_MS };
  await run("apt-get", ["update", "-qq"], options);
  await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium"], options);
}

function lastLineOf(error: unknown): string {
  return String(error).trim().split("\n").at(-1) ?? "";
}
