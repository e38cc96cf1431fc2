/**
 * The room that the bodies of all requests share, so that those that stop just before their end keep nobody else's out.
 *
 * Owns the counts of bytes that are held, and the bodies that are still coming.
 * M1  What is held is never more than `maxBytes`. Strangers, whose key is in no header, hold at most three quarters of that, and from
 *     one address a quarter. What bodies hold beyond their first 16 KB is at most seven eighths, of strangers half: so a small
 *     body, and one of a sender that is known, finds room beside any number of others.
 *     A source holds at most five times what it leaves free: five sixths of the room when it is alone, five elevenths beside
 *     another that sends as much. So the next one finds room, whatever the others send.
 * M2  Where one of these bounds is reached, the slowest body that it counts and that is still coming is cut off, unless it came a
 *     moment ago or faster than the one that needs the room. When there is none, nothing is taken.
 * M3  A body of which less than a kilobyte came in ten seconds is cut off.
 * M4  The room is full from the first taking that it refuses for want of bytes to anybody, or to the only one that holds any, until a quarter of it is free again: what
 *     is refused again and again while a few bytes come and go is one time of being full.
 */

export interface BodySender {
  /** The id of the source whose key is in the header or the address; null of a stranger. */
  readonly source: string | null;
  /** Where it sends from. */
  readonly address: string;
}

/** What one body holds. */
export interface BodyPlace {
  /** False when so much more is not to be had; nothing is taken then. */
  take(bytes: number): boolean;
  /** All of it came: it is cut off no more. */
  complete(): void;
  /** Gives back what it holds; it may take more again. */
  giveBack(): void;
}

export interface BodyRoom {
  /** A body that begins to come; `cutOff` ends it and has to give back what it holds. */
  open(sender: BodySender, cutOff: () => void): BodyPlace;
  /** Cuts off what comes too slowly (M3); to be called about once a second. */
  sweep(): void;
  readonly heldBytes: number;
  /** For how many ms the room has been full (M4); 0 while it is not. */
  fullForMs(): number;
}

export interface BodyRoomOptions {
  readonly maxBytes: number;
  /** Ms, never going back. */
  readonly monotonicMs: () => number;
}

const SMALL_BYTES = 16 * 1024;
/** Shares of `maxBytes`. */
const LARGE = 7 / 8;
const STRANGERS = 3 / 4;
const STRANGERS_LARGE = 1 / 2;
const ONE_ADDRESS = 1 / 4;
const TIMES_FREE = 5;
const FREE_AGAIN = 3 / 4;
/** Nothing can be said of how fast a younger body comes. */
const JUDGED_AFTER_MS = 1_000;
const WINDOW_MS = 10_000;
const LEAST_WINDOW_BYTES = 1_024;

/** Whose bodies reach one of the bounds together. */
type Crowd = "all" | "strangers" | "address" | "source";

interface Coming {
  readonly sender: BodySender;
  readonly sinceMs: number;
  held: number;
  seen: number;
  windowSinceMs: number;
  windowBytes: number;
  readonly cutOff: () => void;
}

