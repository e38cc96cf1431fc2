/** Places in the dead-letter topic, as runs of offsets by partition; small where the places are few or dense. */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { PosthasteError } from "@posthaste/core/errors";

/** The offsets from `from` up to, not including, `to`. */
interface Run {
  readonly from: number;
  to: number;
}

/** The most bytes of encoded places: a broker must take the record that has them. */
export const MAX_PLACES_BYTES = 600_000;
/** The most bytes of an offset, which has at most 53 bits. */
const MAX_VARINT_BYTES = 8;

export class PlaceSet {
  readonly #runs = new Map<number, Run[]>();

  /**
   * Adds offsets of a partition, which must ascend within each call and from call to call. An offset that is there
   * changes nothing.
   */
  add(partition: number, offsets: Iterable<number>): void {
    const runs = this.#runs.get(partition) ?? [];
    let last = runs.at(-1);
    for (const offset of offsets) {
      if (last?.to === offset) last.to += 1;
      else if (last === undefined || offset > last.to) {
        last = { from: offset, to: offset + 1 };
        if (runs.push(last) === 1) this.#runs.set(partition, runs);
      } else if (!this.has(partition, offset)) {
        throw new PosthasteError("internal", `offset ${offset} of partition ${partition} came after ${last.to - 1}`);
      }
    }
  }

  /** As `add`, for runs by their bounds: where each begins, and the offset behind it. */
  addRuns(partition: number, bounds: readonly number[]): void {
    const runs = this.#runs.get(partition) ?? [];
    let last = runs.at(-1);
    for (let index = 0; index < bounds.length; index += 2) {
      const [from = 0, to = 0] = [bounds[index], bounds[index + 1]];
      if (last === undefined || from > last.to) {
        last = { from, to };
        if (runs.push(last) === 1) this.#runs.set(partition, runs);
      } else if (from >= last.from) {
        last.to = Math.max(last.to, to);
      } else {
        throw new PosthasteError("internal", `offset ${from} of partition ${partition} came after ${last.to - 1}`);
      }
    }
  }

  has(partition: number, offset: number): boolean {
    const runs = this.#runs.get(partition);
    if (runs === undefined) return false;
    let [low, high] = [0, runs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((runs[middle]?.to ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    const run = runs[low];
    return run !== undefined && run.from <= offset;
  }

  encode(): Uint8Array {
    if (this.#runs.size === 0) return new Uint8Array();
    const numbers: number[] = [];
    for (const [partition, runs] of this.#runs) {
      numbers.push(partition, runs.length);
      let at = 0;
      for (const { from, to } of runs) {
        numbers.push(from - at, to - from);
        at = to;
      }
    }
    return deflateRawSync(varintBytes(numbers));
  }

  /** Throws for bytes that `encode` did not write. */
  static decode(bytes: Uint8Array): PlaceSet {
    const places = new PlaceSet();
    if (bytes.length === 0) return places;
    const numbers = varints(inflateRawSync(bytes));
    const take = (): number => {
      const { value, done } = numbers.next();
      if (done === true) throw new PosthasteError("invalid_input", "places end in the middle");
      return value;
    };
    for (let next = numbers.next(); next.done !== true; next = numbers.next()) {
      const runs: Run[] = [];
      places.#runs.set(next.value, runs);
      let at = 0;
      for (let left = take(); left > 0; left -= 1) {
        const from = at + take();
        at = from + take();
        runs.push({ from, to: at });
      }
    }
    return places;
  }
}

/** Seven bits a byte, the lowest first; for numbers past 32 bits too. */
function varintBytes(numbers: readonly number[]): Uint8Array {
  // There may be a million numbers, so none gets an array of its own.
  const bytes = new Uint8Array(numbers.length * MAX_VARINT_BYTES);
  let length = 0;
  for (const number of numbers) {
    let left = number;
    while (left >= 0x80) {
      bytes[length] = (left % 0x80) | 0x80;
      length += 1;
      left = Math.floor(left / 0x80);
    }
    bytes[length] = left;
    length += 1;
  }
  return bytes.subarray(0, length);
}

function* varints(bytes: Uint8Array): Generator<number, undefined> {
  let [value, factor] = [0, 1];
  for (const byte of bytes) {
    value += (byte % 0x80) * factor;
    factor *= 0x80;
    if (byte >= 0x80) continue;
    yield value;
    [value, factor] = [0, 1];
  }
}
