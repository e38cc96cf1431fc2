import avro from "avsc";
import fc from "fast-check";
import { expect, it } from "vitest";
import { viewBytes } from "./bytes-view.ts";

const SCHEMA = {
  type: "record",
  name: "Holder",
  fields: [
    { name: "before", type: "string" },
    { name: "body", type: "bytes" },
    { name: "after", type: ["null", { type: "bytes", doc: "As a schema of its own." }] },
  ],
} as const;
const copying = avro.Type.forSchema(structuredClone(SCHEMA) as never);
const viewing = avro.Type.forSchema(structuredClone(SCHEMA) as never, { typeHook: viewBytes });

const bytes = fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each));
const value = fc.record({ before: fc.string(), body: bytes, after: fc.option(bytes) });

it("writes and reads what avsc itself does", () => {
  fc.assert(
    fc.property(value, (each) => {
      const encoded = viewing.toBuffer(each);
      expect(encoded.equals(copying.toBuffer(each))).toBe(true);
      expect({ ...viewing.fromBuffer(encoded) }).toEqual({ ...copying.fromBuffer(encoded) });
    }),
  );
});

it("reads bytes as views of the record, not as copies", () => {
  const encoded = viewing.toBuffer({ before: "x", body: Buffer.from("body"), after: null });
  const { body } = viewing.fromBuffer(encoded) as { body: Buffer };
  encoded.fill("!");
  expect(body.toString()).toBe("!!!!");
});

it("refuses a record that is cut short wherever it is cut, as avsc does", () => {
  fc.assert(
    fc.property(value, fc.nat(), (each, at) => {
      const encoded = viewing.toBuffer(each);
      const cut = encoded.subarray(0, at % encoded.length);
      expect(() => viewing.fromBuffer(cut)).toThrow();
    }),
  );
});
