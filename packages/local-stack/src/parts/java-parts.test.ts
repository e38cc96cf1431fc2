import { homedir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cacheFolder, javaMajorVersion } from "./java-parts.ts";

it.each([
  ['openjdk version "17.0.15" 2025-04-15', 17],
  ['openjdk version "21" 2023-09-19', 21],
  ['java version "1.8.0_392"', 8],
  ["The operation couldn’t be completed. Unable to locate a Java Runtime.", undefined],
  ["", undefined],
])("reads the version in %j", (text, version) => {
  expect(javaMajorVersion(text)).toBe(version);
});

it("keeps downloads where the settings say, else in the user's cache folder", () => {
  expect(cacheFolder({ POSTHASTE_CACHE_DIR: "/c", XDG_CACHE_HOME: "/x" })).toBe("/c");
  expect(cacheFolder({ XDG_CACHE_HOME: "/x" })).toBe("/x/posthaste");
  expect(cacheFolder({})).toBe(join(homedir(), ".cache", "posthaste"));
});
