import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DestinationRoom, type RoomRequest, type RoomSettings, type Surroundings } from "./destination-room.ts";
import { SharedRoom } from "./shared-room.ts";

const SETTINGS: RoomSettings = {
  limit: { first: 4, least: 1, enough: 64, most: 64 },
  breaker: { threshold: 5, firstOpenMs: 1000, longestOpenMs: 8000 },
};
const AMONG_OTHERS: Surroundings = { isAlone: false, isCrowding: false, isScarce: false };
const ALONE: Surroundings = { isAlone: true, isCrowding: false, isScarce: false };
const CROWDING: Surroundings = { isAlone: false, isCrowding: true, isScarce: false };
const AMONG_MANY: Surroundings = { isAlone: false, isCrowding: false, isScarce: true };

const one: RoomRequest = { requests: 1, returning: false };
const back: RoomRequest = { requests: 1, returning: true };

function roomIn(shared: SharedRoom): DestinationRoom<RoomRequest> {
  return new DestinationRoom(SETTINGS, shared);
}

function room(): DestinationRoom<RoomRequest> {
  return roomIn(new SharedRoom(1000));
}

/** A room whose every request took so long. */
function practised(holdMs: number, shared = new SharedRoom(1000)): DestinationRoom<RoomRequest> {
  const known = roomIn(shared);
  expect(known.admit(one, 0, () => AMONG_OTHERS)).toBe("go");
  known.settled("congested", { startedMs: 0, wasProbe: false }, holdMs);
  known.released(1, 0, holdMs);
  return known;
}

function fill(full: DestinationRoom<RoomRequest>, nowMs: number): void {
  while (full.admit(one, nowMs, () => ALONE) === "go");
  expect(full.waiting).toBe(1);
}

