/**
 * The health of a destination: its state, since when and why, each URL, the next step, the waiting deliveries; and that
 * over time.
 */
import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import type { DestinationHealth } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { reviewOf } from "../../dead-letters/replay-filter.ts";
import { ActionLink } from "../../elements/action-link.tsx";
import { Fact } from "../../elements/fact.tsx";
import { shortUrl } from "../../elements/short-text.ts";
import { searchOf } from "../../listing/filter.ts";
import { Freshness } from "../../listing/freshness.tsx";
import { Loaded } from "../../listing/loaded.tsx";
import { useLive, usePausable } from "../../live/live.ts";
import { useThrottled } from "../../live/throttled.ts";
import { spanOf } from "../../moment/moment.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { countOf, rateOf } from "../../moment/numbers.ts";
import { HEALTH_WORDS, shareOf } from "../../status/health-words.ts";
import { Mark } from "../../verdict/mark.tsx";
import styles from "./health.module.css";
import { HealthSeries } from "./health-series.tsx";
import { UrlLines } from "./url-lines.tsx";

/** Counts go on though no state changes. */
const AGAIN_MS = 5000;
const LEAST_BETWEEN_MS = 1000;

export function HealthPart({ destinationId }: { readonly destinationId: string }) {
  const query = useQuery({
    ...asked("GET /v1/health/destinations/{id}", { params: { id: destinationId } }),
    refetchInterval: usePausable(AGAIN_MS),
  });
  const look = useThrottled(() => query.refetch(), LEAST_BETWEEN_MS);
  useLive({ topics: ["health"], filter: { destinationId }, onRows: look, onGap: look });
  return (
    <>
      <Loaded query={query} what="health" rows={4}>
        {(health) => <Now health={health} />}
      </Loaded>
      <HealthSeries destinationId={destinationId} />
    </>
  );
}

function Now({ health }: { readonly health: DestinationHealth }) {
  const { destinationId, state, since, deliversAgainSince, urls, deadLetters, asOf, complete } = health;
  const [words, tone] = HEALTH_WORDS[state];
  return (
    <>
      <section aria-label="Now" className={styles["now"]}>
        <p className={styles["state"]}>
          <Mark tone={tone}>{words}</Mark>
          {since !== null && (
            <>
              {" since "}
              <MomentText at={since} isShort withDistance />
            </>
          )}
          {deliversAgainSince !== null && (
            <>
              {": over 5 % of the last five minutes failed; it has delivered again since "}
              <MomentText at={deliversAgainSince} isShort withDistance />
            </>
          )}
        </p>
        <Why health={health} />
        <Figures health={health} />
        {deadLetters !== null && deadLetters > 0 && (
          <div>
            <ActionLink href={reviewOf({ destinationId })}>Replay {countOf(deadLetters)}…</ActionLink>
          </div>
        )}
      </section>
      <Waiting health={health} />
      <UrlLines urls={urls} />
      <Freshness asOf={asOf} complete={complete} />
    </>
  );
}

/** On a line: `503 from https://acme.example/hook (URL 1 of 2) · timeouts 12 % of 5 m · next retry … · gives up …`. */
function Why({ health }: { readonly health: DestinationHealth }) {
  const { state, reason, urls, timeouts, nextRetry, givesUp } = health;
  const all = urls.map(({ url }) => url);
  const parts = [
    reason !== null && state !== "healthy" && (
      <>
        <strong>{reason.error ?? reason.status ?? "no answer"}</strong> from{" "}
        <code title={reason.url}>{shortUrl(reason.url, all)}</code>
        {all.length > 1 && ` (URL ${all.indexOf(reason.url) + 1} of ${all.length})`}
      </>
    ),
    timeouts !== null && `timeouts ${shareOf(timeouts)} of 5 m`,
    nextRetry !== null && (
      <>
        next retry <MomentText at={nextRetry} isShort withDistance />
      </>
    ),
    givesUp !== null && (
      <>
        gives up <MomentText at={givesUp.first} isShort />
        {givesUp.last !== givesUp.first && (
          <>
            –<MomentText at={givesUp.last} isShort />
          </>
        )}
      </>
    ),
  ].filter((part) => part !== false);
  return (
    <p className={styles["why"]}>
      {parts.map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: each stands for itself, and in this order
        <Fragment key={at}>
          {at > 0 && " · "}
          {part}
        </Fragment>
      ))}
    </p>
  );
}

function Figures({ health }: { readonly health: DestinationHealth }) {
  const { destinationId, success, successOfHour, p50Ms, p99Ms, inFlight, deadLetters, deliveredSince } = health;
  const dead = deadLetters === null ? "–" : countOf(deadLetters);
  const since = deliveredSince ?? 0;
  return (
    <dl className={styles["figures"]}>
      <Fact name="success, 5 m">{shareOf(success)}</Fact>
      <Fact name="success, 1 h">{shareOf(successOfHour)}</Fact>
      <Fact name="p50">{rateOf(p50Ms)} ms</Fact>
      <Fact name="p99">{rateOf(p99Ms)} ms</Fact>
      <Fact name="in flight">{countOf(inFlight)}</Fact>
      <Fact name="dead letters">
        {deadLetters === 0 && since === 0 ? (
          dead
        ) : (
          <a href={`/dead-letters/letters${searchOf({ destinationId })}`}>
            {since === 0 ? dead : `${dead}, ${countOf(since)} delivered since`}
          </a>
        )}
      </Fact>
    </dl>
  );
}

/** The waiting deliveries, by their retry topic. */
function Waiting({ health: { waiting } }: { readonly health: DestinationHealth }) {
  if (waiting === null) return null;
  const { total, topics, deferred, inProcess } = waiting;
  return (
    <section aria-label="Waiting" className={styles["part"]}>
      <h2>Waiting: {countOf(total)}</h2>
      {total > 0 && (
        <dl className={styles["tiers"]}>
          {topics.map(({ delayMs, count }) => (
            <Fact key={delayMs} name={spanOf(delayMs)}>
              {countOf(count)}
            </Fact>
          ))}
          <Fact name="deferred">{countOf(deferred)}</Fact>
          <Fact name="in process">{countOf(inProcess)}</Fact>
        </dl>
      )}
    </section>
  );
}
