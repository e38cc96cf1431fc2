/** A test that writes to the console fails: relevant output is asserted, and the rest is noise in everyone's report. */
import { afterEach, beforeEach, expect, vi } from "vitest";

const METHODS = ["log", "info", "warn", "error", "debug"] as const;
let written: string[] = [];

beforeEach(() => {
  written = [];
  for (const method of METHODS) {
    vi.spyOn(console, method).mockImplementation((...args) => {
      written.push(`console.${method}: ${args.map(String).join(" ")}`);
    });
  }
});

afterEach(() => {
  vi.restoreAllMocks();
  expect(written, "a test wrote to the console").toEqual([]);
});
