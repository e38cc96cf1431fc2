import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isBeingMade, isFolder, makeWholeFolder } from "./whole-folder.ts";

let above: string;
let folder: string;

beforeEach(async () => {
  above = await mkdtemp(join(tmpdir(), "posthaste-whole-"));
  folder = join(above, "cache", "made");
});

afterEach(() => rm(above, { recursive: true }));

it("is not there before it is whole", async () => {
  await makeWholeFolder(folder, async ({ kept, scratch }) => {
    await writeFile(join(kept, "file"), "text");
    await writeFile(join(scratch, "other"), "text");
    expect(await isFolder(folder)).toBe(false);
  });
  expect(await readdir(folder)).toEqual(["file"]);
  expect(await readdir(join(above, "cache"))).toEqual(["made"]);
});

it("is not there, nor anything beside it, when it could not be filled", async () => {
  const failing = makeWholeFolder(folder, async ({ kept }) => {
    await writeFile(join(kept, "file"), "text");
    throw new Error("no more room");
  });
  await expect(failing).rejects.toThrow("no more room");
  expect(await readdir(join(above, "cache"))).toEqual([]);
});

it("of two that make it at once, the first one's stays, and the second does without a word", async () => {
  const make = (text: string, before: Promise<void>) =>
    makeWholeFolder(folder, async ({ kept }) => {
      await before;
      await writeFile(join(kept, "file"), text);
    });
  const first = make("first", Promise.resolve());
  await Promise.all([first, make("second", first)]);
  expect(await readFile(join(folder, "file"), "utf8")).toBe("first");
  expect(await readdir(join(above, "cache"))).toEqual(["made"]);
});

it("is being made from the first moment to the last, and not by a process that was killed long ago", async () => {
  expect(await isBeingMade(folder)).toBe(false);
  await makeWholeFolder(folder, async () => {
    expect(await isBeingMade(folder)).toBe(true);
    expect(await isBeingMade(join(above, "cache", "other"))).toBe(false);
  });
  expect(await isBeingMade(folder)).toBe(false);
  const left = `${folder}-filling-abcdef`;
  await mkdir(left);
  expect(await isBeingMade(folder)).toBe(true);
  const fourMinutesAgo = new Date(Date.now() - 240_000);
  await utimes(left, fourMinutesAgo, fourMinutesAgo);
  expect(await isBeingMade(folder)).toBe(false);
});
