import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { scratchFolder } from "./scratch-folder.ts";

const GB = 1024 ** 3;

it("is in memory where there is room for a whole run, and the system's folder elsewhere", () => {
  expect(scratchFolder({}, () => 8 * GB)).toBe("/dev/shm");
  expect(scratchFolder({}, () => GB)).toBe(tmpdir());
});

it("is the folder that TMPDIR names, whatever room there is", () => {
  expect(scratchFolder({ TMPDIR: tmpdir() }, () => 8 * GB)).toBe(tmpdir());
});
