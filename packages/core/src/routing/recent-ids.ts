/**
 * The ids that one events partition had lately, each with the offset of its first record, to find calls that a source
 * sent twice.
 *
 * Owns: two generations of hashes in flat arrays; the older one is dropped as a whole when the younger one is full.
 * RI1  An id is held for at least the next `limit` additions, and never more than twice as many ids are held.
 * RI2  A record is a duplicate when its id is held with a lower offset and came at most `windowMs` before it. The
 *      offset must be lower, since a record that is read again meets its own id. The answer is the offset of the first
 *      record within the window.
 * RI3  When an id comes twice the lower offset is held, so that a record that a rebuild reads late counts as the first.
 *      A record that comes after the window begins a new one, and its offset is held.
 */
import type { Hash64 } from "./hash64.ts";

export interface RecentIdsLimits {
  readonly limit: number;
  readonly windowMs: number;
}

export class RecentIds {
  readonly #limits: RecentIdsLimits;
  #young: Generation;
  #old: Generation;

  constructor(limits: RecentIdsLimits) {
    this.#limits = limits;
    this.#young = new Generation();
    this.#old = new Generation();
  }

  /** Notes the id. Returns the offset of the record that this one is a duplicate of; null when it is none. */
  firstOffset(id: Hash64, offset: number, atMs: number): number | null {
    const held = this.#find(id);
    if (held === null) {
      this.#add(id, offset, atMs);
      return null;
    }
    const [generation, slot] = held;
    const first = generation.offsetAt(slot);
    if (first < offset && atMs - generation.timeAt(slot) <= this.#limits.windowMs) return first;
    // RI3: the offset is lower, or the window is over.
    generation.set(slot, offset, atMs);
    return null;
  }

  /** How many ids are held. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  #find(id: Hash64): readonly [Generation, number] | null {
    const young = this.#young.find(id);
    if (young >= 0) return [this.#young, young];
    const old = this.#old.find(id);
    return old >= 0 ? [this.#old, old] : null;
  }

  #add(id: Hash64, offset: number, atMs: number): void {
    if (this.#young.size >= this.#limits.limit) {
      this.#old = this.#young;
      this.#young = new Generation();
    }
    this.#young.add(id, offset, atMs);
  }
}

const FIRST_CAPACITY = 1024;

/** A hash table with linear probing that grows and never removes. A slot whose time is NaN is empty. */
class Generation {
  #high = new Uint32Array(FIRST_CAPACITY);
  #low = new Uint32Array(FIRST_CAPACITY);
  #offsets = new Float64Array(FIRST_CAPACITY);
  #times = new Float64Array(FIRST_CAPACITY).fill(Number.NaN);
  size = 0;

  /** The id's slot, or -1. */
  find(id: Hash64): number {
    const slot = this.#slotFor(id);
    return this.#isEmpty(slot) ? -1 : slot;
  }

  offsetAt(slot: number): number {
    return this.#offsets[slot] ?? 0;
  }

  timeAt(slot: number): number {
    return this.#times[slot] ?? 0;
  }

  set(slot: number, offset: number, atMs: number): void {
    this.#offsets[slot] = offset;
    this.#times[slot] = atMs;
  }

  add(id: Hash64, offset: number, atMs: number): void {
    // At least half of the slots are empty, so that a search stays short.
    if (this.size * 2 >= this.#times.length) this.#grow();
    const slot = this.#slotFor(id);
    this.#high[slot] = id.high;
    this.#low[slot] = id.low;
    this.set(slot, offset, atMs);
    this.size += 1;
  }

  #isEmpty(slot: number): boolean {
    return Number.isNaN(this.#times[slot]);
  }

  /** The slot of the id, or the empty slot where it would go. */
  #slotFor(id: Hash64): number {
    const mask = this.#times.length - 1;
    let slot = id.low & mask;
    while (!this.#isEmpty(slot) && (this.#low[slot] !== id.low || this.#high[slot] !== id.high)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #grow(): void {
    const [high, low, offsets, times] = [this.#high, this.#low, this.#offsets, this.#times];
    const capacity = times.length * 2;
    this.#high = new Uint32Array(capacity);
    this.#low = new Uint32Array(capacity);
    this.#offsets = new Float64Array(capacity);
    this.#times = new Float64Array(capacity).fill(Number.NaN);
    this.size = 0;
    times.forEach((atMs, slot) => {
      if (Number.isNaN(atMs)) return;
      this.add({ high: high[slot] ?? 0, low: low[slot] ?? 0 }, offsets[slot] ?? 0, atMs);
    });
  }
}
