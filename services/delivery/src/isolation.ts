/**
 * The rooms of all destinations in this process (rules I1 to I4): who is sent now, who waits, who is put off.
 *
 * Owns: a room for each destination that was about lately, a timer that forgets, and one that runs while something waits.
 * J1  Every delivery that is submitted is sent or put off exactly once, unless its partition was given up meanwhile.
 * J2  A room is forgotten when it was idle for `IDLE_MS`, and with what stands against its destination when nobody asked for
 *     it for `FORGET_MS`, so the memory follows the destinations in use (I4). A changed destination starts anew.
 * J3  A destination counts as alone when no other was about for `ALONE_MS`.
 * J4  While a window grows full, its destinations with requests out are watched by the tick, whether anything waits for their
 *     room or not: deliveries of the same users stand in their lanes behind what is out. So is who is sent while many requests are
 *     out in all, so that it is seen who hangs.
 * J5  Last attempts (I3) go whatever the breaker says, within `RESERVE_REQUESTS` of a destination and what the room that all
 *     share has for a first one of it: where many destinations hang, their windows end together too.
 * J6  A destination is not blamed for the time that this process was blocked, as far as a tick ran that could see it.
 */
import { BREAKER_STATES, type BreakerState } from "@posthaste/core/breaker";
import {
  DestinationRoom,
  type NoRoomCause,
  type RoomOutcome,
  type RoomSettings,
  type Surroundings,
} from "@posthaste/core/destination-room";
import { SharedRoom } from "@posthaste/core/shared-room";
import type { PartitionWindow } from "@posthaste/kafka/window";
import type { Pending } from "./pending.ts";

const TICK_MS = 20;
/** What a tick counts for at most: in the rest of a late one this process was blocked and saw no answers (J6). */
const LONGEST_TICK_MS = 50;
const SWEEP_MS = 10_000;
const IDLE_MS = 60_000;
/** Longer than the quick retry tiers, from which a failing destination's deliveries keep coming back. */
const FORGET_MS = 600_000;
const ALONE_MS = 300_000;
const RESERVE_REQUESTS = 32;
/** When nothing at all came back for longer, the fault may be this process's or its network's. */
const GETTING_THROUGH_MS = 200;

/** What was granted with a delivery's turn; given back by `settled` and `released`. */
export interface Turn {
  readonly pending: Pending;
  /** The breaker waits for its outcome. */
  readonly wasProbe: boolean;
  /** It goes within the reserve, at the end of its window. */
  readonly isLast: boolean;
  /** On the monotonic clock. */
  readonly startedMs: number;
  /** What this process had been blocked for in all when it began; whole, so that it costs no allocation. */
  readonly blockedMs: number;
}

export interface IsolationOptions {
  readonly settings: RoomSettings;
  /** What the sender has at the most. */
  readonly connections: number;
  readonly monotonicMs: () => number;
  /** A delivery's turn has come: `settled` and `released` must follow. */
  readonly send: (turn: Turn) => void;
  /** A delivery must not wait here. `notBeforeMs`: on the monotonic clock, for `retry_after`. */
  readonly putOff: (pending: Pending, cause: NoRoomCause, notBeforeMs: number | null) => void;
}

interface Entry {
  readonly room: DestinationRoom<Pending>;
  usedMs: number;
  /** Of the destination as it was seen last. */
  revision: number;
  reserved: number;
  /** Deliveries of it that this process saw go to retry topics and not come back (I2). */
  away: number;
}

export class Isolation {
  readonly #options: IsolationOptions;
  readonly #shared: SharedRoom;
  readonly #entries = new Map<string, Entry>();
  /** Entries with deliveries that wait for room, and those that J4 says. */
  readonly #watched = new Set<Entry>();
  #tick: NodeJS.Timeout | undefined;
  readonly #sweep: NodeJS.Timeout;
  readonly #aroundOf = ({ task, destination }: Pending) => this.#around(task.window, destination.id);
  #tickedMs = 0;
  #blockedMs = 0;
  #lastId = "";
  #releasedMs = Number.NEGATIVE_INFINITY;
  #lastOtherMs = Number.NEGATIVE_INFINITY;

  constructor(options: IsolationOptions) {
    this.#options = options;
    this.#shared = new SharedRoom(options.connections);
    this.#sweep = setInterval(() => this.#forgetIdle(), SWEEP_MS);
  }

