/** Reads the schema files of the data package as text. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { SchemaName } from "@posthaste/contracts/topics";

const require = createRequire(import.meta.url);
/** The folder of the files, found by one of them. */
const folder = dirname(require.resolve("@posthaste/schemas/event.avsc"));

/** Returns the text of the Avro schema of that name in `schemas/`. */
export function readSchema(name: SchemaName): string {
  return readFileSync(join(folder, `${name}.avsc`), "utf8");
}
