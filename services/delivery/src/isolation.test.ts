import type { Destination } from "@posthaste/core/config/destination";
import { NO_PROGRESS } from "@posthaste/core/delivery/delivery";
import type { AdmissionSettings } from "@posthaste/core/isolation/admission";
import type { DeferredPart } from "@posthaste/core/isolation/permit";
import type { RequestOutcome } from "@posthaste/core/isolation/url-health";
import type { PartitionWindow } from "@posthaste/kafka/consumer/windowed-consumer";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type DeliveryPermit, Isolation } from "./isolation.ts";
import type { Pending } from "./pending.ts";

const SETTINGS: AdmissionSettings = {
  limit: { first: 2, least: 1, enough: 64, most: 64 },
  breaker: { threshold: 3, firstOpenMs: 1000, longestOpenMs: 8000 },
  longestWaitMs: 10_000,
};

const CONNECTIONS = 64;

interface FakeWindow {
  isFull: boolean;
  isRevoked: boolean;
  records: number;
  maxRecords: number;
  ownedBy: (owner: string) => number;
}

let nowMs: number;
let sent: DeliveryPermit[];
let deferred: { readonly pending: Pending; readonly parts: readonly DeferredPart[] }[];
let judgedAgain: Pending[];
let isolation: Isolation;

const openWindow = (): FakeWindow => ({
  isFull: false,
  isRevoked: false,
  records: 1,
  maxRecords: 500,
  ownedBy: () => 1,
});
/** More than three quarters full. */
const fillingWindow = (): FakeWindow => ({ ...openWindow(), records: 376 });

interface PendingOptions {
  readonly window?: FakeWindow;
  readonly isRetry?: boolean;
  readonly revision?: number;
  readonly urls?: readonly string[];
  readonly rateLimitPerSecond?: number | null;
}

/** A delivery as the isolation sees it; what it does not look at is left out. */
function pending(
  destinationId: string,
  { window = openWindow(), isRetry = false, revision = 1, urls, rateLimitPerSecond = null }: PendingOptions = {},
): Pending {
  const own = (urls ?? [`https://${destinationId}.example/`]).map((url) => ({ url, headers: {} }));
  const destination = { id: destinationId, revision, rateLimitPerSecond, settle: "any", urls: own };
  return {
    destination: destination as unknown as Destination,
    isRetry,
    owed: null,
    requests: own.length,
    progress: NO_PROGRESS,
    task: { window },
  } as unknown as Pending;
}

function finish(permit: DeliveryPermit | undefined, outcome: RequestOutcome): void {
  if (permit === undefined) throw new Error("nothing was sent");
  for (const index of permit.lines.keys()) {
    isolation.settled(permit, index, outcome, null);
    isolation.ended(permit, index);
  }
}

const causes = () => deferred.flatMap(({ parts }) => parts.map(({ cause }) => cause));

/** Time passes, and the timers see it. */
function pass(ms: number): void {
  for (let left = ms; left > 0; left -= 20) {
    nowMs += Math.min(left, 20);
    vi.advanceTimersByTime(Math.min(left, 20));
  }
}

function createIsolation(settings: AdmissionSettings, connections = CONNECTIONS): Isolation {
  return new Isolation({
    settings,
    connections,
    monotonicMs: () => nowMs,
    send: (permit) => sent.push(permit),
    defer: (late, parts) => deferred.push({ pending: late, parts }),
    judgeAgain: (again) => judgedAgain.push(again),
  });
}

