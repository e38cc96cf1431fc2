/**
 * A stack for a run of tests, as a process. It prints `{"brokers", "schemaRegistry"}` as a line when it is up. It ends,
 * and removes its data, when its standard input closes. With `--long-lived` it is made to run long and not to start
 * fast.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scratchFolder } from "./process/scratch-folder.ts";
import { StackError } from "./process/stack-error.ts";
import { startLocalStack } from "./stack/local-stack.ts";

const isLongLived = process.argv.includes("--long-lived");
// A benchmark measures a disk.
const parent = isLongLived ? tmpdir() : scratchFolder(process.env);
const dataDir = await mkdtemp(join(parent, "posthaste-test-stack-"));
const closed = new Promise<void>((resolve) => {
  process.stdin.resume();
  process.stdin.once("close", () => resolve());
  // A signal to the terminal's group would leave the data, which may lie in memory.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
});

try {
  const stack = await startLocalStack({
    dataDir,
    shortLived: !isLongLived,
    ignoreNamed: true,
    env: process.env,
    log: (line) => process.stderr.write(`test stack: ${line}\n`),
    onUnexpectedExit: (name, reason) => {
      process.stderr.write(`test stack: ${name} ended by itself (${reason})\n`);
      process.exitCode = 1;
    },
  });
  process.stdout.write(
    `${JSON.stringify({ brokers: stack.brokers.join(","), schemaRegistry: stack.schemaRegistry })}\n`,
  );
  await closed;
  await Promise.all(stack.processes.map((each) => each.kill()));
} catch (error) {
  process.stderr.write(`test stack: ${error instanceof StackError ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
process.exit();
