import { NO_PROGRESS } from "@posthaste/core/delivery";
import type { Destination } from "@posthaste/core/destination";
import type { RoomSettings } from "@posthaste/core/destination-room";
import type { PartitionWindow } from "@posthaste/kafka/window";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Isolation, type Turn } from "./isolation.ts";
import type { Pending } from "./pending.ts";

const SETTINGS: RoomSettings = {
  limit: { first: 2, least: 1, enough: 64, most: 64 },
  breaker: { threshold: 3, firstOpenMs: 1000, longestOpenMs: 8000 },
};

const CONNECTIONS = 64;

interface FakeWindow {
  isFull: boolean;
  isRevoked: boolean;
  records: number;
  maxRecords: number;
  heldBy: (holder: string) => number;
}

let nowMs: number;
let sent: Turn[];
let putOff: { readonly pending: Pending; readonly cause: string; readonly notBeforeMs: number | null }[];
let isolation: Isolation;

const openWindow = (): FakeWindow => ({
  isFull: false,
  isRevoked: false,
  records: 1,
  maxRecords: 500,
  heldBy: () => 1,
});
/** More than half full. */
const fillingWindow = (): FakeWindow => ({ ...openWindow(), records: 251 });

/** A delivery as the isolation sees it; what it does not look at is left out. */
function pending(
  destinationId: string,
  { window = openWindow(), returning = false, requests = 1, revision = 1 } = {},
): Pending {
  const destination = { id: destinationId, revision, rateLimitPerSecond: null } as Destination;
  return { destination, returning, requests, progress: NO_PROGRESS, task: { window } } as unknown as Pending;
}

function finish(turn: Turn | undefined, outcome: "delivered" | "failed" | "congested"): void {
  if (turn === undefined) throw new Error("nothing was sent");
  isolation.settled(turn, outcome, null);
  isolation.released(turn);
}

/** Time passes, and the timers see it. */
function pass(ms: number): void {
  for (let left = ms; left > 0; left -= 20) {
    nowMs += Math.min(left, 20);
    vi.advanceTimersByTime(Math.min(left, 20));
  }
}

function createIsolation(settings: RoomSettings): Isolation {
  return new Isolation({
    settings,
    connections: CONNECTIONS,
    monotonicMs: () => nowMs,
    send: (turn) => sent.push(turn),
    putOff: (late, cause, notBeforeMs) => putOff.push({ pending: late, cause, notBeforeMs }),
  });
}

beforeEach(() => {
  vi.useFakeTimers();
  nowMs = 1_000_000;
  sent = [];
  putOff = [];
  isolation = createIsolation(SETTINGS);
});

afterEach(() => {
  isolation.close();
  vi.useRealTimers();
});

