/** The table of isolation: medians, ratios against the healthy ones alone, and whether they are within the aim. */

import { median } from "../figures/statistics.ts";
import { verdict } from "../figures/verdict.ts";
import { COMPARED_WITH, type Felt, type Neighbour } from "./isolation.ts";

/** Of the throughput that the healthy ones have alone. */
const LEAST_SHARE = 0.9;
/** The p99 latency may be so many times its value alone, or so much more, whichever is larger. */
const MOST_TIMES = 1.5;
const MOST_MORE_MS = 5;

export type Medians = Readonly<Record<keyof Felt, number>>;

export function mediansOf(felt: readonly Felt[]): Medians {
  const of = (field: keyof Felt) => median(felt.map((each) => each[field]));
  return {
    p50Ms: of("p50Ms"),
    p99Ms: of("p99Ms"),
    atRate: of("atRate"),
    atRateP99Ms: of("atRateP99Ms"),
    overBacklog: of("overBacklog"),
  };
}

/** Lines of a table in Markdown. Neighbours that were not measured, or whose comparison was not, are left out. */
export function isolationTable(measured: ReadonlyMap<Neighbour, Medians>): readonly string[] {
  const lines = [
    "| neighbours | p50 ms | p99 ms | aim | at 2,000/s | of alone | aim | p99 ms | aim | backlog /s | of alone | of healthy neighbours | aim |",
    "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
  ];
  for (const [neighbour, felt] of measured) {
    const { alone: aloneName, crowd: crowdName } = COMPARED_WITH[neighbour];
    const alone = measured.get(aloneName);
    const crowd = measured.get(crowdName);
    if (alone === undefined || crowd === undefined) continue;
    // The rows that the others are compared with are within by themselves.
    const isSick = neighbour !== aloneName && neighbour !== crowdName;
    const judge = (isWithin: boolean) => (isSick ? verdict(isWithin) : "");
    const share = felt.atRate / alone.atRate;
    const backlogShare = felt.overBacklog / crowd.overBacklog;
    const cells = [
      neighbour,
      felt.p50Ms.toFixed(1),
      felt.p99Ms.toFixed(1),
      judge(felt.p99Ms <= longestP99Ms(alone.p99Ms)),
      felt.atRate.toFixed(0),
      share.toFixed(2),
      judge(share >= LEAST_SHARE),
      felt.atRateP99Ms.toFixed(1),
      judge(felt.atRateP99Ms <= longestP99Ms(alone.atRateP99Ms)),
      felt.overBacklog.toFixed(0),
      (felt.overBacklog / alone.overBacklog).toFixed(2),
      backlogShare.toFixed(2),
      judge(backlogShare >= LEAST_SHARE),
    ];
    lines.push(`| ${cells.join(" | ")} |`);
  }
  return lines;
}

export function longestP99Ms(aloneMs: number): number {
  return Math.max(aloneMs * MOST_TIMES, aloneMs + MOST_MORE_MS);
}
