/**
 * The budget of bytes that the bodies of all requests share, so that bodies that stop just before their end keep no
 * others out.
 *
 * Owns: the counts of the bytes that are held, and the bodies that are still coming.
 * BB1  Bodies never hold more than `maxBytes` together. Strangers, whose key is in no header, hold at most three
 *      quarters of that, and the strangers of one address a quarter. The parts of bodies beyond their first 16 KB hold
 *      at most seven eighths, the parts of strangers' bodies half: so a small body, and the body of a known sender,
 *      fits beside any number of others. A source holds at most five times the bytes that are free: five sixths of the
 *      budget when it is alone, five elevenths beside another source that sends as much. So the next source's body
 *      fits, whatever the others send.
 * BB2  Where a bound is reached, the budget cuts off the slowest body that the bound counts and that is still coming,
 *      unless that began less than a second ago or comes faster than the body that needs the bytes. When there is no
 *      such body, it refuses the bytes.
 * BB3  A body of which less than 1 KB came in ten seconds is cut off.
 * BB4  The budget is full from the first bytes that it refuses because of the bound on all bodies, or because of the
 *      bound on a source that is the only one to hold any, until a quarter of it is free again. Refusals that go on
 *      while a few bytes come and go belong to one such time.
 */

export interface BodySender {
  /** The id of the source whose key is in the header or the address; null for a stranger. */
  readonly source: string | null;
  /** The address that the body comes from. */
  readonly address: string;
}

/** The share of one body in the budget. */
export interface BodyShare {
  /**
   * Takes more bytes, for which `heldBytes` more are held; false when the budget refuses them, and then none are taken.
   */
  take(bytes: number, heldBytes?: number): boolean;
  /** All of the body came: it is not cut off any more. */
  complete(): void;
  /** Gives back the bytes that the body holds; it may take more again. */
  giveBack(): void;
}

export interface BodyBudget {
  /** Begins a body. `cutOff` is called when the budget cuts it off, and must give back the bytes that it holds. */
  open(sender: BodySender, cutOff: () => void): BodyShare;
  /** Cuts off bodies that come too slowly (BB3). To be called about once a second. */
  sweep(): void;
  readonly heldBytes: number;
  /** For how many ms the budget has been full (BB4); 0 while it is not. */
  fullForMs(): number;
}

export interface BodyBudgetOptions {
  readonly maxBytes: number;
  /** The monotonic clock, in ms. */
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
/** How old a body must be before its speed counts. */
const JUDGED_AFTER_MS = 1_000;
const WINDOW_MS = 10_000;
const LEAST_WINDOW_BYTES = 1_024;

/** The group of bodies that a bound counts. */
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

  /** Cuts off bodies until `bytes` are free for this one; false when too few can be freed (BB2). */
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

  /** Counts `bytes` more for a body, or fewer with a number below 0. */
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

  /**
   * The group of which a body must be cut off before this one may hold `bytes` more; null when it may hold them now
   * (BB1).
   */
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

  /** The body of the group that is cut off for another (BB2); null when there is none. */
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

  take(bytes: number, heldBytes = bytes): boolean {
    this.#seen += bytes;
    this.windowBytes += bytes;
    if (heldBytes === 0) return true;
    if (!this.#budget.makeFree(this, heldBytes)) return false;
    this.#budget.change(this, heldBytes);
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

/** How many bytes a body of this length has beyond a small one. */
function largePart(bytes: number): number {
  return Math.max(0, bytes - SMALL_BYTES);
}
