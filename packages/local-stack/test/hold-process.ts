/**
 * hold-process.ts LOG_FILE: holds one process of the stack and waits, for the test that kills it. Prints its process
 * id.
 */
import { GuardedProcess } from "../src/process/guarded-process.ts";

const sleeper = new GuardedProcess({
  name: "sleeper",
  command: "sleep",
  args: ["600"],
  env: process.env,
  logFile: process.argv[2] ?? "/dev/null",
  isReady: async () => true,
});
await sleeper.start();
process.stdout.write(`${sleeper.pid}\n`);
setInterval(() => {}, 60_000);
