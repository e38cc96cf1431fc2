/** The tables of docs/faults.md: a line a row of faults, over all its rounds. Pure. */
import { ROLES, type Role, type Row } from "./broker-faults.ts";
import { type Cell, toLine, toTable } from "./table.ts";
import { type Gap, median } from "./timeline.ts";

/** Times in ms on the clock of the run, where the fault is at 0. */
export interface BrokerRound {
  readonly row: Row;
  /** All roles that the brokers of the row had. */
  readonly roles: readonly Role[];
  /** When a service first said that a broker let it down; null when none did. */
  readonly noticedMs: number | null;
  /** When the cluster did without the broker, null when it did not; of two brokers, when they were back. */
  readonly replacedMs: number | null;
  /** The longest times without one, from the fault until the load ended. */
  readonly acknowledgements: Gap;
  readonly deliveries: Gap;
  readonly commits: Gap;
  /** Events that ingest did not answer 200 for. */
  readonly refused: number;
  readonly acknowledged: number;
  readonly delivered: number;
  readonly lost: number;
  /** Requests beyond the first of their event that no failed attempt explains. */
  readonly repeated: number;
  /** Events that first came after a later one of their user, and were neither tried in vain nor deferred before. */
  readonly disordered: number;
  /** Events that came again or late since an attempt had failed or they were deferred. */
  readonly retried: number;
  /** Partitions that a router or a delivery process lost to its group: records in flight may come again. */
  readonly regained: number;
  /** Null where none ran beside the system. */
  readonly bare: BareRound | null;
}

/** The same of a bare producer and a bare consumer. */
export interface BareRound {
  readonly acknowledgements: Gap;
  readonly consumption: Gap;
  readonly refused: number;
  readonly crashes: number;
}

interface Column {
  readonly head: string;
  readonly cell: (group: readonly BrokerRound[]) => Cell;
}

const GAPS: readonly Column[] = [
  { head: "without an acknowledgement", cell: gaps((round) => round.acknowledgements) },
  { head: "a delivery", cell: gaps((round) => round.deliveries) },
  { head: "a commit", cell: gaps((round) => round.commits) },
  { head: "bare: an acknowledgement", cell: gaps(({ bare }) => bare?.acknowledgements) },
  { head: "bare: a record consumed", cell: gaps(({ bare }) => bare?.consumption) },
  { head: "bare: sends refused", cell: sum(({ bare }) => bare?.refused) },
  { head: "bare: crashes", cell: sum(({ bare }) => bare?.crashes) },
];

const PARTS: readonly Column[] = [
  { head: "leader, coordinator, controller in", cell: roles },
  { head: "noticed after", cell: times((round) => round.noticedMs) },
  { head: "the cluster did without it, or had both back, after", cell: times((round) => round.replacedMs) },
  { head: "acknowledged again", cell: restarts((round) => round.acknowledgements) },
  { head: "delivered again", cell: restarts((round) => round.deliveries) },
  { head: "committed again", cell: restarts((round) => round.commits) },
];

const COUNTS: readonly Column[] = [
  { head: "refused", cell: sum((round) => round.refused) },
  { head: "acknowledged", cell: sum((round) => round.acknowledged) },
  { head: "delivered", cell: sum((round) => round.delivered) },
  { head: "lost", cell: sum((round) => round.lost) },
  { head: "repeated", cell: sum((round) => round.repeated) },
  { head: "out of order", cell: sum((round) => round.disordered) },
  { head: "again or late by a retry", cell: sum((round) => round.retried) },
  { head: "partitions lost to the group", cell: sum((round) => round.regained) },
];

/**
 * Three tables: the longest gaps, the causes of their seconds, and the fate of the events. Seconds: median and largest.
 */
export function toBrokerTables(rounds: readonly BrokerRound[]): string {
  const rows = new Map(rounds.map(({ row }) => [`${row.role} ${row.fault}`, row]));
  return [GAPS, PARTS, COUNTS]
    .map((columns) => {
      const lines = [...rows.values()].map(({ role, fault, forMs }) => {
        const group = rounds.filter(({ row }) => row.role === role && row.fault === fault);
        return [role, `${fault} for ${forMs / 1000} s`, group.length, ...columns.map(({ cell }) => cell(group))];
      });
      return toTable(["broker", "fault", "rounds", ...columns.map(({ head }) => head)], lines);
    })
    .join("\n\n");
}

/** One round by itself, for a reader of a run that takes most of an hour: every column, without heads. */
export function toBrokerLine(round: BrokerRound): string {
  const { role, fault } = round.row;
  return toLine([role, fault, ...[...GAPS, ...PARTS, ...COUNTS].map(({ cell }) => cell([round]))]);
}

function gaps(pick: (round: BrokerRound) => Gap | undefined): Column["cell"] {
  return times((round) => {
    const gap = pick(round);
    return gap === undefined ? null : gap.toMs - gap.fromMs;
  });
}

/** How long after the cluster did without the broker the longest gap ended; 0 when it ended before, or began after. */
function restarts(pick: (round: BrokerRound) => Gap): Column["cell"] {
  return times((round) => {
    const { fromMs, toMs } = pick(round);
    if (round.replacedMs === null) return null;
    return fromMs > round.replacedMs ? 0 : Math.max(0, toMs - round.replacedMs);
  });
}

function times(pick: (round: BrokerRound) => number | null): Column["cell"] {
  return (group) => {
    const values = group.flatMap((round) => pick(round) ?? []);
    if (values.length === 0) return "–";
    const middle = seconds(median(values));
    return values.length === 1 ? middle : `${middle} (${seconds(Math.max(...values))})`;
  };
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

function sum(pick: (round: BrokerRound) => number | undefined): Column["cell"] {
  return (group) => {
    const values = group.flatMap((round) => pick(round) ?? []);
    return values.length === 0 ? "–" : values.reduce((total, value) => total + value, 0);
  };
}

/** In how many rounds the brokers of the row had each role. */
function roles(group: readonly BrokerRound[]): string {
  return ROLES.map((role) => group.filter((round) => round.roles.includes(role)).length).join(", ");
}
