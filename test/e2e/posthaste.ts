/** The command line, as a process, with the token of an installation. */
import { fileURLToPath } from "node:url";
import { startLineProgram } from "@posthaste/testkit/line-program";
import { type RunResult, runNode } from "@posthaste/testkit/run-node";
import type { Installation } from "./installation.ts";

const CLI = fileURLToPath(new URL("../../packages/cli/bin/posthaste.mjs", import.meta.url));
const COMMANDS = fileURLToPath(new URL("../../packages/cli/test/commands-process.ts", import.meta.url));

/** `stdin` is the input of `-`. */
export function posthaste({ system }: Installation, args: readonly string[], stdin = ""): Promise<RunResult> {
  return runNode([CLI, ...args, "--url", system.controlUrl], {
    env: { PATH: process.env.PATH, POSTHASTE_ADMIN_TOKEN: system.adminToken },
    stdin,
  });
}

export interface Commands {
  readonly run: (args: readonly string[]) => Promise<RunResult>;
  readonly close: () => Promise<void>;
}

/** The same for many commands, in one process for all: effects that only a whole process shows are for `posthaste`. */
export function startCommands({ system }: Installation): Commands {
  const program = startLineProgram([COMMANDS], {});
  const env = { POSTHASTE_ADMIN_TOKEN: system.adminToken };
  return {
    run: (args) => program.ask({ args: [...args, "--url", system.controlUrl], env }) as Promise<RunResult>,
    close: program.close,
  };
}
