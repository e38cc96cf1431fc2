/**
 * The budget of bytes that the bodies of all requests share, so that bodies that stop just before their end keep nobody
 * else's out.
 *
 * Owns the counts of the bytes that are held, and the bodies that are still coming.
 * BB1  What is held is never more than `maxBytes`. Strangers, whose key is in no header, hold at most three quarters of
 *      that, and from one address a quarter. What bodies hold beyond their first 16 KB is at most seven eighths, of
 *      strangers half: so a small body, and one of a sender that is known, fits beside any number of others. A source
 *      holds at most five times what it leaves free: five sixths of the budget when it is alone, five elevenths beside
 *      another source that sends as much. So the next source's body fits, whatever the others send.
 * BB2  Where one of these bounds is reached, the slowest body that the bound counts and that is still coming is cut
 *      off, unless it began less than a second ago or comes faster than the body that needs the bytes. When there is
 *      none, nothing is taken.
 * BB3  A body of which less than a kilobyte came in ten seconds is cut off.
 * BB4  The budget is full from the first taking that it refuses to any sender, or to the only source that holds
 *      anything, until a quarter of it is free again: refusals that go on while a few bytes come and go are one time of
 *      being full.
 */

export interface BodySender {
  /** The id of the source whose key is in the header or the address; null of a stranger. */
  readonly source: string | null;
  /** Where the body is sent from. */
  readonly address: string;
}

/** What one body holds of the budget. */
export interface BodyShare {
  /** False when so many more bytes are not to be had; nothing is taken then. */
  take(bytes: number): boolean;
  /** All of the body came: it is cut off no more. */
  complete(): void;
  /** Gives back what the body holds; it may take more again. */
  giveBack(): void;
}

export interface BodyBudget {
  /** A body begins to come; `cutOff` ends it and has to give back what it holds. */
  open(sender: BodySender, cutOff: () => void): BodyShare;
  /** Cuts off what comes too slowly (BB3); to be called about once a second. */
  sweep(): void;
  readonly heldBytes: number;
  /** For how many ms the budget has been full (BB4); 0 while it is not. */
  fullForMs(): number;
}

export interface BodyBudgetOptions {
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

export function createBodyBudget(options: BodyBudgetOptions): BodyBudget {
  return new SharedBodyBudget(options);
}

class SharedBodyBudget implements BodyBudget {
  readonly maxBytes: number;
  readonly monotonicMs: () => number;
  /** The bodies that may be cut off. */
  readonly #coming = new Set<Body>();
  readonly #strangersAt = new Map<string, number>();
  readonly #heldBy = new Map<string, number>();
  readonly #held = { all: 0, large: 0, strangers: 0, strangersLarge: 0 };
  #fullSinceMs: number | null = null;

  constructor({ maxBytes, monotonicMs }: BodyBudgetOptions) {
    this.maxBytes = maxBytes;
    this.monotonicMs = monotonicMs;
  }

  get heldBytes(): number {
    return this.#held.all;
  }

  fullForMs(): number {
    return this.#fullSinceMs === null ? 0 : this.monotonicMs() - this.#fullSinceMs;
  }

  open(sender: BodySender, cutOff: () => void): BodyShare {
    const body = new Body(this, sender, cutOff);
    this.#coming.add(body);
    return body;
  }

  sweep(): void {
    const nowMs = this.monotonicMs();
    for (const body of this.#coming) {
      if (nowMs - body.windowSinceMs < WINDOW_MS) continue;
      if (body.windowBytes < LEAST_WINDOW_BYTES) {
        this.#coming.delete(body);
        body.cutOff();
      }
      body.windowSinceMs = nowMs;
      body.windowBytes = 0;
    }
  }

