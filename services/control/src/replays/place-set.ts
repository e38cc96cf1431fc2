/** Places in the dead letters' topic, as runs of offsets by partition; small where they are few or dense. */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { PosthasteError } from "@posthaste/core/errors";

/** `from` up to before `to`. */
interface Run {
  readonly from: number;
  to: number;
}

/** A record that holds them must not be larger than a broker takes. */
export const MAX_PLACES_BYTES = 600_000;

export class PlaceSet {
  readonly #runs = new Map<number, Run[]>();

  /** Offsets of a partition come in ascending order; one that is there already is nothing new. */
  add(partition: number, offset: number): void {
    const runs = this.#runs.get(partition) ?? [];
    if (runs.length === 0) this.#runs.set(partition, runs);
    const last = runs.at(-1);
    if (last !== undefined && offset < last.to) {
      if (this.has(partition, offset)) return;
      throw new PosthasteError("internal", `offset ${offset} of partition ${partition} came after ${last.to - 1}`);
    }
    if (last?.to === offset) last.to += 1;
    else runs.push({ from: offset, to: offset + 1 });
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
    return deflateRawSync(Buffer.from(numbers.flatMap(varint)));
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
function varint(number: number): number[] {
  const bytes: number[] = [];
  let left = number;
  while (left >= 0x80) {
    bytes.push((left % 0x80) | 0x80);
    left = Math.floor(left / 0x80);
  }
  bytes.push(left);
  return bytes;
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