describe("isolation", () => {
  it("J1: sends while there is room, and what waited as soon as there is room again", () => {
    for (let index = 0; index < 3; index++) isolation.submit(pending("a"));
    expect([sent.length, isolation.waiting]).toEqual([2, 1]);
    finish(sent[0], "delivered");
    expect([sent.length, isolation.waiting]).toEqual([3, 0]);
  });

  it("keeps one destination's room apart from another's", () => {
    for (let index = 0; index < 3; index++) isolation.submit(pending("a"));
    isolation.submit(pending("b"));
    expect(sent.at(-1)?.pending.destination.id).toBe("b");
  });

  it("I1: puts off what waits for a destination that hangs beside another, within little more than a second", () => {
    isolation.submit(pending("b"));
    for (let index = 0; index < 10; index++) isolation.submit(pending("a"));
    pass(1000);
    expect(putOff).toEqual([]);
    pass(100);
    expect(putOff.map(({ cause }) => cause)).toEqual(Array(8).fill("no_room"));
    expect(isolation.waiting).toBe(0);
  });

  it("J6: does not blame a destination for the time that this process was blocked", () => {
    isolation.submit(pending("b"));
    for (let index = 0; index < 10; index++) isolation.submit(pending("a"));
    nowMs += 900;
    finish(sent[1], "delivered");
    pass(100);
    expect([putOff.length, isolation.waiting]).toEqual([0, 6]);
  });

  it("J6: does not take a receiver for a quick one because its answer came while this process was blocked", () => {
    isolation.close();
    isolation = createIsolation({ ...SETTINGS, limit: { first: 4, least: 1, enough: 2, most: 64 } });
    for (let index = 0; index < 5; index++) isolation.submit(pending("watched"));
    nowMs += 200;
    isolation.submit(pending("slow"));
    nowMs += 900;
    finish(sent.at(-1), "delivered");
    sent = [];
    for (let index = 0; index < 4; index++) isolation.submit(pending("slow"));
    pass(400);
    for (const turn of sent.splice(0)) finish(turn, "delivered");
    for (let index = 0; index < 6; index++) isolation.submit(pending("slow"));
    expect(sent).toHaveLength(6);
  });

  it("J3: leaves what waits for a destination that is alone where it is, unless it stalls in a full window", () => {
    const window = openWindow();
    for (let index = 0; index < 10; index++) isolation.submit(pending("a", { window }));
    pass(30_000);
    expect([putOff.length, isolation.waiting]).toEqual([0, 8]);
    window.isFull = true;
    pass(100);
    expect(putOff).toHaveLength(8);
  });

  it("J4, G3: turns away what would stand behind requests that hang, when the window grows full and others get through", () => {
    const turnsAway = (window: FakeWindow) => isolation.turnsAway("a", window as unknown as PartitionWindow);
    isolation.submit(pending("a"));
    isolation.submit(pending("b"));
    expect(turnsAway(fillingWindow())).toBeNull();
    pass(240);
    expect(turnsAway(fillingWindow())).toBeNull();
    finish(sent[1], "delivered");
    expect([turnsAway(openWindow()), turnsAway(fillingWindow())]).toEqual([null, "window_full"]);
    pass(240);
    expect(turnsAway(fillingWindow())).toBeNull();
    pass(1000);
    expect(turnsAway(fillingWindow())).toBe("no_room");
    finish(sent[0], "congested");
    expect(turnsAway(fillingWindow())).toBeNull();
    expect(putOff).toEqual([]);
  });

  it("G6: has a turn for a newcomer beside more that hang than the sender has connections for, once they were seen to hang", () => {
    for (let index = 0; index < 100; index++) isolation.submit(pending(`hang-${index}`));
    expect(sent).toHaveLength(56);
    isolation.submit(pending("new"));
    pass(1040);
    expect(putOff.map(({ cause }) => cause)).toEqual(Array(45).fill("no_room"));
    const late = sent;
    sent = [];
    for (const turn of late) finish(turn, "congested");
    for (let index = 0; index < 56; index++) isolation.submit(pending(`hang-${index}`));
    expect([sent.length, putOff.length]).toEqual([32, 45 + 24]);
    isolation.submit(pending("new"));
    expect(sent.at(-1)?.pending.destination.id).toBe("new");
  });

  it("G6, J4: sees of a proven destination that it hangs now, though nothing waits for it", () => {
    for (let index = 0; index < 30; index++) {
      isolation.submit(pending(`well-${index}`));
      finish(sent.at(-1), "delivered");
    }
    sent = [];
    for (let index = 0; index < 30; index++) isolation.submit(pending(`well-${index}`));
    pass(240);
    for (let index = 0; index < 30; index++) isolation.submit(pending(`well-${index}`));
    // The first 15 were sent before a quarter of the connections was in use, so nobody watched them.
    expect([sent.length, isolation.waiting]).toEqual([30 + 15, 15]);
  });

  it("J1: neither sends nor puts off what waited for a partition that was given up", () => {
    const window = openWindow();
    for (let index = 0; index < 3; index++) isolation.submit(pending("a", { window }));
    window.isRevoked = true;
    finish(sent[0], "delivered");
    expect([sent.length, putOff.length, isolation.waiting]).toEqual([2, 0, 0]);
    isolation.submit(pending("a"));
    expect(sent).toHaveLength(3);
  });

  it("counts destinations by the state of their breaker, and forgets those that are idle", () => {
    isolation.submit(pending("good"));
    finish(sent[0], "delivered");
    for (let index = 0; index < 3; index++) {
      isolation.submit(pending("bad"));
      finish(sent.at(-1), "failed");
    }
    expect(isolation.breakers()).toEqual({ closed: 1, open: 1, probing: 0 });
    isolation.submit(pending("bad"));
    expect(putOff).toMatchObject([{ cause: "breaker_open" }]);
    pass(120_000);
    expect(isolation.breakers()).toEqual({ closed: 0, open: 1, probing: 0 });
    pass(600_000);
    expect(isolation.breakers()).toEqual({ closed: 0, open: 0, probing: 0 });
  });

  it("J2: trusts a destination again that was changed", () => {
    for (let index = 0; index < 3; index++) {
      isolation.submit(pending("bad"));
      finish(sent.at(-1), "failed");
    }
    isolation.submit(pending("bad", { revision: 2 }));
    expect([sent.length, putOff.length]).toEqual([4, 0]);
  });

  it("has the room again of a turn that was given back", () => {
    for (let index = 0; index < 2; index++) isolation.submit(pending("a"));
    const [turn] = sent;
    if (turn === undefined) throw new Error("nothing was sent");
    isolation.cancel(turn);
    isolation.submit(pending("a"));
    expect(sent).toHaveLength(3);
  });

  it("W5: says till when the receiver asked for peace, and waits when that is near", () => {
    isolation.submit(pending("a"));
    const [turn] = sent;
    if (turn === undefined) throw new Error("nothing was sent");
    isolation.settled(turn, "failed", 5000);
    isolation.released(turn);
    isolation.submit(pending("a"));
    expect(putOff).toMatchObject([{ cause: "retry_after", notBeforeMs: 1_005_000 }]);
    pass(4500);
    isolation.submit(pending("a"));
    expect(isolation.waiting).toBe(1);
    pass(600);
    expect([isolation.waiting, sent.length]).toEqual([0, 2]);
  });

  it("J5, H3: leaves room to a newcomer beside last attempts of more that hang than the sender has connections for", () => {
    for (let index = 0; index < 100; index++) {
      isolation.submit(pending(`hang-${index}`));
      finish(sent.at(-1), "congested");
    }
    sent = [];
    for (let index = 0; index < 100; index++) isolation.submitLast(pending(`hang-${index}`));
    expect(sent).toHaveLength(CONNECTIONS / 2);
    isolation.submit(pending("new"));
    expect(sent.at(-1)?.pending.destination.id).toBe("new");
  });

  it("J5, I3: sends a last attempt whatever the breaker says, within the reserve", () => {
    for (let index = 0; index < 3; index++) {
      isolation.submit(pending("bad"));
      finish(sent.at(-1), "failed");
    }
    sent = [];
    for (let index = 0; index < 32; index++) expect(isolation.submitLast(pending("bad"))).toBe(true);
    expect(isolation.submitLast(pending("bad"))).toBe(false);
    expect(sent.every(({ isLast }) => isLast)).toBe(true);
    finish(sent[0], "failed");
    expect(isolation.submitLast(pending("bad"))).toBe(true);
  });

  it("I2: knows how many of a destination's deliveries went away and have not come back", () => {
    isolation.wentAway("a");
    isolation.wentAway("a");
    isolation.cameBack("a");
    isolation.submit(pending("a", { returning: true }));
    expect([isolation.awayOf("a"), isolation.awayOf("b")]).toEqual([1, 0]);
  });
});