  /** Sends the delivery, now or when there is room, or puts it off. */
  submit(pending: Pending): void {
    const nowMs = this.#options.monotonicMs();
    const { destination } = pending;
    const entry = this.#entry(destination.id, nowMs);
    if (entry.revision < destination.revision) {
      if (entry.revision > 0) entry.room.forgive();
      entry.revision = destination.revision;
    }
    entry.room.setRate(destination.rateLimitPerSecond, nowMs);
    const admission = entry.room.admit(pending, nowMs, this.#aroundOf);
    if (admission === "wait" || this.#shared.isBusy) this.#watch(entry);
    if (admission === "wait") return;
    if (admission === "go" || admission === "probe") this.#send(pending, admission === "probe", nowMs);
    else this.#options.putOff(pending, admission, this.#notBefore(entry, admission));
  }

  /**
   * Why a delivery of the destination that arrives in this window need not take its turn in its lane, but is to be put off;
   * null when it is to take it. Else a window would fill with what stands behind requests that hang.
   */
  turnsAway(destinationId: string, window: PartitionWindow): NoRoomCause | null {
    if (!isFilling(window)) return null;
    const entry = this.#entries.get(destinationId);
    if (entry === undefined || entry.room.inFlight === 0) return null;
    this.#watch(entry);
    if (!entry.room.isQuiet) return null;
    return entry.room.turnsAway(this.#around(window, destinationId));
  }

  /** Sends a last attempt at once, unless the reserve is used up (J5). */
  submitLast(pending: Pending): boolean {
    const nowMs = this.#options.monotonicMs();
    const entry = this.#entry(pending.destination.id, nowMs);
    if (entry.reserved > 0 && entry.reserved + pending.requests > RESERVE_REQUESTS) return false;
    if (!entry.room.hasReserve(pending.requests)) return false;
    entry.reserved += pending.requests;
    entry.room.takeReserve(pending.requests);
    this.#options.send({
      pending,
      wasProbe: false,
      isLast: true,
      startedMs: nowMs,
      blockedMs: this.#blockedTill(nowMs),
    });
    return true;
  }

  /** A turn is given back: nothing was sent. */
  cancel({ pending, wasProbe, isLast }: Turn): void {
    const entry = this.#entry(pending.destination.id, this.#options.monotonicMs());
    if (isLast) {
      entry.reserved -= pending.requests;
      entry.room.reserveCancelled(pending.requests);
    } else entry.room.cancelled(pending.requests, wasProbe);
  }

  /** The outcome of a turn is known. `shutForMs`: how long the receiver asked for peace. */
  settled({ pending, wasProbe, startedMs }: Turn, outcome: RoomOutcome, shutForMs: number | null): void {
    const nowMs = this.#options.monotonicMs();
    const entry = this.#entry(pending.destination.id, nowMs);
    entry.room.settled(outcome, { startedMs, wasProbe }, nowMs);
    if (shutForMs !== null) entry.room.shutUntil(nowMs + shutForMs);
    if (entry.room.waiting === 0) return;
    // What only waits too long is seen by the next tick; a breaker that opened or a gate that shut turns all away at once.
    const isWell = outcome === "delivered" || outcome === "refused";
    if (isWell && shutForMs === null) this.#sendWaiting(entry, nowMs);
    else this.#serve(entry, nowMs);
  }

  /** The requests of a turn have all ended. */
  released({ pending, isLast, startedMs, blockedMs }: Turn): void {
    const nowMs = this.#options.monotonicMs();
    const entry = this.#entry(pending.destination.id, nowMs);
    if (isLast) entry.reserved -= pending.requests;
    entry.room.released(pending.requests, startedMs, nowMs, this.#blockedTill(nowMs) - blockedMs);
    this.#releasedMs = nowMs;
    if (entry.room.waiting > 0) this.#sendWaiting(entry, nowMs);
  }

  /** A delivery of the destination went to a retry topic. */
  wentAway(destinationId: string): void {
    this.#entry(destinationId, this.#options.monotonicMs()).away += 1;
  }

  /** A delivery of the destination came back from a retry topic, whatever becomes of it now. */
  cameBack(destinationId: string): void {
    const entry = this.#entries.get(destinationId);
    if (entry !== undefined && entry.away > 0) entry.away -= 1;
  }

  /** Deliveries of the destination in retry topics, as far as this process knows. */
  awayOf(destinationId: string): number {
    return this.#entries.get(destinationId)?.away ?? 0;
  }

  get waiting(): number {
    let waiting = 0;
    for (const { room } of this.#watched) waiting += room.waiting;
    return waiting;
  }

  /** Destinations by the state of their breaker. */
  breakers(): Record<BreakerState, number> {
    const counts = Object.fromEntries(BREAKER_STATES.map((state) => [state, 0])) as Record<BreakerState, number>;
    for (const { room } of this.#entries.values()) counts[room.breakerState] += 1;
    return counts;
  }

  /** Nothing that waits is sent any more. */
  close(): void {
    clearInterval(this.#tick);
    clearInterval(this.#sweep);
    this.#watched.clear();
  }

  #entry(destinationId: string, nowMs: number): Entry {
    if (destinationId !== this.#lastId) {
      if (this.#lastId !== "") this.#lastOtherMs = nowMs;
      this.#lastId = destinationId;
    }
    let entry = this.#entries.get(destinationId);
    if (entry === undefined) {
      const room = new DestinationRoom<Pending>(this.#options.settings, this.#shared);
      entry = { room, usedMs: nowMs, revision: 0, reserved: 0, away: 0 };
      this.#entries.set(destinationId, entry);
    }
    entry.usedMs = nowMs;
    return entry;
  }

  #around(window: PartitionWindow, destinationId: string): Surroundings {
    const nowMs = this.#options.monotonicMs();
    return {
      isAlone: nowMs - this.#lastOtherMs >= ALONE_MS,
      isCrowding: window.isFull && window.heldBy(destinationId) * 2 > window.records,
      isScarce: isFilling(window) && nowMs - this.#releasedMs <= GETTING_THROUGH_MS,
    };
  }

  #send(pending: Pending, wasProbe: boolean, startedMs: number): void {
    this.#options.send({ pending, wasProbe, isLast: false, startedMs, blockedMs: this.#blockedTill(startedMs) });
  }

  /** Ms, whole, for which this process was blocked up to now; with what the next tick will find. */
  #blockedTill(nowMs: number): number {
    if (this.#tick === undefined) return this.#blockedMs;
    return this.#blockedMs + Math.max(0, Math.floor(nowMs - this.#tickedMs - LONGEST_TICK_MS));
  }

  #watch(entry: Entry): void {
    this.#watched.add(entry);
    if (this.#tick !== undefined) return;
    this.#tickedMs = this.#options.monotonicMs();
    this.#tick = setInterval(() => this.#serveWatched(), TICK_MS);
  }

  #serveWatched(): void {
    const nowMs = this.#options.monotonicMs();
    const passedMs = Math.min(nowMs - this.#tickedMs, LONGEST_TICK_MS);
    this.#blockedMs = this.#blockedTill(nowMs);
    this.#tickedMs = nowMs;
    if (this.#watched.size === 0) {
      clearInterval(this.#tick);
      this.#tick = undefined;
    }
    for (const entry of this.#watched) {
      entry.room.passed(passedMs);
      this.#serve(entry, nowMs);
      if (entry.room.isEmpty) this.#watched.delete(entry);
    }
  }

  /** Sends what has room now and puts off what must not wait any longer. */
  #serve(entry: Entry, nowMs: number): void {
    const { room } = entry;
    this.#sendWaiting(entry, nowMs);
    for (let late = room.overdue(nowMs, this.#aroundOf); late !== null; late = room.overdue(nowMs, this.#aroundOf)) {
      this.#options.putOff(late.request, late.cause, this.#notBefore(entry, late.cause));
    }
  }

  /** Sends what has room now. */
  #sendWaiting(entry: Entry, nowMs: number): void {
    const { room } = entry;
    for (let turn = room.next(nowMs); turn !== null; turn = room.next(nowMs)) {
      const wasProbe = turn.admission === "probe";
      if (turn.request.task.window.isRevoked) room.cancelled(turn.request.requests, wasProbe);
      else this.#send(turn.request, wasProbe, nowMs);
    }
  }

  #notBefore({ room }: Entry, cause: NoRoomCause): number | null {
    return cause === "retry_after" ? room.shutUntilMs : null;
  }

  #forgetIdle(): void {
    const nowMs = this.#options.monotonicMs();
    for (const [id, entry] of this.#entries) {
      const unusedMs = nowMs - entry.usedMs;
      const isIdle = unusedMs >= IDLE_MS && entry.away === 0 && entry.room.isIdle(nowMs);
      if (isIdle || (unusedMs >= FORGET_MS && entry.room.isEmpty)) this.#entries.delete(id);
    }
  }
}

/** Before it is full, so that what others need is never taken. */
function isFilling(window: PartitionWindow): boolean {
  return window.records * 2 > window.maxRecords;
}