beforeEach(() => {
  vi.useFakeTimers();
  nowMs = 1_000_000;
  sent = [];
  deferred = [];
  judgedAgain = [];
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
    expect(sent.at(-1)?.request.destination.id).toBe("b");
  });

  it("I1: lets wait for a destination that hangs, where the window has room for all, and defers where it fills", () => {
    isolation.submit(pending("b"));
    for (let index = 0; index < 10; index++) isolation.submit(pending("a"));
    pass(4000);
    expect([deferred.length, isolation.waiting]).toEqual([0, 8]);
    const window = fillingWindow();
    for (let index = 0; index < 10; index++) isolation.submit(pending("c", { window }));
    pass(1500);
    expect(deferred).toEqual([]);
    pass(100);
    expect(causes()).toEqual(Array(8).fill("concurrency_limit"));
    expect(isolation.waiting).toBe(8);
  });

  it("I1: serves a burst to a receiver that is slow and well beside others as it does alone", () => {
    isolation.close();
    isolation = createIsolation(SETTINGS, 4096);
    isolation.submit(pending("b"));
    for (let index = 0; index < 200; index++) isolation.submit(pending("a"));
    const startedMs = nowMs;
    for (let done = 0; isolation.waiting > 0; done++) {
      if (done > 20) throw new Error(`${isolation.waiting} wait still`);
      pass(500);
      for (const permit of sent.splice(0)) finish(permit, "delivered");
    }
    expect(deferred).toEqual([]);
    // The limit doubles each half second, from 2 to 64.
    expect(nowMs - startedMs).toBeLessThanOrEqual(4000);
  });

  it("I1: remembers for hours what a receiver was seen to manage, though its destination was forgotten", () => {
    isolation.close();
    isolation = createIsolation(SETTINGS, 4096);
    for (let index = 0; index < 200; index++) isolation.submit(pending("a"));
    while (sent.length > 0)
      for (const permit of sent.splice(0)) {
        nowMs += 1;
        finish(permit, "delivered");
      }
    pass(120_000);
    nowMs += 3_600_000;
    for (let index = 0; index < 200; index++) isolation.submit(pending("a"));
    expect(sent.length).toBeGreaterThan(32);
    expect(sent.length).toBeLessThan(64);
  });

  it("J6: does not blame a destination for the time that this process was blocked", () => {
    isolation.submit(pending("b"));
    const window = fillingWindow();
    for (let index = 0; index < 10; index++) isolation.submit(pending("a", { window }));
    nowMs += 900;
    finish(sent[1], "delivered");
    pass(100);
    expect([deferred.length, isolation.waiting]).toEqual([0, 6]);
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
    for (const permit of sent.splice(0)) finish(permit, "delivered");
    for (let index = 0; index < 6; index++) isolation.submit(pending("slow"));
    expect(sent).toHaveLength(6);
  });

  it("J3: leaves what waits for a destination that is alone where it is, unless it stalls in a full window", () => {
    const window = openWindow();
    for (let index = 0; index < 10; index++) isolation.submit(pending("a", { window }));
    pass(30_000);
    expect([deferred.length, isolation.waiting]).toEqual([0, 8]);
    window.isFull = true;
    window.records = 500;
    window.ownedBy = () => 500;
    pass(100);
    expect(deferred).toHaveLength(8);
  });

  it("I1, G3: defers what hangs in a full window of which its destination holds more than half, and no less", () => {
    const window = { ...openWindow(), isFull: true, records: 500, ownedBy: () => 250 };
    isolation.submit(pending("b"));
    for (let index = 0; index < 10; index++) isolation.submit(pending("a", { window }));
    pass(400);
    expect([deferred.length, isolation.waiting]).toEqual([0, 8]);
    window.ownedBy = () => 251;
    pass(20);
    expect(causes()).toEqual(Array(8).fill("window_full"));
  });

  it("G3: a window fills from three quarters on", () => {
    const turnsAway = (records: number) =>
      isolation.turnsAway("a", { ...openWindow(), records } as unknown as PartitionWindow);
    isolation.submit(pending("b"));
    isolation.submit(pending("a"));
    expect(turnsAway(376)).toBeNull();
    pass(1600);
    expect([turnsAway(375), turnsAway(376)]).toEqual([null, "concurrency_limit"]);
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
    pass(1500);
    expect(turnsAway(fillingWindow())).toBe("concurrency_limit");
    finish(sent[0], "timed_out");
    expect(turnsAway(fillingWindow())).toBeNull();
    expect(deferred).toEqual([]);
  });

  it("H3: has a place for a newcomer beside more that hang than the sender has connections for, once they were seen to hang", () => {
    const window = fillingWindow();
    for (let index = 0; index < 100; index++) isolation.submit(pending(`hang-${index}`, { window }));
    expect(sent).toHaveLength(56);
    isolation.submit(pending("new", { window }));
    pass(1560);
    expect(causes()).toEqual(Array(45).fill("concurrency_limit"));
    for (const permit of sent.splice(0)) finish(permit, "timed_out");
    for (let index = 0; index < 56; index++) isolation.submit(pending(`hang-${index}`, { window }));
    expect([sent.length, deferred.length]).toEqual([32, 45 + 24]);
    isolation.submit(pending("new", { window }));
    expect(sent.at(-1)?.request.destination.id).toBe("new");
  });

  it("G6, J4: sees of a healthy destination that it hangs now, though nothing waits for it", () => {
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
    expect([sent.length, deferred.length, isolation.waiting]).toEqual([2, 0, 0]);
    isolation.submit(pending("a"));
    expect(sent).toHaveLength(3);
  });

  it("counts URLs by the state of their breaker, and forgets those that are idle", () => {
    isolation.submit(pending("good"));
    finish(sent[0], "delivered");
    for (let index = 0; index < 3; index++) {
      isolation.submit(pending("bad"));
      finish(sent.at(-1), "failed");
    }
    expect(isolation.breakers()).toEqual({ closed: 1, open: 1, half_open: 0 });
    isolation.submit(pending("bad"));
    expect(causes()).toEqual(["breaker_open"]);
    pass(120_000);
    expect(isolation.breakers()).toEqual({ closed: 0, open: 1, half_open: 0 });
    pass(600_000);
    expect(isolation.breakers()).toEqual({ closed: 0, open: 0, half_open: 0 });
  });

  it("J2: trusts a destination again that was changed", () => {
    for (let index = 0; index < 3; index++) {
      isolation.submit(pending("bad"));
      finish(sent.at(-1), "failed");
    }
    isolation.submit(pending("bad", { revision: 2 }));
    expect([sent.length, deferred.length]).toEqual([4, 0]);
  });

  it("J2: has what waited for a destination that was changed judged again, once, before what comes later", () => {
    for (let index = 0; index < 5; index++) isolation.submit(pending("a"));
    isolation.submit(pending("a", { revision: 2, urls: ["https://new.example/"] }));
    expect([judgedAgain.length, isolation.waiting, deferred.length]).toEqual([3, 0, 0]);
    expect(sent.at(-1)?.lines.map(({ health }) => health.url)).toEqual(["https://new.example/"]);
    finish(sent[0], "delivered");
    expect(sent).toHaveLength(3);
  });

  it("has the room again of a permit that was given back", () => {
    for (let index = 0; index < 2; index++) isolation.submit(pending("a"));
    const [permit] = sent;
    if (permit === undefined) throw new Error("nothing was sent");
    isolation.cancel(permit);
    isolation.submit(pending("a"));
    expect(sent).toHaveLength(3);
  });

  it("W5: says till when the receiver asked for peace, and waits when that is near", () => {
    isolation.submit(pending("a"));
    const [permit] = sent;
    if (permit === undefined) throw new Error("nothing was sent");
    isolation.settled(permit, 0, "failed", 5000);
    isolation.ended(permit, 0);
    isolation.submit(pending("a"));
    expect(deferred).toMatchObject([{ parts: [{ cause: "retry_after", notBeforeMs: 1_005_000 }] }]);
    pass(4500);
    isolation.submit(pending("a"));
    expect(isolation.waiting).toBe(1);
    pass(600);
    expect([isolation.waiting, sent.length]).toEqual([0, 2]);
  });

  it("J5, H3: leaves room to a newcomer beside last attempts of more that hang than the sender has connections for", () => {
    for (let index = 0; index < 100; index++) {
      isolation.submit(pending(`hang-${index}`));
      finish(sent.at(-1), "timed_out");
    }
    sent = [];
    for (let index = 0; index < 100; index++) isolation.submitLast(pending(`hang-${index}`));
    expect(sent).toHaveLength(CONNECTIONS / 2);
    isolation.submit(pending("new"));
    expect(sent.at(-1)?.request.destination.id).toBe("new");
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

  it("J5: sends last attempts no faster than the destination's rate, and all of them", () => {
    let refused = 0;
    for (let index = 0; index < 30; index++) {
      if (!isolation.submitLast(pending("a", { rateLimitPerSecond: 1 }))) refused += 1;
    }
    expect([sent.length, refused, isolation.waiting]).toEqual([1, 19, 10]);
    pass(1000);
    expect(sent).toHaveLength(2);
    pass(9100);
    expect([sent.length, isolation.waiting, sent.every(({ isLast }) => isLast)]).toEqual([11, 0, true]);
    for (const permit of sent.splice(0)) finish(permit, "failed");
    expect(isolation.submitLast(pending("a", { rateLimitPerSecond: 1 }))).toBe(true);
  });

  it("J5: keeps last attempts that waited for the rate to the reserve, and has the others come again later", () => {
    isolation = createIsolation(SETTINGS, 4096);
    for (let index = 0; index < 200; index++) {
      expect(isolation.submitLast(pending("a", { rateLimitPerSecond: 100 }))).toBe(true);
    }
    pass(3000);
    expect([sent.length, deferred.length, isolation.waiting]).toEqual([32, 168, 0]);
    expect(causes()).toEqual(Array(168).fill("concurrency_limit"));
    for (const permit of sent.splice(0)) finish(permit, "failed");
    expect([isolation.submitLast(pending("a", { rateLimitPerSecond: 100 })), sent.length]).toEqual([true, 1]);
  });

  it("I5, J4: sees that one of a destination's URLs hangs though nothing waits for it", () => {
    const urls = ["https://well.example/", "https://hangs.example/"];
    const calledUrls = () => sent.at(-1)?.lines.map(({ health }) => health.url);
    isolation.submit(pending("a", { urls }));
    expect(calledUrls()).toEqual(urls);
    const [permit] = sent;
    if (permit === undefined) throw new Error("nothing was sent");
    isolation.settled(permit, 0, "delivered", null);
    isolation.ended(permit, 0);
    isolation.submit(pending("a", { urls }));
    expect(calledUrls()).toEqual(urls);
    pass(1600);
    isolation.submit(pending("a", { urls }));
    expect(calledUrls()).toEqual(urls.slice(0, 1));
    expect(isolation.leftOutTillMs(sent.at(-1) ?? permit)).toEqual([null]);
  });

  it("I2: knows how many of a destination's deliveries went away and have not come back", () => {
    isolation.wentAway("a");
    isolation.wentAway("a");
    isolation.cameBack("a");
    isolation.submit(pending("a", { isRetry: true }));
    expect([isolation.awayOf("a"), isolation.awayOf("b")]).toEqual([1, 0]);
  });
});
