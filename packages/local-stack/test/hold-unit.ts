/** hold-unit.ts LOG_FILE: holds one unit and waits, for the test that kills it. Prints the unit's process id. */
import { createUnit } from "../src/unit.ts";

const unit = createUnit({
  name: "sleeper",
  command: "sleep",
  args: ["600"],
  env: process.env,
  logFile: process.argv[2] ?? "/dev/null",
  isReady: async () => true,
});
await unit.start();
process.stdout.write(`${unit.pid}\n`);
setInterval(() => {}, 60_000);
