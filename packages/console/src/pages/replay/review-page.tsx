/**
 * The dead letters that would be sent again, counted before anything is sent.
 *
 * PV1  The counted dead letters are sent: the plan is started, never the filter.
 * PV2  Above 10,000 the name of their destination is typed first; where they are of several, their number.
 */
import { useQuery } from "@tanstack/react-query";
import { useRouter, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Operations, ReplayStart } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { commandOf } from "../../dead-letters/dead-letter-filter.ts";
import { inputOf, REPLAY_FILTERS, type ReplayFilterKey, reviewOf } from "../../dead-letters/replay-filter.ts";
import { Button } from "../../elements/button.tsx";
import { Checked } from "../../elements/checked.tsx";
import type { Filter } from "../../listing/filter.ts";
import { FilterBar } from "../../listing/filter-bar.tsx";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { MomentText } from "../../moment/moment-text.tsx";
import { countOf } from "../../moment/numbers.ts";
import { useNames } from "../../names/names.ts";
import { ResendButton } from "../../resend/resend-button.tsx";
import { PageTitle } from "../../status/page-title.tsx";
import { useCounting } from "./counting.tsx";
import { PlanCounts } from "./plan-counts.tsx";
import styles from "./replay.module.css";
import { skippedWords } from "./skipped.ts";
import { StartForm } from "./start-form.tsx";

/** The most that one page may hold. */
const MOST_GROUPS = 200;

