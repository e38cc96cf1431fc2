import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Destination, TestAnswer } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import { useMissingScope } from "../../session/session.ts";
import { Mark } from "../../verdict/mark.tsx";
import styles from "./destinations-page.module.css";
import { type SampleType, SampleTypeChoice } from "./sample-type.tsx";
import { adviceOf } from "./test-advice.ts";

/** Sends a sample to every URL, as the destination is saved, and tells what each answered. */
export function TestSend({ destination: { id } }: { readonly destination: Destination }) {
  const unavailable = useMissingScope("write");
  const [type, setType] = useState<SampleType>("track");
  const testing = useMutation({
    mutationFn: () => call("POST /v1/destinations/{id}/test", { params: { id }, body: { type } }),
  });
  return (
    <section aria-label="Test" className={styles["group"]}>
      <SampleTypeChoice value={type} onChange={setType} />
      <div>
        <Button isPending={testing.isPending} unavailable={unavailable} onPress={() => testing.mutate()}>
          Send a test by the saved settings
        </Button>
      </div>
      <Refusal error={testing.error} />
      {testing.data !== undefined && <TestedUrls urls={testing.data.urls} />}
    </section>
  );
}

export function TestedUrls({ urls }: Pick<TestAnswer, "urls">) {
  return (
    <div role="status">
      <ul className={styles["answers"]}>
        {urls.map((tested) => (
          <li key={tested.url}>
            <TestedUrl tested={tested} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function TestedUrl({ tested }: { readonly tested: TestAnswer["urls"][number] }) {
  const { url, outcome, status, error, durationMs, headers, body, answer } = tested;
  const advice = outcome === "delivered" ? null : adviceOf(status, error);
  return (
    <>
      <Mark tone={outcome === "delivered" ? "good" : "bad"}>{`${status ?? error ?? "no answer"}`}</Mark>{" "}
      {Math.round(durationMs)} ms <code>{url}</code>
      {advice !== null && <p className={styles["advice"]}>{advice}</p>}
      {answer !== null && answer !== "" && <pre className={styles["answer"]}>{answer}</pre>}
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
