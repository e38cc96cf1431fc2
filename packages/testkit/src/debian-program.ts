/**
 * A program that a test drives: the machine's own, or on a build machine Debian's package of it. Nothing is downloaded
 * from anywhere else.
 */
import { execFile } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { promisify } from "node:util";

/** For the package's lists and for the package with its dependencies, each. */
const INSTALL_STEP_TIMEOUT_MS = 240_000;

/** apt-get fails at once where another one runs. */
const APT_LOCK = join(tmpdir(), "posthaste-apt-get.lock");

const run = promisify(execFile);

export interface DebianProgram {
  /** The variable that names the program, e.g. `CHROMIUM_PATH`. */
  readonly setting: string;
  /** Its names: paths, or names that are looked up in `PATH`. */
  readonly names: readonly string[];
  /** Debian's package that brings it. */
  readonly debianPackage: string;
}

/**
 * The headless shell is Chromium without the parts that only a window needs: a test takes two thirds of the processor
 * time.
 */
export const CHROMIUM: DebianProgram = {
  setting: "CHROMIUM_PATH",
  names: ["chromium-headless-shell", "/usr/bin/chromium", "chromium", "chromium-browser", "google-chrome"],
  debianPackage: "chromium-headless-shell",
};

export const KCAT: DebianProgram = { setting: "KCAT_PATH", names: ["kcat"], debianPackage: "kcat" };

/** Its package brings promtool too. */
export const PROMETHEUS: DebianProgram = {
  setting: "PROMETHEUS_PATH",
  names: ["prometheus"],
  debianPackage: "prometheus",
};

export const PROMTOOL: DebianProgram = { ...PROMETHEUS, setting: "PROMTOOL_PATH", names: ["promtool"] };

export const PYTHON: DebianProgram = { setting: "PYTHON_PATH", names: ["python3"], debianPackage: "python3-venv" };

export type FoundProgram = { readonly path: string } | { readonly missing: string };

/** Variables: `PATH` is where names are looked up, `CI=true` allows installing. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Looks for the program and, where that is allowed and it can be done, installs it first; or tells why there is none.
 */
export async function provideProgram(program: DebianProgram, env: Environment): Promise<FoundProgram> {
  const { setting, debianPackage } = program;
  const named = env[setting];
  if (named) return isExecutable(named) ? { path: named } : { missing: `${setting} is no program: ${named}` };
  const found = find(program, env["PATH"]);
  if (found) return { path: found };
  const none = `no ${debianPackage} was found`;
  if (env["CI"] !== "true") return { missing: `${none}: set ${setting}, or install it as ${debianPackage}` };
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) {
    return { missing: `${none}, and it is only installed as root on Debian` };
  }
  try {
    await install(debianPackage, env);
  } catch (error) {
    return { missing: `${none}, and installing it failed: ${lastLineOf(error)}` };
  }
  const installed = find(program, env["PATH"]);
  return installed
    ? { path: installed }
    : { missing: `the package ${debianPackage} brought no program of a known name` };
}

function find({ names }: DebianProgram, searchPath = ""): string | undefined {
  const folders = searchPath.split(delimiter).filter((folder) => folder !== "");
  return names
    .flatMap((name) => (isAbsolute(name) ? [name] : folders.map((folder) => join(folder, name))))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Installs it; of two test files that install at once, the second waits. */
async function install(debianPackage: string, env: Environment): Promise<void> {
  const options = { env: { ...env, DEBIAN_FRONTEND: "noninteractive" }, timeout: INSTALL_STEP_TIMEOUT_MS };
  const aptGet = async (...words: readonly string[]) => run("flock", [APT_LOCK, "apt-get", ...words], options);
  await aptGet("update", "-qq");
  await aptGet("install", "-y", "-qq", "--no-install-recommends", debianPackage);
}

function lastLineOf(error: unknown): string {
  return String(error).trim().split("\n").at(-1) ?? "";
}
