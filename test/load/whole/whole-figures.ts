/** The figures of the whole path: the median of each load's rounds beside the raw loop, as a table and as a plot. */
import { median } from "../figures/statistics.ts";
import type { Measured } from "./loads.ts";
import { type ByProcess, ofEach, PROCESSES, type RawLoop, sumOf } from "./whole-bench.ts";

/** A load in one round, beside the raw loop of the same round. */
export interface Round extends Measured {
  readonly loop: RawLoop;
}

/** The medians of a load's rounds. */
export interface Summary {
  readonly load: string;
  readonly perSecond: number;
  /** The rate as a share of the raw loop's. */
  readonly ofLoop: number;
  /** The CPU of all processes, as times the raw loop's: median, least and most. */
  readonly times: { readonly median: number; readonly least: number; readonly most: number };
  /** Seconds of CPU for a thousand deliveries. */
  readonly cpu: ByProcess;
  /** The CPU of each process, as times the raw loop's. */
  readonly timesOf: ByProcess;
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
}

export function summaryOf(load: string, rounds: readonly Round[]): Summary {
  const times = rounds.map(({ cpu, loop }) => sumOf(cpu) / loop.cpu);
  const latency = (of: (round: Round) => number | undefined) => {
    const values = rounds.flatMap((round) => of(round) ?? []);
    return values.length === 0 ? undefined : median(values);
  };
  return {
    load,
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
    ofLoop: median(rounds.map(({ perSecond, loop }) => perSecond / loop.perSecond)),
    times: { median: median(times), least: Math.min(...times), most: Math.max(...times) },
    cpu: ofEach((name) => median(rounds.map(({ cpu }) => cpu[name]))),
    timesOf: ofEach((name) => median(rounds.map(({ cpu, loop }) => cpu[name] / loop.cpu))),
    p50Ms: latency(({ p50Ms }) => p50Ms),
    p99Ms: latency(({ p99Ms }) => p99Ms),
  };
}

export function tableOf(summaries: readonly Summary[]): string {
  const head = [
    "load",
    "deliveries/s",
    "of the loop",
    "times its CPU (least to most)",
    "s a 1,000",
    ...PROCESSES,
    "p50, p99",
  ];
  const rows = summaries.map(({ load, perSecond, ofLoop, times, cpu, p50Ms, p99Ms }) => [
    load,
    perSecond.toFixed(0),
    ofLoop.toFixed(2),
    `${times.median.toFixed(2)} (${times.least.toFixed(2)} to ${times.most.toFixed(2)})`,
    sumOf(cpu).toFixed(3),
    ...PROCESSES.map((name) => cpu[name].toFixed(3)),
    p50Ms === undefined ? "" : `${p50Ms.toFixed(1)}, ${p99Ms?.toFixed(1)} ms`,
  ]);
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const COLOURS: Readonly<Record<(typeof PROCESSES)[number], string>> = {
  "kafka-1": "#6b7280",
  ingest: "#2563eb",
  router: "#059669",
  delivery: "#d97706",
  control: "#9333ea",
};
const [LEFT, WIDTH, ROW, TOP] = [130, 560, 34, 40];

/** A bar for each load: the CPU of each process, as times the raw loop's. */
export function plotOf(summaries: readonly Summary[]): string {
  const most = Math.max(...summaries.map(({ timesOf }) => sumOf(timesOf)));
  const bars = summaries.flatMap(({ load, timesOf }, row) => {
    const y = TOP + row * ROW;
    let x = LEFT;
    const parts = PROCESSES.map((name) => {
      const width = (timesOf[name] / most) * WIDTH;
      const part = `<rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="20" fill="${COLOURS[name]}"/>`;
      x += width;
      return part;
    });
    const total = `<text x="${(x + 6).toFixed(1)}" y="${y + 15}">${sumOf(timesOf).toFixed(1)}</text>`;
    return [`<text x="${LEFT - 8}" y="${y + 15}" text-anchor="end">${load}</text>`, ...parts, total];
  });
  const legend = PROCESSES.map((name, at) => {
    const x = LEFT + at * 100;
    return `<rect x="${x}" y="12" width="12" height="12" fill="${COLOURS[name]}"/><text x="${x + 17}" y="23">${name}</text>`;
  });
  const size = `width="${LEFT + WIDTH + 60}" height="${TOP + summaries.length * ROW + 10}"`;
  const title = "<title>CPU of a delivery, as times a raw loop's, by load and process</title>";
  const ground = `<rect width="100%" height="100%" fill="#ffffff"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="sans-serif" font-size="13" fill="#111827">
${[title, ground, ...legend, ...bars].join("\n")}
</svg>
`;
}
