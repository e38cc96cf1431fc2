/** The console is typed by a copy of the document that control serves. */
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { readOpenApi } from "./control.ts";
import { control, useControl } from "./use-control.ts";

const COPY = fileURLToPath(import.meta.resolve("@posthaste/console/openapi.json"));
/** Depth of the keys with a line each: the keys of `paths`, of a path, and of `components.schemas`. */
const BROKEN_LEVELS = 3;

useControl();

it("is described by the copy that the console is typed by; where it is not, run: npm run console:api", async () => {
  const { body: document } = await readOpenApi(control);
  // The version is the release's.
  document.info.version = "";
  await expect(`${inLines(document, BROKEN_LEVELS)}\n`).toMatchFileSnapshot(COPY);
});

/** An operation a line, a schema a line: two changes of different ones do not meet. */
function inLines(value: object, levels: number): string {
  if (levels === 0 || Array.isArray(value)) return JSON.stringify(value);
  const entries = Object.entries(value).map(
    ([key, each]) =>
      `${JSON.stringify(key)}: ${typeof each === "object" && each !== null ? inLines(each, levels - 1) : JSON.stringify(each)}`,
  );
  return `{\n${entries.join(",\n")}\n}`;
}