describe("room", () => {
  it("G1: is given up to the limit, then there is a wait, and what ends makes room for the next", () => {
    const four = room();
    const admissions = Array.from({ length: 6 }, () => four.admit(one, 0, () => AMONG_OTHERS));
    expect(admissions).toEqual(["go", "go", "go", "go", "wait", "wait"]);
    expect(four.next(1)).toBeNull();
    four.settled("refused", { startedMs: 0, wasProbe: false }, 1);
    four.released(1, 0, 1);
    expect(four.next(1)?.request).toBe(one);
  });

  it("that is given back unsent gives the rate back too, so that what is judged again costs once", () => {
    const limited = room();
    limited.setRate(1, 0);
    expect(limited.admit(one, 0, () => AMONG_OTHERS)).toBe("go");
    limited.cancelled(1, false);
    expect(limited.admit(one, 0, () => AMONG_OTHERS)).toBe("go");
    limited.takeReserve(1);
    limited.reserveCancelled(1);
    limited.released(1, 0, 0);
    expect(limited.inFlight).toBe(0);
    expect(limited.admit(one, 0, () => ALONE)).toBe("wait");
  });

  it("G1: is given to a delivery that is larger than the limit, alone", () => {
    const four = room();
    const five: RoomRequest = { requests: 5, returning: false };
    expect(four.admit(five, 0, () => AMONG_OTHERS)).toBe("go");
    expect(four.admit(five, 0, () => AMONG_OTHERS)).toBe("wait");
  });

  it("G2, I1: is waited for while the expected wait is under a second, and no longer", () => {
    const slow = practised(400);
    fill(slow, 1000);
    const more = Array.from({ length: 5 }, () => slow.admit(one, 1000, () => AMONG_OTHERS));
    expect(more).toEqual(["wait", "wait", "wait", "wait", "no_room"]);
  });

  it("G2, H4: is waited for by as many as are served in a second with what the shared room lets a slow one have", () => {
    const shared = new SharedRoom(1000);
    const slow = new DestinationRoom({ ...SETTINGS, limit: { first: 64, least: 1, enough: 64, most: 64 } }, shared);
    expect(slow.admit(one, 0, () => AMONG_OTHERS)).toBe("go");
    slow.settled("delivered", { startedMs: 0, wasProbe: false }, 400);
    slow.released(1, 0, 400);
    // Ten are left to all, half of them to it; each of its own takes from that.
    shared.changed(990, 0);
    const admissions = Array.from({ length: 20 }, () => slow.admit(one, 400, () => AMONG_OTHERS));
    const of = (admission: string) => admissions.filter((each) => each === admission).length;
    // Three and a half at once, 0.4 s each: the tenth would wait for more than a second.
    expect([of("go"), of("wait"), of("no_room")]).toEqual([3, 9, 8]);
  });

  it("G2, I1: is waited for by a destination that is alone, however slow", () => {
    const slow = practised(400);
    fill(slow, 1000);
    for (let index = 0; index < 500; index++) expect(slow.admit(one, 1000, () => ALONE)).toBe("wait");
    expect(slow.overdue(1900, () => ALONE)).toBeNull();
  });

  it("G2: is waited for, however long the queue, by one that is quick and was not congested", () => {
    const quick = room();
    expect(quick.admit(one, 0, () => AMONG_OTHERS)).toBe("go");
    quick.settled("delivered", { startedMs: 0, wasProbe: false }, 100);
    quick.released(1, 0, 100);
    fill(quick, 100);
    for (let index = 0; index < 5000; index++) expect(quick.admit(one, 100, () => CROWDING)).toBe("wait");
  });

  it("G2: is not waited for where nothing came back for a second that this process saw pass", () => {
    const hanging = room();
    fill(hanging, 0);
    hanging.passed(1000);
    expect(hanging.admit(one, 60_000, () => AMONG_OTHERS)).toBe("wait");
    hanging.passed(1);
    expect(hanging.admit(one, 60_001, () => AMONG_OTHERS)).toBe("no_room");
    expect(hanging.admit(one, 60_001, () => ALONE)).toBe("wait");
    expect(hanging.admit(one, 60_001, () => ({ ...ALONE, isCrowding: true }))).toBe("no_room");
  });

  it("G3: is waited for less in a full window that the destination holds most of", () => {
    const hanging = room();
    fill(hanging, 0);
    hanging.passed(201);
    expect(hanging.admit(one, 201, () => AMONG_OTHERS)).toBe("wait");
    expect(hanging.admit(one, 201, () => CROWDING)).toBe("window_full");
    const slow = practised(400);
    fill(slow, 1000);
    expect(slow.admit(one, 1000, () => CROWDING)).toBe("window_full");
  });

  it("G3: is waited for less in a window that grows full while others get through, by one that nothing comes back from", () => {
    const hanging = room();
    fill(hanging, 0);
    hanging.passed(199);
    expect(hanging.admit(one, 199, () => AMONG_MANY)).toBe("wait");
    hanging.passed(2);
    expect(hanging.admit(one, 201, () => AMONG_OTHERS)).toBe("wait");
    expect(hanging.admit(one, 201, () => AMONG_MANY)).toBe("window_full");
    const slow = practised(400);
    fill(slow, 1000);
    slow.passed(599);
    expect(slow.admit(one, 1599, () => AMONG_MANY)).toBe("wait");
    slow.passed(2);
    expect(slow.admit(one, 1601, () => AMONG_MANY)).toBe("window_full");
  });

  it("G3: turns away what need not wait to be put off, and nothing while the destination is alone or something comes back", () => {
    const hanging = room();
    expect(hanging.turnsAway(AMONG_MANY)).toBeNull();
    fill(hanging, 0);
    hanging.passed(201);
    const arounds = [AMONG_OTHERS, AMONG_MANY, CROWDING, ALONE, { ...ALONE, isScarce: true }];
    const answers = () => arounds.map((around) => hanging.turnsAway(around));
    expect(answers()).toEqual([null, "window_full", "window_full", null, null]);
    hanging.passed(800);
    expect(answers()).toEqual(["no_room", "no_room", "no_room", null, null]);
    hanging.released(1, 0, 1002);
    expect(answers()).toEqual([null, null, null, null, null]);
  });

  it("G4, I2: goes to fresh and returning deliveries in turn while both wait", () => {
    const busy = room();
    fill(busy, 0);
    for (let index = 0; index < 9; index++) busy.admit(one, 0, () => AMONG_OTHERS);
    for (let index = 0; index < 10; index++) busy.admit(back, 0, () => AMONG_OTHERS);
    const order: boolean[] = [];
    for (let nowMs = 1; order.length < 8; nowMs++) {
      busy.settled("refused", { startedMs: 0, wasProbe: false }, nowMs);
      busy.released(1, 0, nowMs);
      for (let next = busy.next(nowMs); next !== null; next = busy.next(nowMs)) order.push(next.request.returning);
    }
    const returned = order.slice(0, 8).filter((returning) => returning).length;
    expect(returned).toBe(4);
  });

  it("G5: what waited is put off when the breaker opens, all of it", () => {
    const failing = room();
    fill(failing, 0);
    failing.admit(back, 0, () => AMONG_OTHERS);
    for (let index = 0; index < 5; index++) failing.settled("failed", { startedMs: 0, wasProbe: false }, 10);
    expect(failing.breakerState).toBe("open");
    expect(failing.next(10)).toBeNull();
    expect(failing.overdue(10, () => ALONE)?.cause).toBe("breaker_open");
    expect(failing.overdue(10, () => ALONE)?.cause).toBe("breaker_open");
    expect(failing.overdue(10, () => ALONE)).toBeNull();
    expect(failing.admit(one, 11, () => ALONE)).toBe("breaker_open");
  });

  it("G6: is one delivery's at once, until the destination has proven itself, while many that have not are out", () => {
    const shared = new SharedRoom(64);
    shared.changed(8, 8);
    const unknown = roomIn(shared);
    expect([unknown.admit(one, 0, () => AMONG_OTHERS), unknown.admit(one, 0, () => AMONG_OTHERS)]).toEqual([
      "go",
      "wait",
    ]);
    expect(unknown.next(1)).toBeNull();
    unknown.settled("failed", { startedMs: 0, wasProbe: false }, 1);
    unknown.released(1, 0, 1);
    expect(shared.unproven).toBe(8);
    expect(unknown.next(1)?.request).toBe(one);
    expect([unknown.admit(one, 1, () => AMONG_OTHERS), unknown.admit(one, 1, () => AMONG_OTHERS)]).toEqual([
      "go",
      "go",
    ]);
    expect([shared.out, shared.unproven]).toEqual([11, 8]);
  });

  it("G6: is one delivery's at once again when requests hang for a while that this process saw pass", () => {
    const shared = new SharedRoom(64);
    const hanging = roomIn(shared);
    expect(hanging.admit(one, 0, () => AMONG_OTHERS)).toBe("go");
    hanging.settled("delivered", { startedMs: 0, wasProbe: false }, 1);
    for (let index = 0; index < 2; index++) expect(hanging.admit(one, 1, () => AMONG_OTHERS)).toBe("go");
    shared.changed(8, 8);
    hanging.released(1, 0, 1);
    hanging.passed(201);
    expect(shared.unproven).toBe(10);
    expect(hanging.admit(one, 202, () => AMONG_OTHERS)).toBe("wait");
    hanging.settled("delivered", { startedMs: 1, wasProbe: false }, 203);
    expect(shared.unproven).toBe(8);
    expect(hanging.next(203)?.request).toBe(one);
  });

  it("G6: is waited for, where there is none for a newcomer, for a second and not in vain", () => {
    const shared = new SharedRoom(64);
    shared.changed(56, 56);
    const unknown = roomIn(shared);
    expect(unknown.admit(one, 0, () => AMONG_OTHERS)).toBe("wait");
    expect(unknown.admit(one, 0, () => AMONG_OTHERS)).toBe("wait");
    unknown.passed(1000);
    expect(unknown.overdue(1000, () => AMONG_OTHERS)).toBeNull();
    expect(unknown.overdue(1000, () => AMONG_MANY)?.cause).toBe("window_full");
    unknown.passed(1);
    expect(unknown.overdue(1001, () => ALONE)).toBeNull();
    expect(unknown.overdue(1001, () => AMONG_OTHERS)?.cause).toBe("no_room");
    expect(unknown.admit(one, 1001, () => AMONG_OTHERS)).toBe("no_room");
    shared.changed(-1, -1);
    expect(unknown.admit(one, 1002, () => AMONG_OTHERS)).toBe("go");
  });

  it("G6: is not waited for by one that hung before, unless it is alone; and it is a newcomer again when it was changed", () => {
    const shared = new SharedRoom(64);
    const hung = practised(400, shared);
    shared.changed(32, 32);
    expect(hung.admit(one, 500, () => AMONG_OTHERS)).toBe("no_room");
    expect(hung.admit(one, 500, () => ALONE)).toBe("wait");
    hung.forgive();
    expect(hung.next(500)?.request).toBe(one);
  });

  it("W5: is shut till the moment that a receiver asked for: put off when that is far, waited for when it is near", () => {
    const shut = room();
    shut.shutUntil(5000);
    expect(shut.admit(one, 0, () => ALONE)).toBe("retry_after");
    expect(shut.admit(one, 4500, () => ALONE)).toBe("wait");
    expect(shut.next(4999)).toBeNull();
    expect(shut.overdue(4999, () => AMONG_OTHERS)).toBeNull();
    expect(shut.next(5000)?.request).toBe(one);
  });

  it("goes to a probe when the breaker's time has passed, and the destination is trusted again when that succeeds", () => {
    const failing = room();
    for (let index = 0; index < 5; index++) failing.settled("failed", { startedMs: 0, wasProbe: false }, 0);
    expect(failing.admit(one, 1000, () => AMONG_OTHERS)).toBe("probe");
    expect(failing.admit(one, 1000, () => AMONG_OTHERS)).toBe("breaker_open");
    failing.settled("delivered", { startedMs: 1000, wasProbe: true }, 1010);
    expect(failing.breakerState).toBe("closed");
    expect(failing.admit(one, 1010, () => AMONG_OTHERS)).toBe("go");
  });

  it("is there again at once for a destination that was changed", () => {
    const mended = room();
    for (let index = 0; index < 5; index++) mended.settled("failed", { startedMs: 0, wasProbe: false }, 0);
    mended.shutUntil(60_000);
    expect(mended.admit(one, 1, () => AMONG_OTHERS)).toBe("retry_after");
    mended.forgive();
    expect(mended.admit(one, 1, () => AMONG_OTHERS)).toBe("go");
    expect(mended.isIdle(1)).toBe(false);
  });

  it("follows the destination's rate, and its changes", () => {
    const rated = room();
    rated.setRate(10, 0);
    expect(rated.admit(one, 0, () => AMONG_OTHERS)).toBe("go");
    expect(rated.admit(one, 0, () => AMONG_OTHERS)).toBe("wait");
    expect(rated.next(99)).toBeNull();
    expect(rated.next(100)).not.toBeNull();
    rated.setRate(null, 100);
    expect(rated.admit(one, 100, () => AMONG_OTHERS)).toBe("go");
  });
});

