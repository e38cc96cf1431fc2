/**
 * The command as a process: the only reader of `process` in this package. Modules of Node that few commands need are
 * loaded when they are needed: --help is to come at once.
 */
import { open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import packageJson from "../package.json" with { type: "json" };
import { EXIT } from "./exit-code.ts";
import { openOutput } from "./output.ts";
import { run } from "./program.ts";
import type { Terminal } from "./terminal.ts";

/** Where `npm start` keeps its state, unless POSTHASTE_DATA_DIR says otherwise. */
const LOCAL_DATA_DIR = fileURLToPath(new URL("../../../.posthaste", import.meta.url));
const DEFAULT_COLUMNS = 80;

/** The program that shows a URL, where it is not xdg-open. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

let sayOnInterrupt = (): void => {};

function interrupt(): void {
  sayOnInterrupt();
  process.exit(EXIT.interrupted);
}

const terminal: Terminal = {
  env: process.env,
  isTerminal: process.stdout.isTTY === true,
  isTalkTerminal: process.stderr.isTTY === true,
  columns: process.stdout.columns || process.stderr.columns || DEFAULT_COLUMNS,
  nowMs: () => Date.now(),
  canAsk: process.stdin.isTTY === true && process.stderr.isTTY === true,
  out: (data) => process.stdout.write(data),
  err: (talk) => process.stderr.write(talk),
  readFile: async (path) => {
    if (path !== "-") return readFile(path, "utf8");
    const { text } = await import("node:stream/consumers");
    return text(process.stdin);
  },
  openFile: async (path) => (path === "-" ? process.stdin : (await open(path)).createReadStream()),
  openOutput: (path) => openOutput(path),
  onInterrupt: (say) => {
    sayOnInterrupt = say;
    return () => {
      sayOnInterrupt = () => {};
    };
  },
  openUrl: async (url) => {
    const { spawn } = await import("node:child_process");
    const [program = "xdg-open", ...args] = OPENERS[process.platform] ?? [];
    // Where there is no browser the printed link has to do.
    const child = spawn(program, [...args, url], { stdio: "ignore", detached: true });
    child.once("error", () => {});
    child.unref();
  },
  writePrivate: async (path, text) => {
    const { mkdir, rename, writeFile } = await import("node:fs/promises");
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(`${path}.partial`, text, { mode: 0o600 });
    await rename(`${path}.partial`, path);
  },
  askSecret: async (question) => {
    const { createInterface } = await import("node:readline/promises");
    const { Writable } = await import("node:stream");
    const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
    process.stderr.write(question);
    const lines = createInterface({ input: process.stdin, output: unseen, terminal: true });
    lines.on("SIGINT", interrupt);
    try {
      return await lines.question("");
    } finally {
      lines.close();
      process.stderr.write("\n");
    }
  },
  ask: async (question) => {
    const { createInterface } = await import("node:readline/promises");
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    // Ctrl-C reaches the interface instead of the process while it reads.
    lines.on("SIGINT", interrupt);
    try {
      return await lines.question(question);
    } finally {
      lines.close();
    }
  },
};

process.on("SIGINT", interrupt);
// `posthaste … | head` closes the pipe: that is no failure of ours.
process.stdout.on("error", (error: NodeJS.ErrnoException) =>
  process.exit(error.code === "EPIPE" ? EXIT.done : EXIT.failed),
);

process.exitCode = await run(process.argv.slice(2), {
  terminal,
  version: packageJson.version,
  defaultDataDir: LOCAL_DATA_DIR,
});
