/** The short form of bench:read-model, for its counts: how long anything takes is not looked at here. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const BENCH = fileURLToPath(new URL("read-model.ts", import.meta.url));

it("bench:read-model tells each figure, and its plans count what was written", { timeout: 180_000 }, async () => {
  // Under vitest's NODE_ENV kafkajs takes other retries than in production.
  const env = { ...process.env, NODE_ENV: undefined };
  const bench = spawn(process.execPath, [BENCH, "--short", "--entries=3000"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said, exited] = [text(bench.stdout), once(bench, "exit")];
  // 1 says that an aim does not hold, as on a machine that has other work.
  expect((await exited)[0]).toBeLessThan(2);
  const reported = await said;
  expect(reported.match(/^.+: [0-9.]+ .*: (within|\*\*missed\*\*)$/gm)).toHaveLength(22);
  expect(reported).toContain("a plan of one destination (3 counted)");
  expect(reported).toContain("a plan of all (3000 counted)");
  expect(reported).toContain("a plan of an event (3000 counted)");
  expect(reported).toContain("a plan of a user (6 counted)");
});