describe("whatever happens", () => {
  const step = fc.record({
    what: fc.constantFrom("arrive", "arrive", "arrive", "end", "end", "wait", "serve", "shut", "revoke"),
    requests: fc.integer({ min: 1, max: 5 }),
    returning: fc.boolean(),
    outcome: fc.constantFrom("delivered", "refused", "failed", "congested" as const),
    passedMs: fc.nat(900),
    around: fc.constantFrom(AMONG_OTHERS, ALONE, CROWDING),
  });

  it("J1: each delivery is sent, put off, or waits: once; and no more is out than the limit allows", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const any = room();
        const out: { requests: number; startedMs: number; wasProbe: boolean }[] = [];
        const counts = { arrived: 0, sent: 0, putOff: 0 };
        let nowMs = 0;
        const send = (request: RoomRequest, wasProbe: boolean): void => {
          counts.sent += 1;
          out.push({ requests: request.requests, startedMs: nowMs, wasProbe });
        };
        for (const { what, requests, returning, outcome, passedMs, around } of steps) {
          if (what === "arrive") {
            const request = { requests, returning };
            counts.arrived += 1;
            const admission = any.admit(request, nowMs, () => around);
            if (admission === "go" || admission === "probe") send(request, admission === "probe");
            else if (admission !== "wait") counts.putOff += 1;
          }
          if (what === "wait") {
            nowMs += passedMs;
            any.passed(passedMs);
          }
          if (what === "shut") any.shutUntil(nowMs + passedMs * 2);
          const ended = what === "end" || what === "revoke" ? out.shift() : undefined;
          if (ended && what === "end") {
            any.settled(outcome as "delivered", ended, nowMs);
            any.released(ended.requests, ended.startedMs, nowMs);
          } else if (ended) {
            any.cancelled(ended.requests, ended.wasProbe);
          }
          if (what === "serve") {
            for (let next = any.next(nowMs); next !== null; next = any.next(nowMs)) {
              send(next.request, next.admission === "probe");
            }
            for (let late = any.overdue(nowMs, () => around); late !== null; late = any.overdue(nowMs, () => around)) {
              counts.putOff += 1;
            }
          }
          expect(any.inFlight).toBe(out.reduce((sum, each) => sum + each.requests, 0));
          expect(counts.sent + counts.putOff + any.waiting).toBe(counts.arrived);
          expect(any.inFlight).toBeLessThanOrEqual(SETTINGS.limit.most);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("what waits is served or put off in the end, when every request ends", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 100 }), fc.boolean(), (arrivals, fails) => {
        const any = room();
        const out: { startedMs: number; wasProbe: boolean }[] = [];
        let nowMs = 0;
        for (const returning of arrivals) {
          const admission = any.admit({ requests: 1, returning }, nowMs, () => ALONE);
          if (admission === "go" || admission === "probe")
            out.push({ startedMs: nowMs, wasProbe: admission === "probe" });
        }
        for (let turn = 0; turn < 1000 && (any.waiting > 0 || out.length > 0); turn++) {
          nowMs += 50;
          const ended = out.shift();
          if (ended) {
            any.settled(fails ? "failed" : "delivered", ended, nowMs);
            any.released(1, ended.startedMs, nowMs);
          }
          for (let next = any.next(nowMs); next !== null; next = any.next(nowMs)) {
            out.push({ startedMs: nowMs, wasProbe: next.admission === "probe" });
          }
          while (any.overdue(nowMs, () => ALONE) !== null);
        }
        expect([any.waiting, any.inFlight]).toEqual([0, 0]);
      }),
    );
  });
});
