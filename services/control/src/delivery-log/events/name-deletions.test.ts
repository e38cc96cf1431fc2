/** The deletion requests that stopped the events of a list: each is looked for, at a bounded cost. */
import type { Event } from "@posthaste/core/event/event";
import type { StoppedBy } from "@posthaste/deletions/stopping-deletions";
import type { ListedUnrouted } from "@posthaste/read-model/unrouted-entry";
import { testEvent } from "@posthaste/testbed/test-event";
import { expect, it } from "vitest";
import type { JudgedEvent } from "./event-verdict.ts";
import { nameListedDeletions } from "./name-deletions.ts";

const FOUND: StoppedBy = { state: "in_force", id: "ticket-1", requestedAtMs: 5 };

function stoppedAt(offset: number, cause: "suppressed" | "no_destination" = "suppressed"): JudgedEvent {
  const unrouted = { messageId: `m-${offset}`, sourceId: "src_1", unroutedAtMs: 9, originPartition: 0 };
  // As much of it as is looked at.
  return { cause, unrouted: { ...unrouted, originOffset: offset } as ListedUnrouted, ...NO_MORE };
}

const NO_MORE = { deliveries: [], madeAfter: null, firstAtMs: null };
const stoppedBy = ({ stoppedBy: by }: JudgedEvent): string => (by === undefined ? "nobody asked" : by.state);

/** `onRead` is told how many events are being read. */
function namingWith(onRead: (reading: number) => void = () => undefined) {
  let reading = 0;
  return {
    deletions: { find: async () => FOUND },
    readEvent: async ({ offset }: { readonly offset: number }): Promise<Event | null> => {
      reading += 1;
      onRead(reading);
      await new Promise((resolve) => setImmediate(resolve));
      reading -= 1;
      return testEvent(`m-${offset}`, { sourceId: "src_1" });
    },
  };
}

it("each stopped event of a list is named, in its place, five of them at a time", async () => {
  const events = [...Array.from({ length: 22 }, (_, offset) => stoppedAt(offset)), stoppedAt(22, "no_destination")];
  let most = 0;
  const naming = namingWith((reading) => {
    most = Math.max(most, reading);
  });
  const named = await nameListedDeletions(events, naming, new AbortController().signal);
  expect(named.map(stoppedBy)).toEqual([...events.slice(0, 22).map(() => "in_force"), "nobody asked"]);
  expect(named.map((each) => ("unrouted" in each ? each.unrouted.originOffset : null))).toEqual(
    events.map((_, offset) => offset),
  );
  expect(most).toBe(5);
});

it("what is left when there was time enough is said to be not looked up", async () => {
  const enough = new AbortController();
  const naming = namingWith(() => enough.abort());
  const named = await nameListedDeletions(
    [0, 1, 2, 3, 4, 5, 6].map((n) => stoppedAt(n)),
    naming,
    enough.signal,
  );
  const states = named.map(stoppedBy);
  expect(states).toEqual(["in_force", ...states.slice(1).map(() => "not_looked_up")]);
});
