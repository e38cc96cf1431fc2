/** The search of the topics themselves for a message id of which no log knows: slow, and complete. */

import { EventSourceParserStream } from "eventsource-parser/stream";
import { useEffect, useRef, useState } from "react";
import { problemOf, unreachable } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import { MomentText } from "../../moment/moment-text.tsx";
import { countOf } from "../../moment/numbers.ts";
import styles from "./event-page.module.css";

/** As control sends them: of a find its place and its kind, of the search its progress. */
interface Find {
  readonly time: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly what: string;
  readonly sourceId: string;
  readonly destinationId: string | null;
  readonly detail: string | null;
}

interface Progress {
  readonly records: number;
  readonly of: number;
  readonly finds: number;
}

interface Search {
  readonly finds: readonly Find[];
  readonly progress: Progress | null;
  readonly state: "running" | "done" | "failed";
  readonly error: Error | null;
}

/** The first so many are shown: an event has few records, and a sender that repeats one id has no bound. */
const MOST_FINDS = 200;

const BEGUN: Search = { finds: [], progress: null, state: "running", error: null };

export interface TopicSearchProps {
  readonly messageId: string;
  readonly nameOf: (id: string) => string;
}

export function TopicSearch({ messageId, nameOf }: TopicSearchProps) {
  const [search, setSearch] = useState<Search | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const run = async (): Promise<void> => {
    const control = new AbortController();
    running.current = control;
    setSearch(BEGUN);
    const put = (change: (known: Search) => Partial<Search>): void =>
      setSearch((known) => ({ ...(known ?? BEGUN), ...change(known ?? BEGUN) }));
    try {
      for await (const { event, data } of streamed(scanPath(messageId), control.signal)) {
        // Control's own tests hold its messages to its description.
        if (event === "find") put(({ finds }) => ({ finds: [...finds, data as Find].slice(0, MOST_FINDS) }));
        else put(() => ({ progress: data as Progress, ...(event === "done" ? { state: "done" as const } : {}) }));
      }
      const broken = new Error("the search broke off in the middle: what was found is not all");
      put(({ state }) => (state === "running" ? { state: "failed", error: broken } : {}));
    } catch (error) {
      if (control.signal.aborted) return;
      put(() => ({ state: "failed", error: error instanceof Error ? error : new Error(String(error)) }));
    }
  };
  return (
    <div className={styles["search"]}>
      <Button look="primary" isPending={search?.state === "running"} onPress={() => void run()}>
        {search === null ? "Search the topics themselves" : "Search again"}
      </Button>
      {search !== null && <Searched search={search} nameOf={nameOf} />}
    </div>
  );
}

/** The ids `.` and `..` stand in no path. */
function scanPath(messageId: string): string {
  return /^\.\.?$/.test(messageId)
    ? `/v1/events/-/scan?messageId=${messageId}`
    : `/v1/events/${encodeURIComponent(messageId)}/scan`;
}

function Searched({ search, nameOf }: Pick<TopicSearchProps, "nameOf"> & { readonly search: Search }) {
  const { finds, progress, state, error } = search;
  return (
    <>
      {state === "running" && progress !== null && (
        <p className={styles["of"]}>
          {countOf(progress.records)} of {countOf(progress.of)} records
        </p>
      )}
      <p role="status">{state === "done" && progress !== null && doneWords(progress)}</p>
      <Refusal error={error} />
      {finds.length > 0 && (
        <ul className={styles["finds"]}>
          {finds.map((find, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: one record may tell of several attempts that are alike
            <li key={at} className={styles["line"]}>
              <MomentText at={find.time} /> <strong>{find.what.replaceAll("_", " ")}</strong> <span>{find.detail}</span>
              {[find.sourceId, find.destinationId].map(
                (id) =>
                  id !== null && (
                    <span key={id} className={styles["of"]}>
                      {nameOf(id)}
                    </span>
                  ),
              )}
              <code>{`${find.topic} ${find.partition}:${find.offset}`}</code>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function doneWords({ finds, records }: Progress): string {
  return `${finds === 0 ? "Nothing" : countOf(finds)} found in ${countOf(records)} records: that is all there is.`;
}

interface StreamedEvent {
  readonly event: string;
  readonly data: unknown;
}

/** Throws ApiProblem for every answer that is no success; ends where the answer does. */
async function* streamed(path: string, signal: AbortSignal): AsyncGenerator<StreamedEvent> {
  const response = await fetch(path, { signal }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    throw unreachable();
  });
  if (!response.ok) throw await problemOf(response);
  if (response.body === null) return;
  const texts = response.body.pipeThrough(new TextDecoderStream());
  const reader = texts.pipeThrough(new EventSourceParserStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield { event: value.event ?? "", data: JSON.parse(value.data) };
  }
}
