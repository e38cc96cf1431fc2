/** The table of docs/faults.md: a line a row, over all its rounds. Pure. */
import type { Row } from "./broker-faults.ts";
import { type Cell, toLine, toTable } from "./table.ts";
import { median } from "./timeline.ts";

export interface BrokerRound {
  readonly row: Row;
  /** Until the cluster had put another broker in the place; null when it did not, or there is no such thing. */
  readonly movedMs: number | null;
  /** The longest times without one, from the fault until the load ended. */
  readonly acknowledgementGapMs: number;
  readonly deliveryGapMs: number;
  readonly commitGapMs: number;
  /** Events that ingest did not answer 200 for. */
  readonly refused: number;
  readonly acknowledged: number;
  readonly delivered: number;
  readonly lost: number;
  readonly repeated: number;
  /** Users of whom an event first came after a later one of theirs. */
  readonly disordered: number;
}

const HEAD = [
  "broker",
  "fault",
  "rounds",
  "another in its place after",
  "gap in acknowledgements",
  "in deliveries",
  "in commits",
  "refused",
  "acknowledged",
  "delivered",
  "lost",
  "repeated",
  "users out of order",
];

/** Times in seconds, median and largest; events summed over the rounds. */
export function toBrokerTable(rounds: readonly BrokerRound[]): string {
  const rows = new Map(rounds.map(({ row }) => [`${row.role} ${row.fault}`, row]));
  const lines = [...rows.values()].map((row) => {
    const group = rounds.filter((round) => round.row.role === row.role && round.row.fault === row.fault);
    return toCells(row, group);
  });
  return toTable(HEAD, lines);
}

/** One round by itself, for who watches a run that takes an hour. */
export function toBrokerLine(round: BrokerRound): string {
  return toLine(toCells(round.row, [round]));
}

function toCells({ role, fault, forMs }: Row, group: readonly BrokerRound[]): readonly Cell[] {
  const sum = (pick: (round: BrokerRound) => number): number => group.reduce((total, one) => total + pick(one), 0);
  return [
    role,
    `${fault} for ${forMs / 1000} s`,
    group.length,
    times(group.flatMap(({ movedMs }) => movedMs ?? [])),
    times(group.map((round) => round.acknowledgementGapMs)),
    times(group.map((round) => round.deliveryGapMs)),
    times(group.map((round) => round.commitGapMs)),
    sum((round) => round.refused),
    sum((round) => round.acknowledged),
    sum((round) => round.delivered),
    sum((round) => round.lost),
    sum((round) => round.repeated),
    sum((round) => round.disordered),
  ];
}

function times(values: readonly number[]): string {
  if (values.length === 0) return "–";
  const seconds = (ms: number): string => (ms / 1000).toFixed(1);
  return values.length === 1 ? seconds(median(values)) : `${seconds(median(values))} (${seconds(Math.max(...values))})`;
}
