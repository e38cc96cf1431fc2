/** A replay under way: its progress, its speed, its outcomes; and the buttons that stop it. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useRef } from "react";
import { useAgain } from "../../api/again.ts";
import type { Replay } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { CountedBar } from "../../chart/counted-bar.tsx";
import { reviewOf } from "../../dead-letters/replay-filter.ts";
import { Button } from "../../elements/button.tsx";
import { Copied } from "../../elements/copied.tsx";
import elements from "../../elements/elements.module.css";
import { Fact } from "../../elements/fact.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import { searchOf } from "../../listing/filter.ts";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { usePausable } from "../../live/live.ts";
import { spanOf } from "../../moment/moment.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { useNames } from "../../names/names.ts";
import { useMissingScope } from "../../session/session.ts";
import { PageTitle } from "../../status/page-title.tsx";
import type { Tone } from "../../verdict/cause.ts";
import { Mark } from "../../verdict/mark.tsx";
import styles from "./replay.module.css";
import { skippedWords } from "./skipped.ts";

/** Over how long the speed is taken. */
const SPAN_MS = 5000;

/** While it runs. */
const RUNNING_MS = 1000;

/** While some deliveries have no end yet, which is hours where a receiver fails. */
const SETTLING = { leastMs: 5000, mostMs: 60_000 };

const STATES: Readonly<Record<Replay["state"], readonly [words: string, tone: Tone]>> = {
  planned: ["not started", "off"],
  waiting: ["waiting for its turn", "waiting"],
  running: ["running", "waiting"],
  paused: ["paused", "off"],
  cancelled: ["cancelled", "off"],
  done: ["done", "good"],
  failed: ["failed", "bad"],
};

export function ReplayPage() {
  const { replayId } = useParams({ from: "/replays/$replayId" });
  const runningMs = usePausable(RUNNING_MS);
  const settling = useAgain(SETTLING);
  const query = useQuery({
    ...asked("GET /v1/replays/{id}", { params: { id: replayId } }),
    refetchInterval: ({ state }) => runningMs !== false && untilAgainMs(state.data, runningMs, settling()),
  });
  const nameOf = useNames();
  const { data, dataUpdatedAt } = query;
  const { destinationId } = data?.filter ?? {};
  const target = destinationId === undefined ? "" : ` to ${nameOf(destinationId)}`;
  return (
    <>
      <PageTitle>{`Replay${target}`}</PageTitle>
      <div className={elements["pageHead"]}>
        <h1>Replay{target}</h1>
      </div>
      <Loaded
        query={query}
        what="replay"
        rows={3}
        gone={
          <Empty action={<a href="/dead-letters">All dead letters</a>} command="posthaste replays list">
            There is no such replay any more: they are kept for 14 days after their end.
          </Empty>
        }
      >
        {(replay) => <Progress replay={replay} atMs={dataUpdatedAt} />}
      </Loaded>
    </>
  );
}

function untilAgainMs(replay: Replay | undefined, runningMs: number, settlingMs: number): number | false {
  if (replay === undefined) return false;
  if (replay.endedAt === null) return runningMs;
  const { replayed, delivered, failedAgain } = replay;
  return (delivered ?? 0) + (failedAgain ?? 0) < replayed ? settlingMs : false;
}

