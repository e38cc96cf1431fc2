/** How long live events take beside a sync and alone, as a table and as figures that are held to their aim. */
import type { Figures } from "../figures/figures.ts";
import { LIVE_PER_SECOND } from "./live-events.ts";

/** Identifies beside live events by default. */
export const IDENTIFIES_PER_SECOND = 500;
/** How many times as long live events may take at p99. */
const LATENCY_AIM = 2;

/** Live events beside other work, and the idle share of the machine's cores. */
export interface Live {
  readonly p99Ms: number;
  readonly idle: number;
}

/** Live events beside a sync and beside its identifies. */
export interface SyncSeen {
  readonly upload: Live;
  readonly identifies: Live;
  readonly added: number;
  readonly tookMs: number;
}

/** Through the bare pipeline. */
export interface Beside {
  readonly aloneMs: number;
  /** While as much goes along as a sync's identifies are. */
  readonly besideMs: number;
}

export interface Seen {
  /** A sync before, the first since the broker's start. */
  readonly first: SyncSeen;
  readonly alone: Live;
  readonly seen: SyncSeen;
  readonly bare: Beside;
}

/**
 * Live events are held to so many times their time alone. The machine's time for as much through the bare pipeline is
 * told, and judges nothing: it may be the slower one.
 */
export function printLatency(figures: Figures, { first, alone, seen, bare }: Seen): void {
  const ms = (value: number) => value.toFixed(1);
  const cell = ({ p99Ms, idle }: Live) => `${ms(p99Ms)} (${(idle * 100).toFixed(0)} %)`;
  const row = (of: SyncSeen) => `${cell(of.upload)} | ${cell(of.identifies)}`;
  const what = `live events' p99 at ${LIVE_PER_SECOND} a second, ms (cores idle)`;
  console.log(`\n| ${what} | alone | while it is uploaded | beside ${IDENTIFIES_PER_SECOND} identifies a second |`);
  console.log("|---|---|---|---|");
  console.log(`| the installation | ${cell(alone)} | ${row(seen)} |`);
  console.log(`| the same, its first sync since the broker's start | | ${row(first)} |`);
  console.log(`| bare pipeline of kafkajs | ${ms(bare.aloneMs)} | | ${ms(bare.besideMs)} |\n`);
  const judge = (name: string, { p99Ms }: Live, more = "") =>
    figures.push({
      ...{ name, value: p99Ms / alone.p99Ms, unit: "times alone" },
      ...{ isWithin: p99Ms / alone.p99Ms <= LATENCY_AIM, beside: `at most ${LATENCY_AIM}${more}` },
    });
  judge("live events' p99 while it is uploaded", seen.upload);
  const ofBare = (bare.besideMs / bare.aloneMs).toFixed(1);
  judge("live events' p99 beside identifies", seen.identifies, `; the bare pipeline beside as many ${ofBare}`);
}
