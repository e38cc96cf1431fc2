/**
 * Cost of a look-up in the set of suppressed users and of an entry, beside a Set of the texts in the same run:
 * `node_modules/.bin/node --expose-gc packages/core/bench/digest-set.ts [entries]`, one million by default.
 */
import { hash } from "node:crypto";
import { DigestSet } from "../src/deletion/digest-set.ts";

const ENTRIES = Number(process.argv[2] ?? 1_000_000);
const LOOKUPS = 500_000;
const ROUNDS = 5;

const keyOf = (number: number): string =>
  `src_4k2v8m1n0p3q5r7s:user-${(number * 2_654_435_761) % 4_294_967_296}-${number}`;

/** Bytes of heap and of arrays beside it. */
function memory(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Fills it; returns bytes an entry and the longest single addition in ms. */
function fill(add: (key: string) => void): { readonly bytes: number; readonly longestMs: number } {
  const before = memory();
  let longestMs = 0;
  for (let number = 0; number < ENTRIES; number++) {
    const key = keyOf(number);
    const fromMs = performance.now();
    add(key);
    longestMs = Math.max(longestMs, performance.now() - fromMs);
  }
  return { bytes: (memory() - before) / ENTRIES, longestMs };
}

/**
 * The median of some rounds, microseconds of the processor a look-up. Half of the keys that are looked up are in the
 * set.
 */
function lookUp(has: (key: string) => boolean): number {
  const keys = Array.from({ length: LOOKUPS }, (_, index) =>
    keyOf(index % 2 === 0 ? (index * 7919) % ENTRIES : -index),
  );
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    let found = 0;
    for (const key of keys) if (has(key)) found += 1;
    if (found !== LOOKUPS / 2) throw new Error(`found ${found} of ${LOOKUPS / 2}`);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / LOOKUPS;
  });
  return rounds.sort((a, b) => a - b)[ROUNDS >> 1] ?? Number.NaN;
}

function report(name: string, has: (key: string) => boolean, filled: ReturnType<typeof fill>): number {
  const us = lookUp(has);
  const { bytes, longestMs } = filled;
  process.stdout.write(
    `${name}: ${us.toFixed(2)} us of CPU a look-up, ${bytes.toFixed(1)} bytes an entry, longest addition ${longestMs.toFixed(1)} ms\n`,
  );
  return us;
}

const digests = new DigestSet((text) => hash("sha256", text, "binary"));
const compact = report(
  "DigestSet",
  (key) => digests.has(key),
  fill((key) => digests.add(key)),
);
const texts = new Set<string>();
const plain = report(
  "Set",
  (key) => texts.has(key),
  fill((key) => texts.add(key)),
);
process.stdout.write(`${ENTRIES} entries; ratio of look-ups ${(compact / plain).toFixed(2)}\n`);
