/**
 * Turns rows of dead letters into bytes, a batch at a time, so that the memory it takes does not depend on their
 * number.
 */

import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import { deadLetterPlace } from "@posthaste/core/replay/dead-letter-filter";
import type { FoundDeadLetter } from "@posthaste/dead-letters/dead-letter-reader";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";

const DEAD_LETTER_COLUMNS: readonly DeadLetterColumn[] = [
  { name: "place", kind: "text", of: (_, { facts }) => deadLetterPlace(facts) },
  { name: "time", kind: "time", of: ({ deadAtMs }) => deadAtMs },
  { name: "reason", kind: "text", of: ({ reason }) => reason },
  { name: "reasonClass", kind: "text", of: ({ reasonClass }) => reasonClass },
  { name: "destinationId", kind: "text", of: ({ destinationId }) => destinationId },
  { name: "sourceId", kind: "text", of: ({ sourceId }) => sourceId },
  { name: "messageId", kind: "text", of: ({ messageId }) => messageId },
  { name: "type", kind: "text", of: ({ type }) => type },
  { name: "event", kind: "text", of: ({ event }) => event },
  { name: "userKey", kind: "text", of: ({ userKey }) => userKey },
  { name: "receivedAt", kind: "time", of: ({ receivedAtMs }) => receivedAtMs },
  { name: "firstAttemptAt", kind: "time", of: ({ firstAttemptAtMs }) => firstAttemptAtMs },
  { name: "windowStart", kind: "time", of: ({ windowStartMs }) => windowStartMs },
  { name: "attempts", kind: "count", of: ({ attempts }) => attempts },
  { name: "deferrals", kind: "count", of: ({ deferrals }) => deferrals },
  { name: "errors", kind: "text", of: (_, { facts }) => facts.errors.join(",") },
  { name: "lastAttempt", kind: "json", of: ({ lastAttempt }) => JSON.stringify(lastAttempt) },
  { name: "history", kind: "json", of: ({ history }) => JSON.stringify(history) },
  { name: "originTopic", kind: "text", of: ({ originTopic }) => originTopic },
  { name: "originPartition", kind: "count", of: ({ originPartition }) => originPartition },
  { name: "originOffset", kind: "count", of: ({ originOffset }) => originOffset },
  { name: "replayId", kind: "text", of: ({ replayId }) => replayId },
  { name: "replays", kind: "count", of: ({ replays }) => replays },
  { name: "replayedFrom", kind: "text", of: ({ replayedFrom }) => replayedFrom },
  { name: "body", kind: "json", of: ({ body }) => (body.length === 0 ? null : Buffer.from(body).toString()) },
  { name: "rest", kind: "json", of: ({ restJson }) => restJson },
];

export const EXPORT_FORMATS = ["ndjson", "csv", "parquet"] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  ndjson: "application/x-ndjson",
  csv: "text/csv; charset=utf-8",
  parquet: "application/vnd.apache.parquet",
};

/** The format of one export: call `begin` once, `add` for each batch, `end` once. */
export interface RowFormat {
  begin(): Uint8Array;
  add(found: readonly FoundDeadLetter[]): Uint8Array;
  end(): Uint8Array;
}

export function createRowFormat(format: ExportFormat): RowFormat {
  switch (format) {
    case "ndjson":
      return textFormat("", ndjsonLine);
    case "csv":
      return textFormat(`${DEAD_LETTER_COLUMNS.map(({ name }) => name).join(",")}\r\n`, csvLine);
    case "parquet":
      return new ParquetRows();
  }
}

const NOTHING = new Uint8Array();

function textFormat(head: string, line: (found: FoundDeadLetter) => string): RowFormat {
  return {
    begin: () => Buffer.from(head),
    add: (found) => Buffer.from(found.map(line).join("")),
    end: () => NOTHING,
  };
}

function ndjsonLine(found: FoundDeadLetter): string {
  const fields = DEAD_LETTER_COLUMNS.map(({ name, kind, of }) => {
    const cell = of(found.deadLetter, found);
    return `${JSON.stringify(name)}:${cell === null || kind === "json" ? String(cell) : JSON.stringify(plain(cell, kind))}`;
  });
  return `{${fields.join(",")}}\n`;
}

