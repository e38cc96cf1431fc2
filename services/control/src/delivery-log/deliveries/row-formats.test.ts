import type { FoundDeadLetter } from "@posthaste/dead-letters/dead-letter-reader";
import { factsOf } from "@posthaste/read-model/dead-letter-facts";
import { deadLetterAt } from "@posthaste/testbed/log-writer";
import { expect, it } from "vitest";
import { createRowFormat, type ExportFormat } from "./row-formats.ts";

function rowOf(format: ExportFormat, event: string): string {
  const deadLetter = deadLetterAt(1, { event });
  const record = { partition: 0, offset: 1, key: null, value: Buffer.alloc(1) } as unknown as FoundDeadLetter["record"];
  return Buffer.from(
    createRowFormat(format).add([{ deadLetter, record, facts: factsOf(deadLetter, record) }]),
  ).toString();
}

it.each(["=HYPERLINK(1)", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])(
  "a CSV cell that a spreadsheet would run has a quote before it, and its text as it is in NDJSON: %j",
  (event) => {
    expect(rowOf("csv", event)).toContain(`'${event}`);
    expect(rowOf("ndjson", event)).toContain(`"event":${JSON.stringify(event)}`);
    expect(rowOf("csv", `a${event}`)).not.toContain("'");
  },
);
