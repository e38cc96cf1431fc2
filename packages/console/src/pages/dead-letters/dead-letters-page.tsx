/** Deliveries given up, by destination, reason and error, the largest group first, with the remedy. */
import { type UseInfiniteQueryResult, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { GridList, GridListItem } from "react-aria-components";
import type { DeadLetterGroupPage } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { Bars } from "../../chart/bars.tsx";
import type { DeadLetterFilterKey } from "../../dead-letters/dead-letter-filter.ts";
import { reviewOf } from "../../dead-letters/replay-filter.ts";
import { ActionLink } from "../../elements/action-link.tsx";
import { Button } from "../../elements/button.tsx";
import { type Filter, searchOf } from "../../listing/filter.ts";
import { Freshness } from "../../listing/freshness.tsx";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { usePausable } from "../../live/live.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { countOf } from "../../moment/numbers.ts";
import { useNames } from "../../names/names.ts";
import { readHealth, useHealthOf } from "../../status/health-of.ts";
import { PageTitle } from "../../status/page-title.tsx";
import { Mark } from "../../verdict/mark.tsx";
import styles from "./dead-letters-page.module.css";
import { UnreadablePart } from "./unreadable-part.tsx";

const HOUR_MS = 3_600_000;

/** The newest hours that are drawn. */
const MOST_HOURS = 48;

interface Group extends Counted {
  /** See `readHealth`. */
  readonly together: string;
}

type Counted = DeadLetterGroupPage["data"][number];

/** How often the groups are counted anew. */
const AGAIN_MS = 15_000;

/** Groups on the page at first, and those that each "more" adds: a thousand failing destinations have thousands. */
const PAGE = 50;

/** More make a browser slow, and each is counted anew with the rest. */
const MOST_GROUPS = 200;

export function DeadLettersPage() {
  const client = useQueryClient();
  const query = useInfiniteQuery({
    queryKey: ["GET /v1/dead-letters/groups", "so far"],
    queryFn: async ({ pageParam: cursor, signal }) => {
      const page = await call("GET /v1/dead-letters/groups", { query: { limit: PAGE, cursor }, signal });
      const failed = page.data.filter(({ endsWithAnswer }) => endsWithAnswer);
      const together = await readHealth(
        client,
        failed.map(({ destinationId }) => destinationId),
      );
      return { ...page, data: page.data.map((group) => ({ ...group, together })) };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    refetchInterval: usePausable(AGAIN_MS),
    gcTime: 0,
  });
  const nameOf = useNames();
  return (
    <>
      <PageTitle>Dead letters</PageTitle>
      <h1>Dead letters</h1>
      <Loaded
        query={query}
        what="dead letters"
        isNamed
        isEmpty={({ pages }) => groupsOf(pages).length === 0}
        empty={<Empty command="posthaste dead-letters list">Nothing was given up: no delivery needs you.</Empty>}
      >
        {({ pages }) => (
          <div data-state="live">
            <Freshness asOf={pages[0]?.asOf ?? null} complete={pages[0]?.complete ?? true} />
            <GridList aria-label="dead letters">
              {groupsOf(pages).map((group) => (
                <GridListItem
                  key={keyOf(group)}
                  id={keyOf(group)}
                  textValue={`${nameOf(group.destinationId)} ${wordsOf(group.reason)} ${group.error ?? ""}`}
                  href={`/dead-letters/letters${searchOf(filterOf(group))}`}
                  className={styles["row"] ?? ""}
                >
                  <GroupRow group={group} name={nameOf(group.destinationId)} />
                </GridListItem>
              ))}
            </GridList>
            {query.hasNextPage && <More query={query} shown={groupsOf(pages).length} all={pages[0]?.groups ?? 0} />}
          </div>
        )}
      </Loaded>
      <UnreadablePart />
    </>
  );
}

interface MoreProps {
  readonly query: Pick<UseInfiniteQueryResult, "fetchNextPage" | "isFetchingNextPage">;
  readonly shown: number;
  readonly all: number;
}

function More({ query, shown, all }: MoreProps) {
  const left = Math.max(1, all - shown);
  if (shown >= MOST_GROUPS) {
    return (
      <p className={styles["detail"]}>
        {`The ${MOST_GROUPS} largest groups stand here; `}
        <code>posthaste dead-letters groups</code>
        {` has the ${countOf(left)} smaller ones too.`}
      </p>
    );
  }
  return (
    <Button onPress={() => void query.fetchNextPage()} isPending={query.isFetchingNextPage}>
      {`More: ${countOf(left)} smaller groups`}
    </Button>
  );
}

/** Of all pages, each once: one that grew between two pages was on both. */
function groupsOf(pages: readonly { readonly data: readonly Group[] }[]): readonly Group[] {
  return [...new Map(pages.flatMap(({ data }) => data).map((group) => [keyOf(group), group])).values()];
}

function GroupRow({ group, name }: { readonly group: Group; readonly name: string }) {
  const { reason, reasonClass, error, open, deliveredSince, firstAt, lastAt, hours, remedy } = group;
  // A replay leaves out the events of a suppressed user.
  const isOpen = open > 0 && reason !== "suppressed";
  return (
    <div className={styles["group"]}>
      <strong className={styles["name"]}>{name}</strong>
      <span>
        <Mark tone={isOpen ? "bad" : "off"}>{wordsOf(reason)}</Mark> {error}
      </span>
      <span className={styles["count"]}>
        {countOf(open)}
        <span className={styles["unit"]}> {open === 1 ? "dead letter" : "dead letters"}</span>
      </span>
      <span className={styles["detail"]}>
        {firstAt !== lastAt && (
          <>
            <MomentText at={firstAt} /> –{" "}
          </>
        )}
        <MomentText at={lastAt} withDistance />
      </span>
      <HourBars hours={hours} />
      <span className={styles["remedy"]}>
        {isOpen ? `${reasonClass}: ${remedy}` : remedy}
        {group.endsWithAnswer && open > 0 && <Mended group={group} />}
        {deliveredSince > 0 && `; ${deliveredWords(group)}`}
      </span>
      <span className={styles["review"]}>
        {isOpen && reasonClass === "configuration" && (
          <ActionLink
            href={`/destinations/${group.destinationId}${searchOf({ tab: "settings" })}`}
            label={`Open settings of ${name}`}
          >
            Open settings
          </ActionLink>
        )}
        {isOpen && <ActionLink href={reviewOf(filterOf(group))}>Review and replay</ActionLink>}
      </span>
    </div>
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

function keyOf({ destinationId, reason, reasonClass, error }: Counted): string {
  return JSON.stringify([destinationId, reason, reasonClass, error]);
}

function filterOf({ destinationId, reason, error }: Counted): Filter<DeadLetterFilterKey> {
  return { destinationId, reason, ...(error === null ? {} : { error }) };
}

export function wordsOf(reason: Counted["reason"]): string {
  return reason.replaceAll("_", " ");
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
