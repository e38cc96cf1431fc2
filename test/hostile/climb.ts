/**
 * A search for the dearest stream: some are an ordinary message with some choices drawn, some are drawn whole, and the
 * others are streams of the last finds with some choices made anew. From the same seed, and with the same costs, it
 * tries the same streams.
 */
import { type Choose, createChoose } from "@posthaste/testkit/random";
import fc from "fast-check";
import { BOUNDS, type Cost, partOfBounds } from "./door.ts";
import { GENES, ORDINARY, type Stream, streams } from "./stream.ts";

export interface Found {
  readonly stream: Stream;
  readonly cost: Cost;
}

export interface ClimbOptions {
  readonly seed: number;
  /** `isAgain`: it seemed to be beyond a bound. */
  readonly measure: (stream: Stream, isAgain: boolean) => Promise<Cost>;
  readonly goesOn: (tried: number) => boolean;
  readonly onTried?: (found: Found, tried: number) => void;
}

/** How many finds streams are made of. */
const POOL = 6;
/** Of ten streams so many are drawn afresh, and of ten of these so many begin with the ordinary message. */
const FRESH = 7;
const NEARLY_ORDINARY = 5;
/** The most choices that are drawn for an ordinary message, beside head and connections. */
const MOST_DRAWN = 8;
/** How often a find beyond a bound is measured, since a busy machine is slow now and then. */
const CAREFUL = 3;

/** Returns the dearest streams, the dearest first. */
export async function climb({ seed, measure, goesOn, onTried }: ClimbOptions): Promise<readonly Found[]> {
  let dearest: readonly Found[] = [];
  const random = createChoose(seed);
  for (let tried = 0; goesOn(tried); tried++) {
    const stream = nextStream(dearest, random);
    let cost = await measure(stream, false);
    for (let time = 1; time < CAREFUL && partOfBounds(cost) > 1; time++) {
      cost = lessOf(cost, await measure(stream, true));
    }
    const found = { stream, cost };
    dearest = [...dearest, found].sort((left, right) => worthOf(right.cost) - worthOf(left.cost)).slice(0, POOL);
    onTried?.(found, tried + 1);
  }
  return dearest;
}

/**
 * A stream beyond a bound comes first. Below the bounds processor time and memory lead the way: a wait has more of the
 * machine's chance in it.
 */
function worthOf(cost: Cost): number {
  const part = partOfBounds(cost);
  return part > 1 ? 10 + part : cost.processor + cost.grownMb / BOUNDS.memoryMb + part / 5;
}

function lessOf(left: Cost, right: Cost): Cost {
  return partOfBounds(left) <= partOfBounds(right) ? left : right;
}

function nextStream(dearest: readonly Found[], random: Choose): Stream {
  const parent = dearest[random(dearest.length)]?.stream;
  if (parent === undefined || random(10) < FRESH) return freshStream(random);
  const other = dearest[random(dearest.length)]?.stream ?? parent;
  let child = parent;
  for (let change = 0; change <= random(4); change++) {
    const gene = anyGene(random);
    child = { ...child, [gene]: random(3) === 0 ? other[gene] : draw<unknown>(GENES[gene], random) };
  }
  return child;
}

function freshStream(random: Choose): Stream {
  if (random(10) >= NEARLY_ORDINARY) return draw(streams, random);
  let stream = { ...ORDINARY, head: draw(GENES.head, random), connections: draw(GENES.connections, random) };
  for (let drawn = random(MOST_DRAWN); drawn >= 0; drawn--) {
    const gene = anyGene(random);
    stream = { ...stream, [gene]: draw<unknown>(GENES[gene], random) };
  }
  return stream;
}

function anyGene(random: Choose): keyof Stream {
  const genes = Object.keys(GENES) as (keyof Stream)[];
  return genes[random(genes.length)] ?? "head";
}

function draw<T>(arbitrary: fc.Arbitrary<T>, random: Choose): T {
  const [value] = fc.sample(fc.noBias(arbitrary), { seed: random(2 ** 31 - 1), numRuns: 1 });
  // One run makes one value.
  return value as T;
}
