import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Destination, TestAnswer } from "../api/api-types.ts";
import { call } from "../api/client.ts";
import { Button } from "../elements/button.tsx";
import { Copied } from "../elements/copied.tsx";
import { Refusal } from "../elements/refusal.tsx";
import { useMissingScope } from "../session/session.ts";
import { Mark } from "../verdict/mark.tsx";
import styles from "./destination-form.module.css";
import { type SampleType, SampleTypeChoice } from "./sample-type.tsx";
import { adviceOf } from "./test-advice.ts";

const NONE: ReadonlySet<number> = new Set();

/** Sends a sample to every URL, as the destination is saved, and shows each answer. */
export function TestSend({ destination: { id, revision } }: { readonly destination: Destination }) {
  const unavailable = useMissingScope("write");
  const [type, setType] = useState<SampleType>("track");
  const testing = useMutation({
    mutationFn: async () => ({
      ...(await call("POST /v1/destinations/{id}/test", { params: { id }, body: { type } })),
      revision,
    }),
  });
  const { data: tested } = testing;
  return (
    <section aria-label="Test" className={styles["group"]}>
      <SampleTypeChoice value={type} onChange={setType} />
      <div>
        <Button isPending={testing.isPending} unavailable={unavailable} onPress={() => testing.mutate()}>
          Send a test by the saved settings
        </Button>
      </div>
      <Refusal error={testing.error} />
      {tested !== undefined && (
        <TestedUrls urls={tested.urls} before={tested.revision === revision ? NONE : new Set(tested.urls.keys())} />
      )}
    </section>
  );
}

export interface TestedUrlsProps extends Pick<TestAnswer, "urls"> {
  /** Places of answers to requests that would be sent no more, since something was changed. */
  readonly before?: ReadonlySet<number>;
  /** The advice stands elsewhere, at the fields. */
  readonly isAdvisedElsewhere?: boolean;
}

export function TestedUrls({ urls, before = NONE, isAdvisedElsewhere = false }: TestedUrlsProps) {
  return (
    <div role="status">
      {before.size > 0 && <p className={styles["advice"]}>Changed since: send the test again.</p>}
      <ul className={styles["answers"]}>
        {urls.map((tested, at) => (
          <li key={tested.url}>
            <TestedUrl tested={tested} isOfBefore={before.has(at)} isAdvised={!isAdvisedElsewhere} />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface TestedUrlProps {
  readonly tested: TestAnswer["urls"][number];
  readonly isOfBefore: boolean;
  readonly isAdvised: boolean;
}

function TestedUrl({ tested, isOfBefore, isAdvised }: TestedUrlProps) {
  const { url, outcome, status, error, durationMs, headers, body, answer } = tested;
  const words = `${status ?? error ?? "no answer"}`;
  const signature = Object.entries(headers).find(([name]) => name.toLowerCase() === "x-signature")?.[1];
  const advice = outcome === "delivered" || !isAdvised ? null : adviceOf(status, error);
  return (
    <>
      {isOfBefore ? (
        <Mark tone="off">{`${words}, outdated`}</Mark>
      ) : (
        <Mark tone={outcome === "delivered" ? "good" : "bad"}>{words}</Mark>
      )}{" "}
      {Math.round(durationMs)} ms <code>{url}</code>
      {advice !== null && <p className={styles["advice"]}>{advice}</p>}
      {answer !== null && answer !== "" && <pre className={styles["answer"]}>{answer}</pre>}
      {signature !== undefined && (
        <p className={styles["advice"]}>
          X-Signature: <Copied what="signature" text={signature} /> of these bytes, to compare with the receiver's
        </p>
      )}
      <details>
        <summary>What was sent</summary>
        <pre className={styles["answer"]}>
          {Object.entries(headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join("\n")}
          {`\n\n${body}`}
        </pre>
      </details>
    </>
  );
}
