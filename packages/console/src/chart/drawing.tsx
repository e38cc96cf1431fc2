/** uPlot in a page: redrawn when its numbers, its width or the theme change. */
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { TimeChartData } from "./time-series.ts";

const HEIGHT = 140;
const DAY_MS = 24 * 3_600_000;
/** Charts under one key show the moment under the pointer together. */
const SYNC = "time";

export interface DrawingProps {
  readonly data: TimeChartData;
  /** The zone in which moments are told. */
  readonly zone: string;
}

export function Drawing({ data, zone }: DrawingProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    let plot: uPlot | null = null;
    const draw = (): void => {
      plot?.destroy();
      plot = new uPlot(optionsOf({ data, zone }, element), alignedOf(data), element);
    };
    draw();
    const resizing = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: HEIGHT }));
    resizing.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", draw);
    const theme = new MutationObserver(draw);
    theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      resizing.disconnect();
      theme.disconnect();
      scheme.removeEventListener("change", draw);
      plot?.destroy();
    };
  }, [data, zone]);
  return <div ref={place} />;
}

function alignedOf({ times, series }: TimeChartData): uPlot.AlignedData {
  return [times.map((time) => Date.parse(time) / 1000), ...series.map(({ values }) => [...values])];
}

function optionsOf({ data, zone }: DrawingProps, element: HTMLElement): uPlot.Options {
  const { series, range } = data;
  const [fromMs, untilMs] = range;
  const colourOf = (name: string): string => {
    element.style.color = `var(--${name})`;
    const { color } = getComputedStyle(element);
    element.style.color = "";
    return color;
  };
  const axis = { stroke: colourOf("muted"), grid: { stroke: colourOf("line"), width: 1 }, ticks: { show: false } };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { sync: { key: SYNC }, drag: { x: false, y: false } },
    scales: {
      x: { range: () => [fromMs / 1000, untilMs / 1000] },
      y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] },
    },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
    axes: [
      { ...axis, values: (_, splits) => splits.map(labelsOf(range, zone)) },
      { ...axis, size: 52 },
    ],
    series: [
      {},
      ...series.map(({ name, colour }) => ({
        label: name,
        stroke: colourOf(colour),
        width: 1.5,
        points: { size: 4 },
      })),
    ],
  };
}

/** The time of day, behind the day where the whole is longer than one. */
function labelsOf([fromMs, untilMs]: TimeChartData["range"], zone: string): (seconds: number) => string {
  const time = new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit" });
  const day = new Intl.DateTimeFormat("en-GB", { timeZone: zone, day: "numeric", month: "short" });
  const isLong = untilMs - fromMs > DAY_MS;
  return (seconds) => (isLong ? day : time).format(seconds * 1000);
}
