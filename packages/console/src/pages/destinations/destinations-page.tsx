/** Where events go, and how each is. */
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import type { Destination, DestinationHealth, Operations } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { Bars } from "../../chart/bars.tsx";
import elements from "../../elements/elements.module.css";
import { FilterBar } from "../../listing/filter-bar.tsx";
import { Empty } from "../../listing/loaded.tsx";
import { PagedList } from "../../listing/paged-list.tsx";
import { usePausable } from "../../live/live.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { countOf, rateOf } from "../../moment/numbers.ts";
import { allDestinations, useSourceNaming } from "../../names/names.ts";
import { ConnectLink } from "../../session/connect-link.tsx";
import { HEALTH_KEY, readHealth, useHealthOf } from "../../status/health-of.ts";
import { HEALTH_WORDS, shareOf } from "../../status/health-words.ts";
import { PageTitle } from "../../status/page-title.tsx";
import type { Tone } from "../../verdict/cause.ts";
import { Mark } from "../../verdict/mark.tsx";
import { DESTINATIONS_FILTERS } from "./destinations-filter.ts";
import styles from "./destinations-page.module.css";

type HealthQuery = Pick<Operations["GET /v1/health/destinations"]["query"], "state" | "name">;

/** How often it is looked how they are. */
const AGAIN_MS = 5000;

export function DestinationsPage() {
  const filter = useSearch({ from: "/destinations" });
  const isFiltered = Object.keys(filter).length > 0;
  const { nameOf, isSettled } = useSourceNaming();
  const client = useQueryClient();
  useHealthAgain(client);
  return (
    <>
      <PageTitle>Destinations</PageTitle>
      <div className={elements["pageHead"]}>
        <h1>Destinations</h1>
        <ConnectLink look="primary" />
      </div>
      <FilterBar fields={DESTINATIONS_FILTERS} filter={filter} />
      <PagedList
        queryKey={["GET /v1/destinations", filter]}
        read={async ({ signal, ...page }) => {
          const read = isFiltered
            ? await readFitting(client, { query: { ...(filter as HealthQuery), ...page }, signal })
            : await call("GET /v1/destinations", { query: page, signal });
          const together = await readHealth(
            client,
            read.data.map(({ id }) => id),
          );
          return { ...read, data: read.data.map((destination) => ({ destination, together })) };
        }}
        what="destinations"
        isAwaited={!isSettled}
        idOf={({ destination: { id } }) => id}
        textOf={({ destination: { name, enabled } }) => `${name} ${enabled ? "on" : "off"}`}
        linkOf={({ destination: { id } }) => `/destinations/${id}`}
        copyOf={({ destination: { id } }) => id}
        rowClass={styles["destination"]}
        empty={
          isFiltered ? (
            <Empty action={<a href="/destinations">Show all</a>}>No destination fits the filter.</Empty>
          ) : (
            <Empty action={<ConnectLink look="primary" />} command="posthaste destinations create --help">
              There is no destination yet: a webhook that gets the events of your sources.
            </Empty>
          )
        }
      >
        {(row) => <DestinationRow {...row} nameOf={nameOf} />}
      </PagedList>
    </>
  );
}

interface FittingAsked {
  readonly query: HealthQuery & { readonly limit: number; readonly cursor: string | undefined };
  readonly signal: AbortSignal;
}

/**
 * The destinations of a state, or with a part of a name: control finds them by their health, the rest is of the list of
 * all.
 */
async function readFitting(client: QueryClient, { query, signal }: FittingAsked) {
  const page = await call("GET /v1/health/destinations", { query, signal });
  const all = await client.fetchQuery(allDestinations);
  const byId = new Map(all.map((destination) => [destination.id, destination]));
  return { ...page, data: page.data.flatMap(({ destinationId }) => byId.get(destinationId) ?? []) };
}

/** Of all that stand there, again and again. */
function useHealthAgain(client: QueryClient): void {
  const againMs = usePausable(AGAIN_MS);
  useEffect(() => {
    if (againMs === false) return;
    const again = () => void client.refetchQueries({ queryKey: HEALTH_KEY, type: "active" });
    const timer = setInterval(again, againMs);
    return () => clearInterval(timer);
  }, [client, againMs]);
}

interface DestinationRowProps {
  readonly destination: Destination;
  /** See `readHealth`. */
  readonly together: string;
  readonly nameOf: (id: string) => string;
}

function DestinationRow({ destination, together, nameOf }: DestinationRowProps) {
  const health = useHealthOf(destination.id, together);
  const { name, enabled, sourceIds, settings, missingKeyIds } = destination;
  const [words, tone] = health === undefined ? onOrOff(enabled) : HEALTH_WORDS[health.state];
  const { successOfHour = null, p99Ms = null, waiting = null, deadLetters = null, nextRetry = null } = health ?? {};
  return (
    <>
      <strong>{name}</strong>
      {missingKeyIds === null ? (
        <Mark tone={tone}>{words}</Mark>
      ) : (
        <Mark tone="bad">{`lacks the key ${missingKeyIds.join(", ")}`}</Mark>
      )}
      <span className={styles["figure"]}>{shareOf(successOfHour)} of 1 h</span>
      <span className={styles["figure"]}>p99 {rateOf(p99Ms)} ms</span>
      <span className={styles["figure"]}>
        {waiting === null ? "–" : countOf(waiting.total)} waiting
        {nextRetry !== null && (
          <>
            , next <MomentText at={nextRetry} isShort />
          </>
        )}
      </span>
      <span className={styles["figure"]}>{deadLetters === null ? "–" : countOf(deadLetters)} dead</span>
      {health === undefined ? <span /> : <HourLine lastHour={health.lastHour} />}
      <span className={styles["detail"]}>
        from {sourceIds.map(nameOf).join(", ") || "no source"} to{" "}
        <code>{settings.urls.map(({ url }) => url).join(" ")}</code>
      </span>
    </>
  );
}

function onOrOff(enabled: boolean): readonly [words: string, tone: Tone] {
  return enabled ? ["on", "good"] : ["off", "off"];
}

/** Attempts of the last hour by five minutes: failed ones stand on delivered ones. */
function HourLine({ lastHour: { delivered, failed } }: Pick<DestinationHealth, "lastHour">) {
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
