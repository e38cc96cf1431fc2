/** One URL of an attempt: its request, its answer, and the same request as a line for a shell. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { DeliveryPage, DeliveryRecord } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { BodyView } from "../../body/body-view.tsx";
import { Button } from "../../elements/button.tsx";
import { copyText } from "../../elements/clipboard.ts";
import { Refusal } from "../../elements/refusal.tsx";
import { bytesOf, countOf } from "../../moment/numbers.ts";
import { allDestinations } from "../../names/names.ts";
import { curlOf } from "../../terminal/curl.ts";
import styles from "./event-page.module.css";
import { ShownRecord } from "./request-record.tsx";

type Attempt = DeliveryPage["data"][number];

export interface AttemptUrlProps {
  readonly attempt: Attempt;
  readonly answered: Attempt["urls"][number];
  /** Of the destination. */
  readonly name: string;
  /** A deletion request stopped the user's events: nothing is told of the requests. */
  readonly isStopped: boolean;
}

export function AttemptUrl({ attempt, answered, name, isStopped }: AttemptUrlProps) {
  const [isRequestOpen, setRequestOpen] = useState(false);
  const [isAnswerOpen, setAnswerOpen] = useState(false);
  const { url, status, error, durationMs, answer } = answered;
  const urlWords = useUrlWords(attempt.destinationId, url);
  const of = `${name}, attempt ${attempt.attempt}, ${urlWords}`;
  const noAnswer = answer === null || answer === "" ? whyNoAnswer(answered) : null;
  const stopped = isStopped ? "a deletion request stopped the user's events" : null;
  return (
    <li className={styles["url"]}>
      <p className={styles["line"]}>
        <strong>{urlWords}</strong>
        <span>
          POST{attempt.bodyBytes !== null && ` ${bytesOf(attempt.bodyBytes)}`} · {countOf(Math.round(durationMs))} ms{" "}
          {status ?? "no answer"}
          {error !== null && ` (${error})`}
        </span>
        <code className={styles["of"]}>{url}</code>
      </p>
      <div className={styles["line"]}>
        <Button
          look="quiet"
          {...(stopped === null ? { "aria-expanded": isRequestOpen } : {})}
          aria-label={`Request of ${of}`}
          unavailable={stopped}
          onPress={() => setRequestOpen(!isRequestOpen)}
        >
          Request
        </Button>
        <Button
          look="quiet"
          {...(noAnswer === null ? { "aria-expanded": isAnswerOpen } : {})}
          aria-label={`Answer of ${of}`}
          unavailable={noAnswer}
          onPress={() => setAnswerOpen(!isAnswerOpen)}
        >
          Answer
        </Button>
        <CurlButton attempt={attempt} url={url} label={`curl of ${of}`} unavailable={stopped} />
      </div>
      {isRequestOpen && <ShownRecord delivery={recordQuery(attempt)} url={url} />}
      {isAnswerOpen && answer !== null && (
        <div className={styles["record"]}>
          <BodyView body={answer} fileName={`${attempt.messageId}-answer.txt`} />
          <p className={styles["of"]}>The start of what was answered, as far as the delivery log keeps it.</p>
        </div>
      )}
    </li>
  );
}

function whyNoAnswer({ status, answer }: Attempt["urls"][number]): string {
  if (status === null) return "nothing was answered";
  return answer === "" ? "the answer had no body" : "its destination's response log does not keep the answer";
}

/** `URL 1` for the first of its destination, as far as the destination is known and has it. */
function useUrlWords(destinationId: string, url: string): string {
  const { data: destinations } = useQuery(allDestinations);
  const destination = destinations?.find(({ id }) => id === destinationId);
  if (destination === undefined) return "URL";
  const at = destination.settings.urls.findIndex((each) => each.url === url);
  return at < 0 ? "A URL that it no longer has" : `URL ${at + 1}`;
}

/**
 * The query that names an attempt's record to control; of an attempt of an earlier release, the newest of its delivery.
 */
function recordQuery({ messageId, destinationId, sourceId, record }: Attempt) {
  const named = record === null ? {} : { record: `${record.delayMs}:${record.partition}:${record.offset}` };
  return { messageId, destinationId, sourceId, ...named };
}

interface CurlButtonProps {
  readonly attempt: Attempt;
  readonly url: string;
  readonly label: string;
  readonly unavailable: string | null;
}

function CurlButton({ attempt, url, label, unavailable }: CurlButtonProps) {
  const client = useQueryClient();
  const copying = useMutation({
    mutationFn: async () => {
      const asks = asked("GET /v1/deliveries/record", { query: recordQuery(attempt) });
      const record = await client.fetchQuery({ ...asks, staleTime: Number.POSITIVE_INFINITY });
      if (!(await copyText(lineOf(record, url)))) throw new Error("the browser keeps the clipboard from this page");
    },
  });
  return (
    <>
      <Button
        look="quiet"
        aria-label={label}
        isPending={copying.isPending}
        unavailable={unavailable}
        onPress={() => copying.mutate()}
      >
        curl
      </Button>
      <span role="status" className={styles["of"]}>
        {copying.isSuccess && "copied"}
      </span>
      <Refusal error={copying.error} />
    </>
  );
}

function lineOf({ requests, body }: DeliveryRecord, url: string): string {
  const request = requests.find((each) => each.url === url);
  if (request === undefined) throw new Error("its destination no longer has this URL");
  return curlOf({ ...request, body });
}
