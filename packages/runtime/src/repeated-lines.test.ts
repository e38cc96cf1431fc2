import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createLogger } from "./logger.ts";
import { EVERY_MS, RepeatedLines } from "./repeated-lines.ts";

let written: string[];
let lines: RepeatedLines;
const take = (subject: string, text = subject) =>
  lines.take(subject, (skipped) => written.push(skipped === 0 ? text : `${text}, ${skipped} left out`));

beforeEach(() => {
  vi.useFakeTimers();
  written = [];
  lines = new RepeatedLines();
});

afterEach(() => {
  vi.useRealTimers();
});

it("LG1: writes the first line at once and the last one at the end, with the number of those between", () => {
  for (const text of ["one", "two", "three", "four"]) take("subject", text);
  take("another");
  expect(written).toEqual(["one", "another"]);
  vi.advanceTimersByTime(EVERY_MS);
  expect(written).toEqual(["one", "another", "four, 2 left out"]);
  take("subject", "five");
  vi.advanceTimersByTime(EVERY_MS - 1);
  expect(written).toHaveLength(3);
  vi.advanceTimersByTime(1);
  expect(written.at(-1)).toBe("five");
});

it("LG1: writes a line at once when the one before it is long ago, and holds nothing then", () => {
  take("subject", "one");
  vi.advanceTimersByTime(EVERY_MS);
  expect(vi.getTimerCount()).toBe(0);
  take("subject", "two");
  expect(written).toEqual(["one", "two"]);
});

it("LG2: writes about more subjects than it holds at once", () => {
  for (let subject = 0; subject < 300; subject += 1) take(`subject ${subject}`);
  take("subject 299");
  take("subject 0");
  expect([written.length, vi.getTimerCount()]).toEqual([301, 200]);
});

it("counts the warnings and errors of a process that repeat one another, and nothing else", () => {
  const found: object[] = [];
  const destination = { write: (line: string) => void found.push(JSON.parse(line)) };
  const logger = createLogger({ service: "ingest", level: "info", destination });
  for (let offset = 0; offset < 100; offset += 1) {
    logger.error({ event: "record_unreadable", topic: "events", partition: 1, offset });
    logger.warn({ event: "record_unreadable", topic: "events", partition: 2, offset });
  }
  for (const lost of [0, 1]) logger.info({ event: "group_joined", lost });
  vi.advanceTimersByTime(EVERY_MS);
  expect(found).toMatchObject([
    { partition: 1, offset: 0 },
    { partition: 2, offset: 0 },
    ...[{ lost: 0 }, { lost: 1 }],
    { partition: 1, offset: 99, skipped: 98 },
    { partition: 2, offset: 99, skipped: 98 },
  ]);
});
