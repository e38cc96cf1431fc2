/**
 * Reads Avro `bytes` as views of the record that holds them.
 *
 * avsc copies such bytes into slabs of 4 KB. A record in a window is already a copy, and most of it is its body, so the
 * process would hold and collect the same bytes twice.
 */
import avro, { type Schema, type Type } from "avsc";

/** The part of avsc's reader that is used here; avsc's types leave it out. */
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

/** A `typeHook` for avsc: it answers a type for the schema `bytes` and nothing for any other schema. */
export function viewBytes(schema: Schema): Type | undefined {
  const name = typeof schema === "object" && "type" in schema ? schema.type : schema;
  return name === "bytes" ? new BytesViewType() : undefined;
}
