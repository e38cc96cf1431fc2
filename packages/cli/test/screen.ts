/** The binary on a terminal: a pseudo-terminal of util-linux `script`, and an emulator that draws the output. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { eventually } from "@posthaste/testkit/eventually";
import headless from "@xterm/headless";
import { BINARY, TOKEN } from "./fake-control.ts";

const ROWS = 40;

/** The moment at which the binary believes to run. */
export const NOW = "2026-11-22T10:42:30.000Z";
/** For NODE_OPTIONS: `Date.now` stands still. */
export const FROZEN = `--import=data:text/javascript,Date.now=()=>Date.parse(%22${NOW}%22)`;

export interface Screen {
  /** The text of the screen, without blanks at the end of lines and below. */
  readonly text: () => string;
  /** Resolves when the screen shows this. */
  readonly shows: (text: string | RegExp) => Promise<void>;
  /** The exit code; the screen is drawn whole then. */
  readonly ended: Promise<number | null>;
  /** As the line discipline gets it: "\u0003" is Ctrl-C. */
  readonly type: (keys: string) => void;
}

/** Runs `posthaste` with these words against control, on a terminal of so many columns. */
export function runOnScreen(words: readonly string[], url: string, columns: number): Screen {
  const command = [process.execPath, BINARY, ...words, "--url", url].map((word) => `'${word}'`).join(" ");
  const shell = `stty cols ${columns} rows ${ROWS}; exec ${command}`;
  const child = spawn("script", ["--quiet", "--return", "--flush", "--command", shell, "/dev/null"], {
    env: {
      ...{ PATH: process.env.PATH, SHELL: "/bin/sh", TERM: "xterm-256color", POSTHASTE_DATA_DIR: "/nonexistent" },
      ...{ POSTHASTE_ADMIN_TOKEN: TOKEN, NODE_OPTIONS: FROZEN },
    },
  });
  const emulator = new headless.Terminal({ cols: columns, rows: ROWS, allowProposedApi: true });
  child.stdout.on("data", (bytes: Buffer) => emulator.write(bytes));
  child.stdin.on("error", () => {});
  const drawn = () => new Promise<void>((resolve) => emulator.write("", resolve));
  const text = () => {
    const { active } = emulator.buffer;
    const lines = Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true) ?? "");
    return `${lines.join("\n").trimEnd()}\n`;
  };
  return {
    text,
    shows: (wanted) =>
      eventually(() => {
        const found = text();
        if (typeof wanted === "string" ? found.includes(wanted) : wanted.test(found)) return;
        throw new Error(`the screen does not show ${wanted}:\n${found}`);
      }),
    ended: once(child, "close").then(async ([code]) => {
      await drawn();
      return code;
    }),
    type: (keys) => child.stdin.write(keys),
  };
}