export function ReviewPage() {
  const filter = useSearch({ from: "/replay" });
  const query = useQuery({
    queryKey: ["POST /v1/replays", filter],
    queryFn: ({ signal }) => call("POST /v1/replays", { body: inputOf(filter), signal }),
    // A plan holds while the page is open: counted anew it would be another.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const counting = useCounting(inputOf(filter), query.isFetching);
  const span = useSpan(filter);
  const { again: _, ...deadLetters } = filter;
  return (
    <>
      <PageTitle>Replay</PageTitle>
      <h1>Replay</h1>
      <FilterBar fields={REPLAY_FILTERS} filter={filter} />
      <Loaded
        query={query}
        what="count"
        isNamed
        isAwaited={span === undefined}
        meanwhile={counting}
        isEmpty={({ matched }) => matched === 0}
        empty={
          <Empty
            action={
              <>
                <SkippedPart plan={query.data} filter={filter} />
                <a href="/dead-letters">All dead letters</a>
              </>
            }
            command={commandOf(deadLetters, "replay", "--dry-run")}
          >
            No dead letter that fits is left to send.
          </Empty>
        }
      >
        {(plan) => (
          <Plan
            {...{ plan, filter, counting, span: span ?? null, isCounting: query.isFetching }}
            onCountAnew={() => void query.refetch()}
          />
        )}
      </Loaded>
    </>
  );
}

interface PlanProps {
  readonly plan: ReplayStart;
  readonly filter: Filter<ReplayFilterKey>;
  /** It is counted anew; this one can be started still. */
  readonly isCounting: boolean;
  /** How far that is, where there is anything to tell. */
  readonly counting: ReactNode;
  readonly span: Span | null;
  readonly onCountAnew: () => void;
}

function Plan({ plan, filter, isCounting, counting, span, onCountAnew }: PlanProps) {
  const nameOf = useNames();
  const { matched, countedAt, expiresAt, counts, samples } = plan;
  const destinationIds = [...new Set(counts.map(({ destinationId }) => destinationId))];
  const [only] = destinationIds;
  const target = destinationIds.length === 1 && only !== undefined ? nameOf(only) : null;
  return (
    <div data-state="live" className={styles["review"]}>
      <section aria-label="Count" className={styles["summary"]}>
        <p className={styles["count"]}>
          <strong>{matched.toLocaleString("en-GB")}</strong> {matched === 1 ? "dead letter" : "dead letters"} to{" "}
          {target ?? `${destinationIds.length} destinations`}
        </p>
        {span !== null && (
          <p>
            What fits died{" "}
            {span.from === span.to ? (
              "at "
            ) : (
              <>
                from <MomentText at={span.from} isShort /> to{" "}
              </>
            )}
            <MomentText at={span.to} isShort withDistance />.
          </p>
        )}
        <SkippedPart plan={plan} filter={filter} />
        {expiresAt !== null && (
          <p className={styles["detail"]}>
            Only {matched === 1 ? "this one is" : `these ${countOf(matched)} are`} sent; failures after{" "}
            <MomentText at={countedAt} /> are not included. The count holds until <MomentText at={expiresAt} />.{" "}
            <Button look="quiet" isPending={isCounting} onPress={onCountAnew}>
              Count anew
            </Button>
          </p>
        )}
        {counting}
      </section>
      <StartForm key={plan.plan} plan={plan} target={target} />
      <PlanCounts counts={counts} nameOf={nameOf} matched={matched} />
      <PlanSamples samples={samples} />
    </div>
  );
}

/** The dead letters that fit and are not sent, with the reasons; those sent before can be included. */
function SkippedPart({
  plan,
  filter,
}: {
  readonly plan: ReplayStart | undefined;
  readonly filter: Filter<ReplayFilterKey>;
}) {
  const router = useRouter();
  if (plan === undefined) return null;
  const words = skippedWords(plan.leftOut);
  const isAgain = filter.again !== undefined;
  const { deliveredSince, replayedBefore } = plan.leftOut;
  const { again: _, ...others } = filter;
  return (
    <>
      <p>{words === "" ? "Nothing that fits is left out." : `Left out: ${words}.`}</p>
      {(isAgain || deliveredSince + replayedBefore > 0) && (
        <Checked
          isSelected={isAgain}
          onChange={(isOn) => router.history.replace(reviewOf(isOn ? { ...others, again: "true" } : others))}
        >
          Also those that were delivered or replayed since
        </Checked>
      )}
    </>
  );
}

/** Samples of the counted dead letters; one can be sent alone first, to see the receiver's answer. */
function PlanSamples({ samples }: Pick<ReplayStart, "samples">) {
  const [first] = samples;
  return (
    <section aria-label="Samples" className={styles["part"]}>
      <h2>Samples</h2>
      <ul className={styles["samples"]}>
        {samples.map(({ place, time, messageId, type, reason }) => (
          <li key={place}>
            <MomentText at={time} />
            <span>
              {type}, {reason.replaceAll("_", " ")}
            </span>
            <a href={`/events/${encodeURIComponent(messageId)}`}>
              <code>{messageId}</code>
            </a>
          </li>
        ))}
      </ul>
      {first !== undefined && (
        <ResendButton delivery={{ messageId: first.messageId, destinationId: first.destinationId }} isOnce>
          Send one first
        </ResendButton>
      )}
    </section>
  );
}

interface Span {
  readonly from: string;
  readonly to: string;
}

/** When the first and the last fitting dead letters died; undefined while it is not known, null where it cannot be. */
function useSpan({ again: _, ...filter }: Filter<ReplayFilterKey>): Span | null | undefined {
  // Control reports values of the address that do not fit.
  const query = { ...(filter as Operations["GET /v1/dead-letters/groups"]["query"]), limit: MOST_GROUPS };
  const { data, isPending } = useQuery(asked("GET /v1/dead-letters/groups", { query }));
  if (isPending) return undefined;
  const [first] = data?.data ?? [];
  if (data === undefined || first === undefined || data.nextCursor !== null) return null;
  const ends = { from: first.firstAt, to: first.lastAt };
  for (const { firstAt, lastAt } of data.data) {
    if (Date.parse(firstAt) < Date.parse(ends.from)) ends.from = firstAt;
    if (Date.parse(lastAt) > Date.parse(ends.to)) ends.to = lastAt;
  }
  return ends;
}
