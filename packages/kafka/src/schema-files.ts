/** The schema files of the data package, as text. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { SchemaName } from "@posthaste/contracts/topics";

const require = createRequire(import.meta.url);

/** The Avro schema of that name, as it is written in `schemas/`. */
export function readSchema(name: SchemaName): string {
  return readFileSync(require.resolve(`@posthaste/schemas/${name}.avsc`), "utf8");
}
