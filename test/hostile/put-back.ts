/**
 * Faults of former code, each put back by changes of the sources: the search must find a stream beyond the bounds with
 * any of them. The sources are put back at the end of the process.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

interface Change {
  readonly file: string;
  /** Stands in the file once. */
  readonly from: string;
  readonly to: string;
}

/** Bodies of one-byte chunks are read whole, by every server. */
const ANY_PIECES: Change = {
  file: "packages/runtime/src/wire-pieces.ts",
  from: "if (!this.#isCutTooSmall()) return true;",
  to: "if (!this.#isCutTooSmall() || this.#bytes > 0) return true;",
};

/** By name: `door` is where the search finds the fault. */
export const FAULTS: Readonly<Record<string, { readonly door: string; readonly changes: readonly Change[] }>> = {
  "pieces-at-ingest": {
    door: "ingest",
    changes: [
      ANY_PIECES,
      {
        file: "services/ingest/src/body/gathered-bytes.ts",
        from: "return this.parts === 0 || (length >= KEPT_BYTES && length > this.#free());",
        to: "return this.parts === 0 || length > this.#free();",
      },
      {
        file: "services/ingest/src/body/gathered-bytes.ts",
        from: "const OBJECT_BYTES = 480;",
        to: "const OBJECT_BYTES = 0;",
      },
    ],
  },
  "bodies-of-strangers": {
    door: "control",
    changes: [
      ANY_PIECES,
      {
        file: "packages/http-kit/src/stranger-bodies.ts",
        from: "export const MAX_STRANGER_BODY_BYTES = 4 * 1024;",
        to: "export const MAX_STRANGER_BODY_BYTES = 1024 * 1024;",
      },
      {
        file: "packages/http-kit/src/stranger-bodies.ts",
        from: "if (!request.isOfKnownCaller && !request.raw.complete)",
        to: "if (false as boolean)",
      },
    ],
  },
  "answers-without-budget": {
    door: "delivery",
    changes: [
      {
        file: "packages/webhook/src/answer-budget.ts",
        from: "if (this.#overheadBytes > this.limits.overheadBytes || this.#pieces > this.limits.pieces) return false;",
        to: "",
      },
      {
        file: "packages/webhook/src/answer-budget.ts",
        from: "    this.#spentMs += this.#pieceMs(this.#readAtMs);\n",
        to: "",
      },
      {
        file: "packages/webhook/src/answer-budget.ts",
        from: "export const PIECE_BYTES = 4 * 1024;",
        to: "export const PIECE_BYTES = 64 * 1024;",
      },
      {
        file: "packages/webhook/src/answer-budget.ts",
        from: "const LEAST_CHUNK_BYTES = 64;",
        to: "const LEAST_CHUNK_BYTES = 0;",
      },
      ...["const HEAD_LINES = 256;", "const FRAMING_BYTES = 2 * PIECE_BYTES;"].map((from) => ({
        ...{ file: "packages/webhook/src/answer-budget.ts", from },
        to: from.replace(/= .*;/, "= Number.POSITIVE_INFINITY;"),
      })),
    ],
  },
};

/** Changes the sources until the process ends; returns the fault's door. */
export function putBack(name: string): string {
  const fault = FAULTS[name];
  if (fault === undefined) throw new Error(`there is no fault ${name}, but ${Object.keys(FAULTS).join(", ")}`);
  for (const { file, from, to } of fault.changes) {
    const path = fileURLToPath(new URL(`../../${file}`, import.meta.url));
    const source = readFileSync(path, "utf8");
    if (source.split(from).length !== 2) throw new Error(`${file} does not have the line of ${name} once: ${from}`);
    process.prependOnceListener("exit", () => writeFileSync(path, source));
    writeFileSync(
      path,
      source.replace(from, () => to),
    );
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));
  return fault.door;
}
