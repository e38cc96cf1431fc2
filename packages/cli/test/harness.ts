/** The command against a false control of the test file's own. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunResult } from "@posthaste/testkit/run-node";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { type FakeControl, type RunOptions, runBinary, startFakeControl, TOKEN } from "./fake-control.ts";
import { runCommand } from "./test-terminal.ts";

export interface CommandHarness {
  /** From the first test on; forgets before each test its requests and its scripts. */
  readonly control: FakeControl;
  /** Where the command runs unless told otherwise; empty at first. */
  readonly dir: string;
  /** Runs the command with the URL and the token that the false control takes. */
  readonly posthaste: (args: readonly string[], options?: RunOptions) => Promise<RunResult>;
  /** The body of the last request, as JSON. */
  readonly lastBody: () => unknown;
}

/**
 * Runs the command within the test's process; as a process of its own where the test does something to that process
 * while it runs.
 */
function runIt(args: readonly string[], options: RunOptions): Promise<RunResult> {
  return options.during === undefined ? runCommand(args, options) : runBinary(args, options);
}

/** To be called once, at the top of a test file. */
export function useCommand(): CommandHarness {
  let control: FakeControl;
  let dir: string;
  beforeAll(async () => {
    control = await startFakeControl();
    dir = await mkdtemp(join(tmpdir(), "posthaste-cli-"));
  });
  afterAll(async () => {
    await control.close();
    await rm(dir, { recursive: true });
  });
  beforeEach(() => control.reset());
  return {
    get control() {
      return control;
    },
    get dir() {
      return dir;
    },
    posthaste: (args, options = {}) =>
      runIt([...args, "--url", control.url], {
        cwd: dir,
        ...options,
        env: { POSTHASTE_ADMIN_TOKEN: TOKEN, ...options.env },
      }),
    lastBody: () => JSON.parse(control.requests.at(-1)?.body.toString() || "null"),
  };
}

/** A source as control tells of it. */
export const SITE = {
  id: "src_1",
  name: "Web\tshop\u001b[31m",
  kind: "web",
  writeKey: "wk1",
  oldWriteKeys: [],
  enabled: true,
  revision: 7,
  createdAt: "2026-11-21T10:00:00.000Z",
};
/** Another one. */
export const APP = { ...SITE, id: "src_2", name: "App", kind: "mobile", writeKey: "wk2" };
