/** Rule: X2 of deletion-store.ts. */
import { expect, it } from "vitest";
import { RecordPlaces } from "./record-places.ts";

let nowMs = 0;

function placesOf(...contents: readonly (string | null)[]): RecordPlaces {
  const places = new RecordPlaces({ monotonicMs: () => nowMs });
  for (const [offset, content] of contents.entries()) places.note("id", content, offset);
  return places;
}

it("a record that was written over another's is told from it", () => {
  const places = placesOf("first", "second");
  expect(places.newest("id")).toBe(1);
  expect(places.overwritten("id", "second")).toBe(0);
});

it("a record that the other one wrote again since is not overwritten any more", () => {
  // The first one's request was carried out, and said so, before the second one came to look.
  const places = placesOf("first", "second", "first");
  expect(places.overwritten("id", "second")).toBeNull();
});

it("several records of one request are over what stood before all of them", () => {
  expect(placesOf("first", "first", "second", "second").overwritten("id", "second")).toBe(1);
});

it("the first record of an id stands over nothing", () => {
  expect(placesOf("first").overwritten("id", "first")).toBeNull();
  expect(placesOf().overwritten("id", "first")).toBeNull();
  expect(placesOf().newest("id")).toBeUndefined();
});

it("a record that was written over another's is contested until that was put back, or nobody will any more", () => {
  expect(placesOf("first").isContested("id")).toBe(false);
  expect(placesOf().isContested("id")).toBe(false);
  expect(placesOf("first", "second", "first").isContested("id")).toBe(false);
  // The id was free.
  expect(placesOf("first", null, "second").isContested("id")).toBe(false);
  const places = placesOf("first", "second");
  expect(places.isContested("id")).toBe(true);
  nowMs += 29_999;
  expect(places.isContested("id")).toBe(true);
  nowMs += 1;
  expect(places.isContested("id")).toBe(false);
});
