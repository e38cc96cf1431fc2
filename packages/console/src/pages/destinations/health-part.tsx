/** How a destination is: its state, since when and why, each URL, what comes next, what waits; and that over time. */
import { useQuery } from "@tanstack/react-query";
import type { DestinationHealth } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { ActionLink } from "../../elements/action-link.tsx";
import { Fact } from "../../elements/fact.tsx";
import { reviewOf } from "../../letters/replay-filter.ts";
import { searchOf } from "../../listing/filter.ts";
import { Freshness } from "../../listing/freshness.tsx";
import { Loaded } from "../../listing/loaded.tsx";
import { useLive, usePausable } from "../../live/live.ts";
import { useThrottled } from "../../live/throttled.ts";
import { spanOf } from "../../moment/moment.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { countOf, rateOf } from "../../moment/numbers.ts";
import { HEALTH_WORDS, shareOf } from "../../status/health-words.ts";
import type { Tone } from "../../verdict/cause.ts";
import { Mark } from "../../verdict/mark.tsx";
import styles from "./health.module.css";
import { HealthSeries } from "./health-series.tsx";

/** Counts go on though no state changes. */
const AGAIN_MS = 5000;
const LEAST_BETWEEN_MS = 1000;

const BREAKERS: Readonly<Record<DestinationHealth["urls"][number]["breaker"], Tone>> = {
  ...{ closed: "good", open: "bad", half_open: "waiting", other: "off" },
};

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
  const { destinationId, state, since, reason, urls, deadLetters, asOf, complete } = health;
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
          {reason !== null && state !== "healthy" && (
            <>
              : <strong>{reason.status ?? reason.error ?? "no answer"}</strong> from <code>{reason.url}</code>
              {urls.length > 1 && ` (URL ${urls.findIndex(({ url }) => url === reason.url) + 1} of ${urls.length})`}
            </>
          )}
        </p>
        <Figures health={health} />
        {deadLetters !== null && deadLetters > 0 && (
          <div>
            <ActionLink href={reviewOf({ destinationId })}>Replay {countOf(deadLetters)}…</ActionLink>
          </div>
        )}
      </section>
      <Waiting health={health} />
      <Urls urls={urls} />
      <Freshness asOf={asOf} complete={complete} />
    </>
  );
}

function Figures({ health }: { readonly health: DestinationHealth }) {
  const { destinationId, success, successOfHour, p50Ms, p99Ms, inFlight, nextProbe, nextRetry, deadLetters } = health;
  const { timeouts, givesUp } = health;
  const dead = deadLetters === null ? "–" : countOf(deadLetters);
  return (
    <dl className={styles["figures"]}>
      <Fact name="success, 5 m">{shareOf(success)}</Fact>
      <Fact name="success, 1 h">{shareOf(successOfHour)}</Fact>
      <Fact name="p50">{rateOf(p50Ms)} ms</Fact>
      <Fact name="p99">{rateOf(p99Ms)} ms</Fact>
      <Fact name="timeouts, 5 m">{shareOf(timeouts)}</Fact>
      <Fact name="in flight">{countOf(inFlight)}</Fact>
      <Fact name="dead letters">
        {deadLetters === 0 ? dead : <a href={`/dead-letters/letters${searchOf({ destinationId })}`}>{dead}</a>}
      </Fact>
      {nextProbe !== null && (
        <Fact name="next probe">
          <MomentText at={nextProbe} isShort withDistance />
        </Fact>
      )}
      {nextRetry !== null && (
        <Fact name="next retry">
          <MomentText at={nextRetry} isShort withDistance />
        </Fact>
      )}
      {givesUp !== null && (
        <Fact name="gives up">
          <MomentText at={givesUp.first} isShort />
          {givesUp.last !== givesUp.first && (
            <>
              {" to "}
              <MomentText at={givesUp.last} isShort />
            </>
          )}
        </Fact>
      )}
    </dl>
  );
}

/** What waits, by the retry topic that it waits in. */
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

function Urls({ urls }: Pick<DestinationHealth, "urls">) {
  return (
    <section aria-label="URLs" className={styles["part"]}>
      <h2>URLs</h2>
      <ul className={styles["urls"]}>
        {urls.map(({ url, breaker, openSince, nextProbe, notBefore, answer, inFlight, failures }) => (
          <li key={url}>
            <code>{url}</code>
            <Mark tone={BREAKERS[breaker]}>{`breaker ${breaker.replace("_", " ")}`}</Mark>
            <span className={styles["detail"]}>
              {answer === null ? (
                "no answer yet"
              ) : (
                <>
                  last <strong>{answer.status ?? answer.error ?? "no answer"}</strong>{" "}
                  <MomentText at={answer.time} isShort />, {rateOf(answer.durationMs)} ms
                </>
              )}
              {openSince !== null && (
                <>
                  {"; open since "}
                  <MomentText at={openSince} isShort />
                </>
              )}
              {nextProbe !== null && (
                <>
                  {"; next probe "}
                  <MomentText at={nextProbe} isShort withDistance />
                </>
              )}
              {notBefore !== null && (
                <>
                  {"; asked to wait until "}
                  <MomentText at={notBefore} isShort />
                </>
              )}
              {`; ${countOf(inFlight)} in flight`}
              {failures.length > 0 && `; failed in the last hour: ${failureWords(failures)}`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** `503 × 981, timeout × 120`. */
function failureWords(failures: DestinationHealth["urls"][number]["failures"]): string {
  return failures.map(({ answer, count }) => `${answer} × ${countOf(count)}`).join(", ");
}