function Progress({ replay, atMs }: { readonly replay: Replay; readonly atMs: number }) {
  const { id, state, matched, replayed, delivered, failedAgain, ratePerSecond, startedAt, endedAt } = replay;
  const [words, tone] = STATES[state];
  const speed = useSpeed(replayed, atMs);
  const leftOut = Object.values(replay.leftOutSince).reduce((sum, count) => sum + count, 0);
  const passed = replayed + leftOut;
  const left = matched - passed;
  return (
    <div data-state="live" className={styles["review"]}>
      <section aria-label="Progress" className={styles["summary"]}>
        <p className={styles["count"]}>
          <span role="status">
            <Mark tone={tone}>{words}</Mark>
          </span>{" "}
          <strong>{replayed.toLocaleString("en-GB")}</strong> of {matched.toLocaleString("en-GB")} sent
        </p>
        <CountedBar label="Sent" count={passed} of={matched} />
        <dl className={styles["facts"]}>
          <Fact name="Delivered">{reported(delivered)}</Fact>
          <Fact name="Failed again">
            {failedAgain !== null && failedAgain > 0 ? (
              <a href={`/deliveries${searchOf({ replayId: id, state: "dead_letter" })}`}>{reported(failedAgain)}</a>
            ) : (
              reported(failedAgain)
            )}
          </Fact>
          <Fact name="Under way">
            {delivered === null || failedAgain === null ? "not known" : reported(replayed - delivered - failedAgain)}
          </Fact>
          <Fact name="Speed">{state === "running" && speed !== null ? `${Math.round(speed)}/s` : "–"}</Fact>
          <Fact name="Left">
            {state === "running" && speed !== null && speed > 0 ? spanOf(Math.ceil(left / speed) * 1000) : "–"}
          </Fact>
          <Fact name="Rate">{ratePerSecond === null ? "no limit" : `${ratePerSecond}/s at the most`}</Fact>
        </dl>
        {leftOut > 0 && <p>Counted, and then not sent: {skippedWords(replay.leftOutSince)}.</p>}
        <Acts replay={replay} />
      </section>
      <p className={styles["detail"]}>
        <Range replay={replay} />
        {startedAt !== null && (
          <>
            ; started <MomentText at={startedAt} withDistance />
          </>
        )}
        {endedAt !== null && (
          <>
            , ended <MomentText at={endedAt} withDistance />
          </>
        )}
        {replay.takeovers > 0 && `; another process of control went on ${replay.takeovers} times`}
      </p>
      <p>
        <a href={`/deliveries${searchOf({ replayId: id })}`}>Its deliveries</a>
        {endedAt !== null && left > 0 && (
          <>
            {" "}
            · <a href={reviewOf(deadLettersOf(replay))}>Review what is left</a>
          </>
        )}
      </p>
      <Copied what="command" text={`posthaste replays watch ${id}`} />
    </div>
  );
}

/** When its dead letters died: dead letters after its fixed end are none of it. */
function Range({ replay: { filter, createdAt } }: { readonly replay: Replay }) {
  const { since, until } = filter;
  return (
    <>
      {since !== undefined && (
        <>
          <MomentText at={since} />
          {" → "}
        </>
      )}
      {until !== undefined && (
        <>
          {since === undefined && "→ "}
          <MomentText at={until} />
          {", "}
        </>
      )}
      end fixed at <MomentText at={createdAt} />
    </>
  );
}

/**
 * Its filter as the address of a review has it; of dead letters that were named one by one only the narrowing filters.
 */
function deadLettersOf({ filter: { messageIds: _, places: __, ...others } }: Replay): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(others).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

function Acts({ replay: { id, state, endedAt } }: { readonly replay: Replay }) {
  const client = useQueryClient();
  const unavailable = useMissingScope("replay");
  const acting = useMutation({
    mutationFn: (act: "pause" | "resume" | "cancel") => call(`POST /v1/replays/{id}/${act}`, { params: { id } }),
    onSuccess: (now) => client.setQueryData(asked("GET /v1/replays/{id}", { params: { id } }).queryKey, now),
  });
  if (endedAt !== null || state === "planned") return <Refusal error={acting.error} />;
  const act = (name: "pause" | "resume" | "cancel", words: string) => (
    <Button isPending={acting.isPending} unavailable={unavailable} onPress={() => acting.mutate(name)}>
      {words}
    </Button>
  );
  return (
    <div className={styles["acts"]}>
      {state === "paused" ? act("resume", "Go on") : act("pause", "Pause")}
      {act("cancel", "Cancel")}
      <Refusal error={acting.error} />
    </div>
  );
}

function reported(count: number | null): string {
  return count === null ? "not known" : count.toLocaleString("en-GB");
}

interface Look {
  readonly atMs: number;
  readonly count: number;
}

/** The growth of a repeatedly read count in a second; null before the second look. */
function useSpeed(count: number, atMs: number): number | null {
  const looks = useRef<readonly Look[]>([]);
  if (looks.current.at(-1)?.atMs !== atMs) {
    looks.current = [...looks.current.filter((look) => atMs - look.atMs <= SPAN_MS), { atMs, count }];
  }
  const [first] = looks.current;
  if (first === undefined || first.atMs === atMs) return null;
  return ((count - first.count) / (atMs - first.atMs)) * 1000;
}
