/** The columns of the groups of dead letters. */
import { Bars } from "../../chart/bars.tsx";
import { reasonWords } from "../../dead-letters/reason-words.ts";
import { reviewOf } from "../../dead-letters/replay-filter.ts";
import { ActionLink } from "../../elements/action-link.tsx";
import type { Column } from "../../listing/column.ts";
import { searchOf } from "../../listing/filter.ts";
import { Ago, MomentText } from "../../moment/moment-text.tsx";
import { countOf } from "../../moment/numbers.ts";
import { useHealthOf } from "../../status/health-of.ts";
import { Mark } from "../../verdict/mark.tsx";
import { filterOf, type Group, isSuppressed } from "./dead-letter-groups.ts";
import styles from "./dead-letters-page.module.css";

const HOUR_MS = 3_600_000;

/** The newest hours that are drawn. */
const MOST_HOURS = 48;

export function groupColumns(nameOf: (id: string) => string): readonly Column<Group>[] {
  return [
    {
      ...{ key: "destination", heading: "Destination", narrow: "title" },
      wholeOf: ({ destinationId }) => nameOf(destinationId),
      cell: ({ destinationId }) => <strong>{nameOf(destinationId)}</strong>,
    },
    { key: "reason", heading: "Reason", narrow: "line", wraps: true, cell: (group) => <Reason group={group} /> },
    { key: "open", heading: "Open", narrow: "labelled", isFigure: true, cell: ({ open }) => countOf(open) },
    { key: "last", heading: "Last failed", narrow: "side", wraps: true, cell: (group) => <Times group={group} /> },
    { key: "hours", heading: "By the hour", narrow: "hidden", cell: ({ hours }) => <HourBars hours={hours} /> },
    {
      ...{ key: "actions", heading: "Actions", isHeadingHeard: true, narrow: "line", wraps: true },
      cell: (group) => <Actions group={group} name={nameOf(group.destinationId)} />,
    },
  ];
}

/** A replay leaves out the events of a suppressed user. */
function isOpen(group: Group): boolean {
  return group.open > 0 && !isSuppressed(group);
}

function Reason({ group }: { readonly group: Group }) {
  return (
    <>
      <Mark tone={isOpen(group) ? "bad" : "off"}>{reasonWords(group.reason)}</Mark> {group.error}
      <Remedy group={group} />
    </>
  );
}

/** The last failure; the first one is said where it is another. */
function Times({ group: { firstAt, lastAt } }: { readonly group: Group }) {
  return (
    <>
      <Ago at={lastAt} />
      {firstAt !== lastAt && (
        <span className={styles["remedy"]}>
          {"first "}
          <Ago at={firstAt} />
        </span>
      )}
    </>
  );
}

function Remedy({ group }: { readonly group: Group }) {
  const { reasonClass, remedy, open, deliveredSince } = group;
  return (
    <span className={styles["remedy"]}>
      {isOpen(group) ? `${reasonClass}: ${remedy}` : remedy}
      {group.endsWithAnswer && open > 0 && <Mended group={group} />}
      {deliveredSince > 0 && `; ${deliveredWords(group)}`}
    </span>
  );
}

function Actions({ group, name }: { readonly group: Group; readonly name: string }) {
  if (!isOpen(group)) return null;
  return (
    <span className={styles["actions"]}>
      {group.reasonClass === "configuration" && (
        <ActionLink
          href={`/destinations/${group.destinationId}${searchOf({ tab: "settings" })}`}
          label={`Open settings of ${name}`}
        >
          Open settings
        </ActionLink>
      )}
      <ActionLink href={reviewOf(filterOf(group))}>Review and replay</ActionLink>
    </span>
  );
}

function deliveredWords({ open, deliveredSince }: Group): string {
  const more = open > 0 ? " more" : "";
  return `${countOf(deliveredSince)}${more} ${deliveredSince === 1 ? "was" : "were"} delivered since`;
}

/**
 * Whether it answers again: it is healthy, or fails only by older attempts and delivers now, and none of these died
 * since.
 */
function Mended({ group: { destinationId, lastAt, together } }: { readonly group: Group }) {
  const health = useHealthOf(destinationId, together);
  if (health === undefined || (health.state !== "healthy" && health.deliversAgainSince === null)) return null;
  const since = health.deliversAgainSince ?? health.since;
  if (since === null) return <>; it answers now</>;
  if (Date.parse(since) < Date.parse(lastAt)) return null;
  return (
    <>
      ; it answers again since <MomentText at={since} isShort withDistance />
    </>
  );
}

interface HourBarsProps {
  /** The hours in which something happened, oldest first. */
  readonly hours: readonly { readonly at: string; readonly count: number }[];
}

/** A bar an hour up to the last one in which something happened. */
function HourBars({ hours }: HourBarsProps) {
  const last = Date.parse(hours.at(-1)?.at ?? "");
  const counts = new Map(hours.map(({ at, count }) => [Date.parse(at), count]));
  const first = Math.max(Date.parse(hours[0]?.at ?? ""), last - (MOST_HOURS - 1) * HOUR_MS);
  const drawn = Number.isNaN(first) ? 0 : Math.round((last - first) / HOUR_MS) + 1;
  const bars = Array.from({ length: drawn }, (_, hour) => counts.get(first + hour * HOUR_MS) ?? 0);
  return (
    <Bars
      label={`by the hour, ${drawn} h: at most ${Math.max(0, ...bars)} an hour`}
      slots={MOST_HOURS}
      bars={bars.map((count) => [{ tone: "bad", count }])}
    />
  );
}
