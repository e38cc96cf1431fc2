/** Runs schemathesis (PyPI), which sends requests that an OpenAPI document describes and requests that it forbids. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const MISSING = `schemathesis is not installed. Install it with:
  python3 -m venv .venv && .venv/bin/pip install schemathesis
and run: SCHEMATHESIS=.venv/bin/st`;

export interface SchemathesisOptions {
  /** A path or a URL. */
  readonly document: string;
  /** The arguments added to `st run DOCUMENT`. */
  readonly args: readonly string[];
  /** Its user's command, named in the advice where the program is missing. */
  readonly command: string;
}

/**
 * Resolves with its exit code: 0 when it found nothing. `SCHEMATHESIS` names the program, as a path from the folder
 * that npm was called in; where there is none, the code is 1 and the advice stands in stderr.
 */
export async function runSchemathesis({ document, args, command }: SchemathesisOptions): Promise<number> {
  const named = process.env["SCHEMATHESIS"];
  const program = named === undefined ? "st" : resolve(process.env["INIT_CWD"] ?? ".", named);
  const child = spawn(program, ["run", document, ...args], {
    stdio: ["ignore", "inherit", "inherit"],
    // It leaves a cache where it runs.
    cwd: mkdtempSync(join(tmpdir(), "check-api-")),
  });
  try {
    const [code] = await once(child, "exit");
    return Number(code ?? 1);
  } catch {
    process.stderr.write(`${MISSING} ${command}\n`);
    return 1;
  }
}