  /** Cuts off bodies until so many bytes are free for this one; false when too few can be freed (BB2). */
  makeFree(body: Body, bytes: number): boolean {
    for (let of = this.#crowd(body, bytes); of !== null; of = this.#crowd(body, bytes)) {
      const victim = this.#slowest(of, body);
      if (victim === null) {
        const isAlone = of === "source" && this.#held.all === this.#heldBy.get(body.sender.source ?? "");
        if (of === "all" || isAlone) this.#fullSinceMs ??= this.monotonicMs();
        return false;
      }
      this.#coming.delete(victim);
      victim.cutOff();
    }
    return true;
  }

  /** Counts so many bytes more for a body, fewer with a number below 0. */
  change(body: Body, bytes: number): void {
    const held = this.#held;
    const large = largePart(body.held + bytes) - largePart(body.held);
    body.held += bytes;
    held.all += bytes;
    held.large += large;
    if (bytes <= 0 && held.all <= this.maxBytes * FREE_AGAIN) this.#fullSinceMs = null;
    const { source, address } = body.sender;
    if (source !== null) {
      add(this.#heldBy, source, bytes);
      return;
    }
    held.strangers += bytes;
    held.strangersLarge += large;
    add(this.#strangersAt, address, bytes);
  }

  complete(body: Body): void {
    this.#coming.delete(body);
  }

  /** The bodies of which one must go before this one may hold so many bytes more; null when it may (BB1). */
  #crowd(body: Body, bytes: number): Crowd | null {
    const { maxBytes } = this;
    const held = this.#held;
    const large = largePart(body.held + bytes) - largePart(body.held);
    if (held.all + bytes > maxBytes || (large > 0 && held.large + large > maxBytes * LARGE)) return "all";
    const { source, address } = body.sender;
    if (source !== null) {
      const most = (maxBytes - held.all - bytes) * TIMES_FREE;
      return (this.#heldBy.get(source) ?? 0) + bytes > most ? "source" : null;
    }
    if (held.strangers + bytes > maxBytes * STRANGERS) return "strangers";
    if (large > 0 && held.strangersLarge + large > maxBytes * STRANGERS_LARGE) return "strangers";
    return (this.#strangersAt.get(address) ?? 0) + bytes > maxBytes * ONE_ADDRESS ? "address" : null;
  }

  /** The body that is to be cut off for another (BB2); null when there is none. */
  #slowest(of: Crowd, than: Body): Body | null {
    const nowMs = this.monotonicMs();
    let least = than.isYoung(nowMs) ? Number.POSITIVE_INFINITY : than.bytesPerMs(nowMs);
    let found: Body | null = null;
    for (const body of this.#coming) {
      if (body === than || body.held === 0 || body.isYoung(nowMs)) continue;
      if (of !== "all" && body.sender.source !== than.sender.source) continue;
      if (of === "address" && body.sender.address !== than.sender.address) continue;
      const rate = body.bytesPerMs(nowMs);
      if (rate >= least) continue;
      least = rate;
      found = body;
    }
    return found;
  }
}

/** One body, with how much of it came and how fast. */
class Body implements BodyShare {
  readonly sender: BodySender;
  readonly cutOff: () => void;
  held = 0;
  windowSinceMs: number;
  windowBytes = 0;
  readonly #budget: SharedBodyBudget;
  readonly #sinceMs: number;
  #seen = 0;

  constructor(budget: SharedBodyBudget, sender: BodySender, cutOff: () => void) {
    this.#budget = budget;
    this.sender = sender;
    this.cutOff = cutOff;
    this.#sinceMs = budget.monotonicMs();
    this.windowSinceMs = this.#sinceMs;
  }

  take(bytes: number): boolean {
    this.#seen += bytes;
    this.windowBytes += bytes;
    if (!this.#budget.makeFree(this, bytes)) return false;
    this.#budget.change(this, bytes);
    return true;
  }

  complete(): void {
    this.#budget.complete(this);
  }

  giveBack(): void {
    this.#budget.change(this, -this.held);
  }

  isYoung(nowMs: number): boolean {
    return nowMs - this.#sinceMs < JUDGED_AFTER_MS;
  }

  bytesPerMs(nowMs: number): number {
    return this.#seen / Math.max(1, nowMs - this.#sinceMs);
  }
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
