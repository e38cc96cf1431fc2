// The beginning of every script here: the installed packages and Node 24. No dependencies, and runs on Node 20, since
// it runs before anything is installed.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the clone. */
export const root = fileURLToPath(new URL("..", import.meta.url));
const bin = join(root, "node_modules", ".bin");
const node24 = join(bin, process.platform === "win32" ? "node.cmd" : "node");

/**
 * kafkajs sets timers of negative length, at each of which Node 24 warns. The services set none
 * (packages/kafka/src/kafkajs/request-queue-timer.ts); the local stack and the tests use bare clients of kafkajs too.
 */
const NODE_FLAGS = ["--disable-warning=TimeoutNegativeWarning"];

/**
 * Installs with `npm ci` when `node_modules` lacks something that the lock file names. Ends the process when that
 * fails.
 */
export function install() {
  if (isInstalled()) return;
  console.log("installing packages (npm ci), which takes a minute or two");
  // Its warnings are about the Node that it runs on, which is not the one that the packages run on.
  const { status } = spawnSync("npm", ["ci", "--loglevel=error", "--no-audit", "--no-fund"], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) {
    console.error("npm ci failed: mend what it says above, then run this again");
    process.exit(1);
  }
  if (!existsSync(node24)) {
    console.error("npm left out the install script of the package node, which brings Node 24: npm rebuild node");
    process.exit(1);
  }
}

/** True when npm's own list of installed packages agrees with the lock file. */
function isInstalled() {
  const lock = readPackages(join(root, "package-lock.json"));
  const installed = readPackages(join(root, "node_modules", ".package-lock.json"));
  if (!lock || !installed || !existsSync(node24)) return false;
  return Object.entries(lock).every(([path, wanted]) => {
    // Outside node_modules are our own folders; optional packages are for other platforms.
    if (!path.startsWith("node_modules/") || wanted.optional) return true;
    const found = installed[path];
    return found !== undefined && found.version === wanted.version && found.resolved === wanted.resolved;
  });
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return undefined;
  }
}

/** The environment of processes that are started here: Node 24 and the project's tools come first on the path. */
export function environment(extra = {}) {
  return {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env.PATH ?? ""}`,
    NODE_OPTIONS: [process.env.NODE_OPTIONS, ...NODE_FLAGS].filter(Boolean).join(" "),
    TURBO_TELEMETRY_DISABLED: "1",
    ...extra,
  };
}

/**
 * Of Node: its compiled form of a source, for the next process that imports it, which then needs half the processor
 * time to start, and neither loads the compiler that takes types away nor holds its memory: some 40 MB of control, of
 * which each thread has its own.
 */
const compileCache = join(root, "node_modules/.cache/posthaste-compiled");

/** Starts a program of the project under Node 24. */
export function spawnNode(args, { env = {}, ...options } = {}) {
  const whole = environment({ NODE_COMPILE_CACHE: compileCache, ...env });
  return spawn(node24, args, { cwd: root, stdio: "inherit", env: whole, ...options });
}

/** Returns the exit code of a child; 1 when a signal ended it or it could not start. */
export function exitCode(child) {
  return new Promise((resolve) => {
    child.once("error", (error) => {
      console.error(String(error));
      resolve(1);
    });
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

/** Passes SIGINT and SIGTERM on to the child, whose end then decides ours. */
export function passSignals(child) {
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
}
