/** The short form of `npm run bench`: every load is measured, and no figure is judged. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { missingWrk } from "./ingest/wrk.ts";

const BENCH = fileURLToPath(new URL("whole.ts", import.meta.url));

it("npm run bench tells of each load and each process", { timeout: 180_000 }, async (context) => {
  const missing = missingWrk();
  if (missing !== undefined) return context.skip(missing);
  const env = { ...process.env, NODE_ENV: undefined };
  const bench = spawn(process.execPath, [BENCH, "--short"], { env, stdio: ["ignore", "pipe", "inherit"] });
  const [said, exited] = [text(bench.stdout), once(bench, "exit")];
  expect((await exited)[0]).toBe(0);
  const rows = (await said).match(/^\| .+ \| \d+ \| \d+\.\d\d \| .+ \|$/gm) ?? [];
  expect(rows).toHaveLength(7);
  for (const row of rows) expect(row.match(/ \d+\.\d{3} \|/g)).toHaveLength(6);
});
