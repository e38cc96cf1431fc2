/**
 * The installation of a process, for all of its test files that need no settings of their own: a start takes some ten
 * seconds of processor time.
 *
 * Owns: the installation, until the process ends. Its folder and its topics are the run's (global-setup.ts).
 * SI1  Each file finds every service up, and no destination of a file before it.
 * SI2  A service that ended by itself fails the file in which it did.
 */
import { eventually } from "@posthaste/testkit/eventually";
import { expect } from "vitest";
import { type Installation, startInstallation } from "./installation.ts";
import { removeDestinations } from "./route.ts";

/**
 * Retries come within seconds, and then after long enough that a record stands in its retry topic. Nothing is given up
 * before a test looks at it, however slow the machine is. An emitter of audiences is slow enough to be interrupted.
 */
const SETTINGS = {
  POSTHASTE_RETRY_SCHEDULE: "1s,2s,25s,25s,25s",
  POSTHASTE_RETRY_WINDOW: "30m",
  POSTHASTE_AUDIENCE_RATE: "20",
  POSTHASTE_AUDIENCE_LEASE: "2m",
};

let started: Promise<Installation> | undefined;
/** Ends by themselves that a file has answered for. */
let knownExits = 0;

export function sharedInstallation(): Promise<Installation> {
  started ??= start();
  return started;
}

async function start(): Promise<Installation> {
  const installation = await startInstallation({ settings: SETTINGS, runFolder: process.env["POSTHASTE_E2E_FOLDER"] });
  process.once("exit", () => {
    for (const { pid } of installation.system.processes) if (pid !== undefined) process.kill(pid, "SIGKILL");
  });
  // Vitest ends so a process that has no more files, and kills it half a second later.
  process.once("SIGTERM", () => process.exit());
  return installation;
}

/** To be called at the end of a file (SI1, SI2). */
export async function tidy(installation: Installation): Promise<void> {
  const { system, unexpectedExits } = installation;
  await Promise.all(system.processes.map((each) => (each.pid === undefined ? each.start() : each.resume())));
  const exits = unexpectedExits.slice(knownExits);
  knownExits = unexpectedExits.length;
  // Control answers once it has read its earlier changes.
  await eventually(() => removeDestinations(installation), { timeoutMs: 60_000 });
  expect(exits).toEqual([]);
}
