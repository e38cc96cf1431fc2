import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import type { ReceivedRequests, TestReceiver } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { Copied } from "../../elements/copied.tsx";
import { Field } from "../../elements/field.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { usePausable } from "../../live/live.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { useNames } from "../../names/names.ts";
import type { Tone } from "../../verdict/cause.ts";
import { Mark } from "../../verdict/mark.tsx";
import styles from "./test-receivers.module.css";

type Received = ReceivedRequests["requests"][number];

const AGAIN_MS = 1000;

const SIGNATURES: Readonly<Record<Received["signature"], readonly [Tone, string]>> = {
  valid: ["good", "signature valid"],
  invalid: ["bad", "signature invalid"],
  missing: ["bad", "not signed, though its destination has a secret"],
  unchecked: ["off", "signature not checked"],
};

/** One receiver: its URL, its answer, and its requests, the newest first. */
export function ReceiverPart({ receiver }: { readonly receiver: TestReceiver }) {
  const query = useQuery({
    ...asked("GET /v1/test-receivers/{id}", { params: { id: receiver.id } }),
    refetchInterval: usePausable(AGAIN_MS),
  });
  return (
    <>
      <div>
        <Copied what="URL" text={receiver.url} />
        <Owner destinationId={receiver.destinationId} />
      </div>
      <AnswerForm receiver={receiver} />
      <Loaded
        query={query}
        what="requests"
        rows={2}
        isEmpty={({ requests }) => requests.length === 0}
        empty={<Empty command={`curl -d '{}' ${receiver.url}`}>Nothing came yet.</Empty>}
      >
        {({ requests }) => (
          <ul aria-label="Requests">
            {requests.toReversed().map((request) => (
              <RequestRow key={request.seq} request={request} />
            ))}
          </ul>
        )}
      </Loaded>
    </>
  );
}

/** The destination whose secret signatures are checked by, where there is one. */
function Owner({ destinationId }: Pick<TestReceiver, "destinationId">) {
  const nameOf = useNames();
  return (
    <p className={styles["detail"]}>
      {destinationId === null ? (
        "Of no destination: signatures are not checked."
      ) : (
        <>
          Of <a href={`/destinations/${destinationId}`}>{nameOf(destinationId)}</a>: signatures are checked by its
          secret, where it has one.
        </>
      )}
    </p>
  );
}

function RequestRow({ request }: { readonly request: Received }) {
  const { time, method, headers, bodyBase64, bytes, signature } = request;
  const [tone, words] = SIGNATURES[signature];
  return (
    <li className={styles["request"]}>
      <details>
        <summary>
          <MomentText at={time} /> {method} {bytes} B <Mark tone={tone}>{words}</Mark>
        </summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable text is reached by the keyboard */}
        <pre tabIndex={0}>
          {Object.entries(headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join("\n")}
          {`\n\n${textOf(bodyBase64)}`}
        </pre>
      </details>
    </li>
  );
}

/** Its answer from now on, and the delay: to see a failing receiver's effect. */
function AnswerForm({ receiver: { id, status, delayMs } }: { readonly receiver: TestReceiver }) {
  const [draft, setDraft] = useState({ status: String(status), delayMs: String(delayMs) });
  const put = (part: Partial<typeof draft>): void => {
    setDraft({ ...draft, ...part });
    // The message is about the earlier values.
    saving.reset();
  };
  const saving = useMutation({
    mutationFn: () =>
      call("PATCH /v1/test-receivers/{id}", {
        params: { id },
        body: { status: Number(draft.status), delayMs: Number(draft.delayMs) },
      }),
  });
  return (
    <Form
      className={styles["answers"] ?? ""}
      onSubmit={(event) => {
        event.preventDefault();
        saving.mutate();
      }}
    >
      <Field
        label="It answers with"
        inputMode="numeric"
        value={draft.status}
        onChange={(typed) => put({ status: typed })}
      />
      <Field
        label="after (ms)"
        inputMode="numeric"
        value={draft.delayMs}
        onChange={(typed) => put({ delayMs: typed })}
      />
      <Button type="submit" isPending={saving.isPending}>
        Set
      </Button>
      <span role="status">{saving.isSuccess && "It answers so from now on."}</span>
      <Refusal error={saving.error} />
    </Form>
  );
}

/** Bytes that are no text show as such. */
function textOf(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
}
