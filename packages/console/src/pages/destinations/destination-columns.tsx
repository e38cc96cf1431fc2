/** The columns of the destinations. */
import { Bars } from "../../chart/bars.tsx";
import type { Column } from "../../listing/column.ts";
import { countOf, rateOf } from "../../moment/numbers.ts";
import { HEALTH_WORDS, shareOf } from "../../status/health-words.ts";
import { Mark } from "../../verdict/mark.tsx";
import type { DestinationRow, Health } from "./destination-rows.ts";
import { SORTS } from "./destinations-filter.ts";
import styles from "./destinations-page.module.css";

export function columnsOf(nameOf: (id: string) => string): readonly Column<DestinationRow>[] {
  const sourcesOf = ({ destination }: DestinationRow): string =>
    destination.sourceIds.map(nameOf).join(", ") || "no source";
  return [
    {
      ...{ key: "name", heading: "Name", narrow: "title", sorts: SORTS.name },
      wholeOf: ({ destination: { name } }) => name,
      cell: ({ destination: { name } }) => <strong>{name}</strong>,
    },
    { key: "state", heading: "State", narrow: "side", sorts: SORTS.state, cell: (row) => <State row={row} /> },
    { key: "sources", heading: "Sources", narrow: "hidden", wholeOf: sourcesOf, cell: sourcesOf },
    {
      ...{ key: "url", heading: "URL", narrow: "line", wholeOf: urlsOf },
      cell: (row) => <code className={styles["detail"]}>{urlsOf(row).replace(/^https:\/\//, "")}</code>,
    },
    {
      ...{ key: "failing", heading: "Success, 1 h", narrow: "labelled", isFigure: true, sorts: SORTS.failing },
      cell: ({ health }) => shareOf(health?.successOfHour ?? null),
    },
    {
      ...{ key: "p99", heading: "p99", narrow: "hidden", isFigure: true, sorts: SORTS.p99 },
      cell: ({ health }) => (health?.p99Ms == null ? "–" : `${rateOf(health.p99Ms)} ms`),
    },
    {
      ...{ key: "waiting", heading: "Waiting", narrow: "labelled", isFigure: true, sorts: SORTS.waiting },
      cell: ({ health }) => (health?.waiting == null ? "–" : countOf(health.waiting.total)),
    },
    {
      ...{ key: "dead", heading: "Failed", narrow: "labelled", isFigure: true, sorts: SORTS.dead },
      cell: ({ health }) => (health === undefined ? "–" : countOf(health.deadLetters ?? 0)),
    },
    {
      ...{ key: "hour", heading: "Last hour", narrow: "hidden" },
      cell: ({ health }) => health !== undefined && <HourLine lastHour={health.lastHour} />,
    },
  ];
}

function urlsOf({ destination: { settings } }: DestinationRow): string {
  return settings.urls.map(({ url }) => url).join(" ");
}

function State({ row: { destination, health } }: { readonly row: DestinationRow }) {
  const { enabled, missingKeyIds } = destination;
  if (missingKeyIds !== null) return <Mark tone="bad">{`lacks the key ${missingKeyIds.join(", ")}`}</Mark>;
  if (health === undefined) return <Mark tone={enabled ? "good" : "off"}>{enabled ? "on" : "off"}</Mark>;
  const [words, tone] = HEALTH_WORDS[health.state];
  return <Mark tone={tone}>{words}</Mark>;
}

/** Attempts of the last hour by five minutes: failed ones stand on delivered ones. */
function HourLine({ lastHour: { delivered, failed } }: Pick<Health, "lastHour">) {
  return (
    <Bars
      label={`the last hour by five minutes: ${reported("delivered", delivered)}, ${reported("failed", failed)}`}
      slots={delivered.length}
      bars={delivered.map((count, at) => [
        { tone: "good", count },
        { tone: "bad", count: failed[at] ?? 0 },
      ])}
    />
  );
}

/** `472 delivered, at most 48`. */
function reported(what: string, counts: readonly number[]): string {
  const sum = counts.reduce((all, count) => all + count, 0);
  return sum === 0 ? `none ${what}` : `${countOf(sum)} ${what}, at most ${countOf(Math.max(...counts))}`;
}
