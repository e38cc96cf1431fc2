/**
 * Avro `bytes` read as views of the record that they stand in.
 *
 * avsc copies them out, into slabs of 4 KB. A record in a window is a copy of its own already, and its body is most of
 * it, so the same bytes would be held, and collected, twice.
 */
import avro, { type Schema, type Type } from "avsc";

/** As much of avsc's reader as is used; its types leave it out. */
interface Tap {
  readonly buf: Buffer;
  pos: number;
  readLong(): number;
}

interface Reading {
  _read(tap: Tap): Buffer | undefined;
}

class BytesViewType extends avro.types.BytesType {
  _read(tap: Tap): Buffer | undefined {
    const before = tap.pos;
    const length = tap.readLong();
    const end = tap.pos + length;
    if (length < 0 || end > tap.buf.length) {
      tap.pos = before;
      return (avro.types.BytesType.prototype as unknown as Reading)._read.call(this, tap);
    }
    const view = tap.buf.subarray(tap.pos, end);
    tap.pos = end;
    return view;
  }
}

/** avsc's `typeHook`: the type of a schema that says `bytes`, nothing for any other. */
export function viewBytes(schema: Schema): Type | undefined {
  const name = typeof schema === "object" && "type" in schema ? schema.type : schema;
  return name === "bytes" ? new BytesViewType() : undefined;
}