export function createBodyRoom({ maxBytes, monotonicMs }: BodyRoomOptions): BodyRoom {
  const coming = new Set<Coming>();
  const strangersAt = new Map<string, number>();
  const heldOf = new Map<string, number>();
  const held = { all: 0, large: 0, strangers: 0, strangersLarge: 0 };
  let fullSinceMs: number | null = null;

  const change = (body: Coming, bytes: number) => {
    const large = largePart(body.held + bytes) - largePart(body.held);
    body.held += bytes;
    held.all += bytes;
    held.large += large;
    const { source, address } = body.sender;
    if (source !== null) return add(heldOf, source, bytes);
    held.strangers += bytes;
    held.strangersLarge += large;
    add(strangersAt, address, bytes);
  };

  /** The bodies of which one must go before `body` may hold so much more; null when it may (M1). */
  const crowd = (body: Coming, bytes: number): Crowd | null => {
    const large = largePart(body.held + bytes) - largePart(body.held);
    if (held.all + bytes > maxBytes || (large > 0 && held.large + large > maxBytes * LARGE)) return "all";
    const { source, address } = body.sender;
    if (source !== null) {
      return (heldOf.get(source) ?? 0) + bytes > (maxBytes - held.all - bytes) * TIMES_FREE ? "source" : null;
    }
    if (held.strangers + bytes > maxBytes * STRANGERS) return "strangers";
    if (large > 0 && held.strangersLarge + large > maxBytes * STRANGERS_LARGE) return "strangers";
    return (strangersAt.get(address) ?? 0) + bytes > maxBytes * ONE_ADDRESS ? "address" : null;
  };

  const bytesPerMs = (body: Coming, nowMs: number) => body.seen / Math.max(1, nowMs - body.sinceMs);

  /** M2. */
  const slowest = (of: Crowd, than: Coming): Coming | null => {
    const nowMs = monotonicMs();
    const isYoung = nowMs - than.sinceMs < JUDGED_AFTER_MS;
    let least = isYoung ? Number.POSITIVE_INFINITY : bytesPerMs(than, nowMs);
    let found: Coming | null = null;
    for (const body of coming) {
      if (body === than || body.held === 0 || nowMs - body.sinceMs < JUDGED_AFTER_MS) continue;
      if (of !== "all" && body.sender.source !== than.sender.source) continue;
      if (of === "address" && body.sender.address !== than.sender.address) continue;
      const rate = bytesPerMs(body, nowMs);
      if (rate >= least) continue;
      least = rate;
      found = body;
    }
    return found;
  };

  /** Cuts off bodies until there is room; false when there is none to be made. */
  const makeRoom = (body: Coming, bytes: number): boolean => {
    for (let of = crowd(body, bytes); of !== null; of = crowd(body, bytes)) {
      const victim = slowest(of, body);
      if (victim === null) {
        if (of === "all" || (of === "source" && held.all === heldOf.get(body.sender.source ?? ""))) {
          fullSinceMs ??= monotonicMs();
        }
        return false;
      }
      coming.delete(victim);
      victim.cutOff();
    }
    return true;
  };

  return {
    open: (sender, cutOff) => {
      const nowMs = monotonicMs();
      const body: Coming = { sender, sinceMs: nowMs, held: 0, seen: 0, windowSinceMs: nowMs, windowBytes: 0, cutOff };
      coming.add(body);
      return {
        take: (bytes) => {
          body.seen += bytes;
          body.windowBytes += bytes;
          if (!makeRoom(body, bytes)) return false;
          change(body, bytes);
          return true;
        },
        complete: () => {
          coming.delete(body);
        },
        giveBack: () => {
          change(body, -body.held);
          if (held.all <= maxBytes * FREE_AGAIN) fullSinceMs = null;
        },
      };
    },
    sweep: () => {
      const nowMs = monotonicMs();
      for (const body of coming) {
        if (nowMs - body.windowSinceMs < WINDOW_MS) continue;
        if (body.windowBytes < LEAST_WINDOW_BYTES) {
          coming.delete(body);
          body.cutOff();
        }
        body.windowSinceMs = nowMs;
        body.windowBytes = 0;
      }
    },
    get heldBytes() {
      return held.all;
    },
    fullForMs: () => (fullSinceMs === null ? 0 : monotonicMs() - fullSinceMs),
  };
}

function add(to: Map<string, number>, name: string, bytes: number): void {
  const sum = (to.get(name) ?? 0) + bytes;
  if (sum > 0) to.set(name, sum);
  else to.delete(name);
}

/** What a body of so many bytes holds beyond what a small one does. */
function largePart(bytes: number): number {
  return Math.max(0, bytes - SMALL_BYTES);
}
