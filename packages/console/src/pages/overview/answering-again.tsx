import { useQueries, useQuery } from "@tanstack/react-query";
import type { DeadLetterGroupPage, DestinationHealth, ReplayPage, Status } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { endsWithAnswer } from "../../dead-letters/mended.ts";
import { ActionLink } from "../../elements/action-link.tsx";
import { searchOf } from "../../listing/filter.ts";
import { Awaited } from "../../listing/loaded.tsx";
import { usePausable } from "../../live/live.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { countOf } from "../../moment/numbers.ts";
import styles from "./overview-page.module.css";

const AGAIN_MS = 15_000;
/** At a time: the next ones come when these were seen to. */
const MOST_SHOWN = 3;
/** The most that one page may hold: destinations with the most losses are named in the largest groups. */
const PAGE = 200;

interface LostSince {
  readonly destinationId: string;
  readonly count: number;
  readonly firstAt: string;
  readonly lastAt: string;
}

/** Destinations that deliver again after they had dead letters die, which nobody replayed since. */
export function AnsweringAgain({ status: { needsSomebody } }: { readonly status: Status }) {
  const refetchInterval = usePausable(AGAIN_MS);
  const groups = useQuery({
    ...asked("GET /v1/dead-letters/groups", { query: { limit: PAGE } }),
    refetchInterval,
  });
  const replays = useQuery({ ...asked("GET /v1/replays", {}), refetchInterval });
  const failing = new Set(needsSomebody.map(({ destinationId }) => destinationId));
  const named =
    groups.data === undefined || replays.data === undefined
      ? []
      : lostAt(groups.data, replays.data)
          .filter(({ destinationId }) => !failing.has(destinationId))
          .slice(0, MOST_SHOWN);
  // Of each all groups, whatever page of the largest they stand on.
  const whole = useQueries({
    queries: named.map(({ destinationId }) => ({
      ...asked("GET /v1/dead-letters/groups", { query: { destinationId, limit: PAGE } }),
      refetchInterval,
    })),
  });
  const health = useQueries({
    queries: named.map(({ destinationId }) => ({
      ...asked("GET /v1/health/destinations/{id}", { params: { id: destinationId } }),
      retry: false,
    })),
  });
  const isAwaited = [groups, replays, ...whole, ...health].some(({ isPending }) => isPending);
  if (isAwaited) return <Awaited />;
  return named.map(({ destinationId }, index) => {
    const [known, deadLetters] = [health[index]?.data, whole[index]?.data];
    if (known === undefined || deadLetters === undefined || replays.data === undefined) return null;
    const lost = lostAt(deadLetters, replays.data).find((each) => each.destinationId === destinationId);
    if (lost === undefined || !isAgainSince(known, lost)) return null;
    return <Banner key={destinationId} lost={lost} health={known} />;
  });
}

function Banner({ lost, health }: { readonly lost: LostSince; readonly health: DestinationHealth }) {
  const { destinationId, count, firstAt, lastAt } = lost;
  const until = new Date(Date.parse(lastAt) + 1).toISOString();
  return (
    <section className={styles["banner"]} aria-label={`${health.name} answers again`}>
      <p>
        <strong>{health.name}</strong> answers 2xx again
        {health.since !== null && (
          <>
            {" since "}
            <MomentText at={health.since} isShort withDistance />
          </>
        )}
        . <strong>{countOf(count)}</strong> dead letter{count === 1 ? "" : "s"} since{" "}
        <MomentText at={firstAt} isShort /> can be sent again.
      </p>
      <ActionLink href={`/replay${searchOf({ destinationId, since: firstAt, until })}`} look="primary">
        Review
      </ActionLink>
    </section>
  );
}

/** It is healthy, and since it is, no dead letter was written. */
function isAgainSince({ state, since }: DestinationHealth, { lastAt }: LostSince): boolean {
  return state === "healthy" && (since === null || Date.parse(since) >= Date.parse(lastAt));
}

/** By destination, the most first; dead letters of a later replay are somebody's already. */
function lostAt({ data }: DeadLetterGroupPage, { data: replays }: ReplayPage): readonly LostSince[] {
  const byDestination = new Map<string, LostSince>();
  for (const { destinationId, reason, open: count, hours, lastAt, ...group } of data) {
    if (!endsWithAnswer(reason) || count === 0) continue;
    // Dead letters from before the first hour with open ones were delivered since.
    const openFrom = hours.find(({ open }) => open > 0)?.at ?? group.firstAt;
    const firstAt = openFrom > group.firstAt ? openFrom : group.firstAt;
    const known = byDestination.get(destinationId);
    byDestination.set(destinationId, {
      destinationId,
      count: count + (known?.count ?? 0),
      firstAt: [firstAt, known?.firstAt ?? firstAt].sort()[0] ?? firstAt,
      lastAt: [lastAt, known?.lastAt ?? lastAt].sort()[1] ?? lastAt,
    });
  }
  const isReplayed = ({ destinationId, lastAt }: LostSince): boolean =>
    replays.some(
      ({ createdAt, filter, state }) =>
        state !== "planned" &&
        (filter.destinationId ?? destinationId) === destinationId &&
        Date.parse(createdAt) > Date.parse(lastAt),
    );
  return [...byDestination.values()].filter((each) => !isReplayed(each)).sort((a, b) => b.count - a.count);
}
