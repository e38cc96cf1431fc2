/** The command line, as a process, with the token of an installation. */
import { fileURLToPath } from "node:url";
import { type RunResult, runNode } from "@posthaste/testkit/run-node";
import type { Installation } from "./installation.ts";

const CLI = fileURLToPath(new URL("../../packages/cli/bin/posthaste.mjs", import.meta.url));

/** `stdin` is what `-` reads. */
export function posthaste({ system }: Installation, args: readonly string[], stdin = ""): Promise<RunResult> {
  return runNode([CLI, ...args, "--url", system.controlUrl], {
    env: { PATH: process.env.PATH, POSTHASTE_ADMIN_TOKEN: system.adminToken },
    stdin,
  });
}
