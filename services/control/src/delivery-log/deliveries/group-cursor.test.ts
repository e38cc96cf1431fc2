import { expect, it } from "vitest";
import { decodeGroupCursor, encodeGroupCursor } from "./group-cursor.ts";

const encoded = (text: string): string => Buffer.from(text).toString("base64url");

it("the cursor of a page of groups is read as it was written, whatever stands in the group's name", () => {
  for (const place of [
    { open: 0, count: 0, name: '["dst_1","window_expired",null]' },
    { open: 7, count: 1_000_000, name: '["dst_1","other","12:[x]\u2028:]"]' },
  ]) {
    expect(decodeGroupCursor(encodeGroupCursor(place))).toEqual(place);
  }
});

it.each([
  ["nothing", ""],
  ["what is no base64 of a place", "x"],
  ["a count without a name", encoded("3:12")],
  ["a name without a count", encoded('3::["dst_1"]')],
  ["a place of an earlier release, without what is open", encoded('12:["dst_1"]')],
  ["a count that is no number", encoded('3:1e3:["dst_1"]')],
  ["a count that no number holds", encoded(`3:${"9".repeat(17)}:["dst_1"]`)],
  ["a name that is no list", encoded("3:12:dst_1")],
  ["an empty list", encoded("3:12:[]")],
  ["something behind the place", encoded('3:12:["dst_1"] or more')],
  ["something before it", encoded(' 3:12:["dst_1"]')],
])("the cursor of a page of groups is refused where it is %s", (_, cursor) => {
  expect(() => decodeGroupCursor(cursor)).toThrow(expect.objectContaining({ kind: "invalid_input" }));
});
