import { closeSync, writeSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { logTail, openLog } from "./process-log.ts";

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "posthaste-log-"));
  file = join(folder, "ingest.log");
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

/** Writes one process's output of one start to a log of at most 8 bytes. */
function logOnce(text: string): void {
  const log = openLog(file, 8);
  writeSync(log, text);
  closeSync(log);
}

it("goes on with a log that is not too large", async () => {
  logOnce("1234\n");
  logOnce("678");
  logOnce("\n");
  expect(await readFile(file, "utf8")).toBe("1234\n678\n");
  expect(await readdir(folder)).toEqual(["ingest.log"]);
});

it("puts a log that is too large aside at the next start, and keeps one old log", async () => {
  logOnce("first run\n");
  logOnce("second run\n");
  expect(await readFile(`${file}.1`, "utf8")).toBe("first run\n");
  logOnce("third run\n");
  expect(await readFile(file, "utf8")).toBe("third run\n");
  expect(await readFile(`${file}.1`, "utf8")).toBe("second run\n");
  expect((await readdir(folder)).sort()).toEqual(["ingest.log", "ingest.log.1"]);
});

it("says how a log ends, or that it is empty", async () => {
  expect(await logTail(file)).toBe(`; its log, ${file}, is empty`);
  logOnce(Array.from({ length: 20 }, (_, line) => `line ${line}\n`).join(""));
  const lines = Array.from({ length: 12 }, (_, index) => `line ${index + 8}`).join("\n");
  expect(await logTail(file)).toBe(`; the end of ${file}:\n${lines}`);
});
