/** A receiver in a process of its own (`receiver-process.ts`), which tells when each event came there. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Arrival } from "./arrivals.ts";
import { toOwnMs } from "./machine-clock.ts";

const program = fileURLToPath(new URL("./receiver-process.ts", import.meta.url));

export interface ApartReceiver {
  /** Scheme, host and port. */
  readonly url: string;
  /** The listener that gets each event from now on, in place of the earlier one. */
  readonly tell: (listener: (arrival: Arrival) => void) => void;
  readonly close: () => Promise<void>;
}

/** Rejects when the process ends before it listens. */
export async function startApartReceiver(): Promise<ApartReceiver> {
  const child = spawn(process.execPath, ["--no-warnings", program], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const lines = createInterface({ input: child.stdout });
  const [url] = await Promise.race([
    once(lines, "line"),
    exited.then(([code]): never => {
      throw new Error(`the receiver ended with code ${code} before it listened`);
    }),
  ]);
  let listener: (arrival: Arrival) => void = () => undefined;
  lines.on("line", (line) => listener(fromLine(line)));
  return {
    url,
    tell: (next) => {
      listener = next;
    },
    close: async () => {
      child.stdin.end();
      await exited;
    },
  };
}

/** Of an arrival whose time is of the machine's clock. */
export function toLine({ messageId, userId, sequence, atMs }: Arrival): string {
  return JSON.stringify([atMs, messageId, userId, sequence]);
}

/** Returns the arrival with its time in ms of this process's `performance.now()`, however late the line is read. */
export function fromLine(line: string): Arrival {
  const [atMs, messageId, userId, sequence] = JSON.parse(line) as [number, string, string, number];
  return { messageId, userId, sequence, atMs: toOwnMs(atMs) };
}