/** A spreadsheet runs a cell that begins so, even a quoted one. */
const FORMULA = /^[=+\-@\t\r]/;

/** RFC 4180. Null is an empty field, an empty text a quoted one. A text that a spreadsheet would run gets a `'`. */
function csvLine(found: FoundDeadLetter): string {
  const fields = DEAD_LETTER_COLUMNS.map(({ kind, of }) => {
    const cell = of(found.deadLetter, found);
    if (cell === null) return "";
    const whole = String(plain(cell, kind));
    const text = typeof cell === "string" && FORMULA.test(whole) ? `'${whole}` : whole;
    return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${fields.join(",")}\r\n`;
}

function plain(cell: string | number, kind: ColumnKind): string | number {
  return kind === "time" ? new Date(Number(cell)).toISOString() : cell;
}

/** The size of a Parquet row group, about; a single row may be larger. Writing a group of 1,000 takes some 20 ms. */
const GROUP_ROWS = 1000;

const GROUP_BYTES = 8_000_000;

/**
 * Writes row groups when they are full and hands on their bytes at once: of the file it holds only where its groups
 * stand.
 */
class ParquetRows implements RowFormat {
  readonly #bytes = new ByteWriter();
  readonly #writer = new ParquetWriter({ writer: this.#bytes, schema: SCHEMA, createdBy: "posthaste" });
  #columns: Cell[][] = DEAD_LETTER_COLUMNS.map(() => []);
  #rows = 0;
  #size = 0;

  begin(): Uint8Array {
    return this.#taken();
  }

  add(found: readonly FoundDeadLetter[]): Uint8Array {
    for (const each of found) {
      for (const [index, column] of DEAD_LETTER_COLUMNS.entries())
        this.#columns[index]?.push(column.of(each.deadLetter, each));
      this.#rows += 1;
      this.#size += each.record.value?.length ?? 0;
      if (this.#rows >= GROUP_ROWS || this.#size >= GROUP_BYTES) this.#writeGroup();
    }
    return this.#taken();
  }

  end(): Uint8Array {
    this.#writeGroup();
    void this.#writer.finish();
    return this.#taken();
  }

  #writeGroup(): void {
    if (this.#rows === 0) return;
    const columnData = DEAD_LETTER_COLUMNS.map(({ name, kind }, index) => ({
      ...{ name, offsetIndex: false, data: (this.#columns[index] ?? []).map((cell) => parquetCell(cell, kind)) },
    }));
    void this.#writer.write({ columnData, rowGroupSize: this.#rows });
    this.#columns = DEAD_LETTER_COLUMNS.map(() => []);
    this.#rows = 0;
    this.#size = 0;
  }

  /** The bytes written since the last call. */
  #taken(): Uint8Array {
    const taken = Uint8Array.from(this.#bytes.getBytes());
    this.#bytes.index = 0;
    return taken;
  }
}

const SCHEMA = [
  { name: "root", num_children: DEAD_LETTER_COLUMNS.length },
  ...DEAD_LETTER_COLUMNS.map(
    ({ name, kind }: DeadLetterColumn) => ({ name, repetition_type: "OPTIONAL", ...typeOf(kind) }) as const,
  ),
];

function typeOf(kind: ColumnKind) {
  switch (kind) {
    case "count":
      return { type: "INT64" } as const;
    case "time":
      return { type: "INT64", converted_type: "TIMESTAMP_MILLIS" } as const;
    case "text":
    case "json":
      return { type: "BYTE_ARRAY", converted_type: "UTF8" } as const;
  }
}

function parquetCell(cell: Cell, kind: ColumnKind): string | bigint | Date | null {
  if (cell === null) return null;
  if (kind === "time") return new Date(Number(cell));
  return typeof cell === "number" ? BigInt(cell) : cell;
}

/** `json`: a JSON text, byte for byte as the record holds it. */
type ColumnKind = "text" | "count" | "time" | "json";

/** Dead letters as rows, with the same columns in every format of an export. */
type Cell = string | number | null;

interface DeadLetterColumn {
  readonly name: string;
  readonly kind: ColumnKind;
  /** The cell of a dead letter; a time is in ms since the epoch. */
  readonly of: (deadLetter: DeadLetter, found: FoundDeadLetter) => Cell;
}
