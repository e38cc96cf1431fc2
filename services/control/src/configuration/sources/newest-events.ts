/**
 * The newest events of one source, which may send far more than anybody reads.
 *
 * Owns: the events kept.
 * NE1  Of the events that ingest took within one second, the first `A_SECOND` to be read are kept.
 * NE2  It keeps the newest `MAX_EVENTS`, or fewer where those take more than `MAX_BYTES`. Between two sortings it holds
 *      up to twice as much, so that it does not sort for each event.
 */
import type { Event } from "@posthaste/core/event/event";

/** An event, and where it stands. */
export interface TailedEvent {
  readonly event: Event;
  readonly partition: number;
  readonly offset: number;
}

export const A_SECOND = 20;
export const MAX_EVENTS = 200;
/** The most bytes kept of one source: sixty sources may be asked about at once, and a call may have 32 KB. */
export const MAX_BYTES = 512 * 1024;

interface Kept {
  readonly tailed: TailedEvent;
  readonly bytes: number;
}

export class NewestEvents {
  #kept: Kept[] = [];
  #bytes = 0;
  /** How many events were kept of each second, by the time at which ingest took them. */
  readonly #ofSecond = new Map<number, number>();

  /** True where no more events are kept of the second that holds this moment, in ms since the epoch (NE1). */
  isFull(timestampMs: number): boolean {
    return (this.#ofSecond.get(secondOf(timestampMs)) ?? 0) >= A_SECOND;
  }

  /** `bytes`: about how much memory the event takes. */
  add(tailed: TailedEvent, { timestampMs, bytes }: { readonly timestampMs: number; readonly bytes: number }): void {
    const second = secondOf(timestampMs);
    this.#ofSecond.set(second, (this.#ofSecond.get(second) ?? 0) + 1);
    this.#kept.push({ tailed, bytes });
    this.#bytes += bytes;
    if (this.#kept.length < 2 * MAX_EVENTS && this.#bytes <= 2 * MAX_BYTES) return;
    this.#kept = this.#newest();
    this.#bytes = this.#kept.reduce((sum, each) => sum + each.bytes, 0);
    for (const old of this.#ofSecond.keys()) if (old < second - MAX_EVENTS) this.#ofSecond.delete(old);
  }

  /** About how many bytes of memory the held events take. */
  get heldBytes(): number {
    return this.#bytes;
  }

  /** Newest first (NE2). */
  list(): readonly TailedEvent[] {
    return this.#newest().map(({ tailed }) => tailed);
  }

  clear(): void {
    this.#kept = [];
    this.#bytes = 0;
    this.#ofSecond.clear();
  }

  #newest(): Kept[] {
    const sorted = this.#kept.toSorted(newestFirst);
    let bytes = 0;
    const end = sorted.findIndex((each, index) => {
      bytes += each.bytes;
      return index >= MAX_EVENTS || (bytes > MAX_BYTES && index > 0);
    });
    return end === -1 ? sorted : sorted.slice(0, end);
  }
}

function secondOf(timestampMs: number): number {
  return Math.floor(timestampMs / 1000);
}

function newestFirst({ tailed: a }: Kept, { tailed: b }: Kept): number {
  return b.event.receivedAtMs - a.event.receivedAtMs || b.partition - a.partition || b.offset - a.offset;
}
