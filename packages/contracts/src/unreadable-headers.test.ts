import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodeUnreadable,
  encodeUnreadable,
  ownHeaders,
  UNREADABLE_REASONS,
  type Unreadable,
} from "./unreadable-headers.ts";

const unreadable: fc.Arbitrary<Unreadable> = fc.record({
  topic: fc.string(),
  partition: fc.nat(),
  offset: fc.nat(),
  reason: fc.constantFrom(...UNREADABLE_REASONS),
  error: fc.string(),
  atMs: fc.nat(),
  by: fc.string(),
  isValueOmitted: fc.boolean(),
});

describe("the headers of a record that was quarantined", () => {
  it("come back as they went, beside the record's own", () => {
    const own = fc.dictionary(fc.constantFrom("reason", "topic", "attempts", "revision"), fc.string());
    fc.assert(
      fc.property(unreadable, own, (before, headers) => {
        const all = { ...headers, ...encodeUnreadable(before) };
        expect(decodeUnreadable(all)).toEqual(before);
        expect(ownHeaders(all)).toEqual(headers);
      }),
    );
  });

  it("are read as none when a needed one is missing", () => {
    const whole = encodeUnreadable({
      ...{ topic: "t", partition: 1, offset: 2, reason: "not_framed", error: "e", atMs: 3, by: "b" },
      isValueOmitted: false,
    });
    for (const name of ["unreadable-topic", "unreadable-partition", "unreadable-offset", "unreadable-reason"]) {
      expect(decodeUnreadable(Object.fromEntries(Object.entries(whole).filter(([each]) => each !== name)))).toBeNull();
    }
  });
});
