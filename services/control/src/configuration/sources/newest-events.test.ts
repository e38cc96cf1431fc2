import { testEvent } from "@posthaste/testbed/test-event";
import fc from "fast-check";
import { expect, it } from "vitest";
import { A_SECOND, MAX_BYTES, MAX_EVENTS, NewestEvents } from "./newest-events.ts";

/** An event that ingest took so many seconds after the first. */
const at = (second: number, offset: number) => ({
  tailed: { event: testEvent(`m-${offset}`, { receivedAtMs: second * 1000 }), partition: 0, offset },
  timestampMs: second * 1000,
});

function keep(events: NewestEvents, second: number, offset: number, bytes = 100): boolean {
  const { tailed, timestampMs } = at(second, offset);
  if (events.isFull(timestampMs)) return false;
  events.add(tailed, { timestampMs, bytes });
  return true;
}

const offsets = (events: NewestEvents) => events.list().map(({ offset }) => offset);

it("NE1: of a second the first twenty are kept, and of the next one again", () => {
  const events = new NewestEvents();
  const kept = Array.from({ length: 2 * A_SECOND }, (_, offset) => keep(events, 0, offset));
  expect(kept.filter(Boolean)).toHaveLength(A_SECOND);
  expect(offsets(events).toSorted((a, b) => a - b)).toEqual(Array.from({ length: A_SECOND }, (_, offset) => offset));
  expect(keep(events, 1, 1000)).toBe(true);
  expect(offsets(events)[0]).toBe(1000);
});

it("NE2: of any events the newest are listed, in whatever order they came, within the count and the bytes", () => {
  // Small events exceed the bound on their count, and large events the bound on their bytes.
  const given = fc
    .constantFrom(100, 40_000)
    .chain((max) => fc.array(fc.tuple(fc.nat(2000), fc.integer({ min: 1, max })), { maxLength: 3 * MAX_EVENTS }));
  fc.assert(
    fc.property(given, (sent) => {
      const events = new NewestEvents();
      const added = sent.flatMap(([second, bytes], offset) =>
        keep(events, second, offset, bytes) ? [{ second, offset, bytes }] : [],
      );
      const newest = added.toSorted((a, b) => b.second - a.second || b.offset - a.offset);
      let bytes = 0;
      const allowed = newest.slice(0, MAX_EVENTS).filter((each, index) => {
        bytes += each.bytes;
        return index === 0 || bytes <= MAX_BYTES;
      });
      expect(offsets(events)).toEqual(allowed.map(({ offset }) => offset));
    }),
  );
});

it("NE2: lists the newest two hundred of many that are small", () => {
  const events = new NewestEvents();
  for (let offset = 0; offset < 3 * MAX_EVENTS; offset += 1) keep(events, offset, offset);
  expect(offsets(events)).toEqual(Array.from({ length: MAX_EVENTS }, (_, n) => 3 * MAX_EVENTS - 1 - n));
});

it.each([
  [32_768, MAX_BYTES],
  [1, MAX_EVENTS],
])("NE2: holds twice as much at the most, of events of %i bytes", (bytes, most) => {
  const events = new NewestEvents();
  let held = 0;
  for (let second = 0; second < 5 * MAX_EVENTS; second += 1) {
    keep(events, second, second, bytes);
    held = Math.max(held, events.heldBytes);
  }
  expect(held).toBeGreaterThan(most);
  expect(held).toBeLessThanOrEqual(2 * most);
});

it("lists one event that is larger than all of them may be", () => {
  const events = new NewestEvents();
  keep(events, 0, 0, 3 * MAX_BYTES);
  expect(offsets(events)).toEqual([0]);
});

it("has nothing once it was cleared", () => {
  const events = new NewestEvents();
  keep(events, 0, 0);
  events.clear();
  expect(offsets(events)).toEqual([]);
});

it("NE1: keeps as many of a second once it was cleared as before: a topic that was made anew begins with the same seconds", () => {
  const events = new NewestEvents();
  for (let offset = 0; offset < A_SECOND; offset += 1) keep(events, 0, offset);
  expect(keep(events, 0, A_SECOND)).toBe(false);
  events.clear();
  const kept = Array.from({ length: A_SECOND + 1 }, (_, offset) => keep(events, 0, offset));
  expect(kept.filter(Boolean)).toHaveLength(A_SECOND);
});
