/**
 * The form by which a webhook is connected.
 *
 * CO1  A source that was made before its destination was refused is used again.
 */
import { OPERATIONS_SOURCE } from "@posthaste/core/config/source";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { Form } from "react-aria-components";
import type { TestAnswer } from "../../api/api-types.ts";
import { ApiProblem, call } from "../../api/client.ts";
import { BodyChoice } from "../../destination-form/body-choice.tsx";
import { type SampleType, SampleTypeChoice } from "../../destination-form/sample-type.tsx";
import { SettleChoice } from "../../destination-form/settle-choice.tsx";
import { createSecret } from "../../destination-form/shared-secret.ts";
import { faultOf } from "../../destination-form/test-advice.ts";
import { TestedUrls } from "../../destination-form/test-send.tsx";
import { UrlFields } from "../../destination-form/url-fields.tsx";
import { Button } from "../../elements/button.tsx";
import { Checked } from "../../elements/checked.tsx";
import { Copied } from "../../elements/copied.tsx";
import { Field } from "../../elements/field.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import { allSources } from "../../names/names.ts";
import { useMissingScope } from "../../session/session.ts";
import styles from "./connect.module.css";
import { type ConnectDraft, forgetDraft, heldDraft, holdDraft, nameOf, settingsOf } from "./connect-draft.ts";
import { SourceChoice } from "./source-choice.tsx";

const SAVE = "save-and-turn-on";

/** Source, URLs, secret: all on one page, tried before it is saved. */
export function ConnectForm({ areReceiversOff }: { readonly areReceiversOff: boolean }) {
  const unavailable = useMissingScope("write");
  const { data: sources = [] } = useQuery(allSources);
  const [draft, setDraft] = useState(heldDraft);
  const [sharedSecret, setSharedSecret] = useState(createSecret);
  useEffect(() => holdDraft(draft), [draft]);
  const testing = useTesting(draft, sharedSecret);
  const connecting = useConnecting(draft, sharedSecret);
  const put = (part: Partial<ConnectDraft>): void => {
    setDraft((known) => ({ ...known, ...part }));
    // The refusal is of the earlier values.
    testing.forgetRefusal();
    connecting.forgetRefusal();
  };
  const receiving = useReceiver(put);
  const errors = [...connecting.errors, ...testing.errors];
  const errorAt = (path: string): string | null =>
    errors.find((error) => error.path === path)?.message ?? testedFault(path, draft, testing);
  const hasFieldErrors = errors.some(({ path }) => path.startsWith("settings.urls"));
  return (
    <Form
      className={styles["form"] ?? ""}
      data-state="live"
      onSubmit={(event) => {
        event.preventDefault();
        if (unavailable === null) connecting.connect(true);
      }}
    >
      <div className={styles["parts"]}>
        <SourceChoice draft={draft} onChange={put} sources={sources} error={errorAt("name")} />
        <section aria-label="Where to" className={styles["part"]}>
          <h2>2 Where to</h2>
          <UrlFields
            urls={draft.urls}
            onChange={(urls) => put({ urls, receiverId: null })}
            errorAt={errorAt}
            autoFocus
            {...(areReceiversOff ? {} : { onEnterEmpty: receiving.start })}
            besides={(at) =>
              at === 0 &&
              !areReceiversOff && (
                <Button isPending={receiving.isPending} unavailable={unavailable} onPress={receiving.start}>
                  Use the test receiver
                </Button>
              )
            }
          />
          {!areReceiversOff && (
            <p className={styles["detail"]}>
              Nothing to send to yet? The test receiver is a URL of this installation: Enter in the empty field takes
              it.
            </p>
          )}
          <Refusal error={receiving.error} />
        </section>
        <SecretChoice sharedSecret={sharedSecret} onChange={setSharedSecret} />
        <More draft={draft} onChange={put} />
      </div>
      <aside className={styles["aside"]} aria-label="Test and save">
        <SampleTypeChoice value={testing.type} onChange={testing.setType} />
        <Button isPending={testing.isPending} unavailable={unavailable} onPress={testing.start}>
          Send test
        </Button>
        {!hasFieldErrors && <Refusal error={testing.error} />}
        {testing.urls === null ? (
          <p className={styles["detail"]}>It goes to every URL, as the form stands, and the answers are shown.</p>
        ) : (
          <TestedUrls urls={testing.urls} before={testing.before} isAdvisedElsewhere />
        )}
        <div className={styles["save"]}>
          <Button id={SAVE} type="submit" look="primary" isPending={connecting.isPending} unavailable={unavailable}>
            Save and turn on
          </Button>
          <Button isPending={connecting.isPending} unavailable={unavailable} onPress={() => connecting.connect(false)}>
            Save, off
          </Button>
        </div>
        {!hasFieldErrors && <Refusal error={connecting.error} />}
      </aside>
    </Form>
  );
}

/** A test's finding about the URL at a place, as long as the form would still send the tested request. */
function testedFault(path: string, { urls }: ConnectDraft, tested: Tested): string | null {
  const at = urls.findIndex((_, place) => path === `settings.urls[${place}].url`);
  const answer = tested.urls?.[at];
  return answer === undefined || tested.before.has(at) ? null : faultOf(answer);
}

interface Tested {
  readonly urls: TestAnswer["urls"] | null;
  /** Places of answers to requests that the form would not send any more. */
  readonly before: ReadonlySet<number>;
}

interface MoreProps {
  readonly draft: ConnectDraft;
  readonly onChange: (part: Partial<ConnectDraft>) => void;
}

/** The settings with a good default. */
function More({ draft, onChange }: MoreProps) {
  return (
    <details className={styles["part"]}>
      <summary>
        More: name, settling, body{" "}
        <span className={styles["detail"]}>
          ({nameOf(draft)}; {draft.settle === "any" ? "any one is enough" : "each on its own"}; {draft.payload})
        </span>
      </summary>
      <div className={styles["fields"]}>
        <Field
          label="Name of the destination"
          placeholder={nameOf(draft)}
          value={draft.name}
          onChange={(name) => onChange({ name })}
        />
        <SettleChoice value={draft.settle} onChange={(settle) => onChange({ settle })} />
        <BodyChoice value={draft.payload} onChange={(payload) => onChange({ payload })} />
      </div>
    </details>
  );
}

function useTesting(draft: ConnectDraft, sharedSecret: string) {
  const [type, setType] = useState<SampleType>("track");
  const present = requestsOf(draft, sharedSecret);
  const testing = useMutation({
    mutationFn: async () => {
      const body = { settings: settingsOf(draft, sharedSecret), type };
      return { sent: present, ...(await call("POST /v1/destinations/test", { body })) };
    },
  });
  const { data, error, isPending } = testing;
  const [urls, sent] = [data?.urls ?? null, data?.sent ?? []];
  return {
    ...{ type, setType, error, isPending, urls, start: () => testing.mutate() },
    forgetRefusal: () => error !== null && testing.reset(),
    before: new Set(sent.flatMap((request, at) => (request === present[at] ? [] : [at]))),
    errors: error instanceof ApiProblem ? error.errors : [],
  };
}

/** By URL, all that a request to it is made of: an answer to another one says nothing of it. */
function requestsOf(draft: ConnectDraft, sharedSecret: string): readonly string[] {
  return draft.urls.map((url) => JSON.stringify([url, sharedSecret, draft.payload]));
}

/** Makes a test receiver, whose URL then stands in the place of the first; the next field has the focus. */
function useReceiver(put: (part: Partial<ConnectDraft>) => void) {
  const making = useMutation({
    mutationFn: () => call("POST /v1/test-receivers", { body: {} }),
    onSuccess: ({ id, url }) => {
      put({ urls: [{ url, headers: [] }], receiverId: id });
      document.getElementById(SAVE)?.focus();
    },
  });
  return { error: making.error, isPending: making.isPending, start: () => making.mutate() };
}

interface SecretChoiceProps {
  /** Empty for none. */
  readonly sharedSecret: string;
  readonly onChange: (sharedSecret: string) => void;
}

/** Whether requests are signed; the secret is made here, and shown here alone. */
function SecretChoice({ sharedSecret, onChange }: SecretChoiceProps) {
  return (
    <section aria-label="Signature" className={styles["part"]}>
      <h2>3 Signature</h2>
      <Checked isSelected={sharedSecret !== ""} onChange={(isOn) => onChange(isOn ? createSecret() : "")}>
        Sign each request, so that the receiver knows who sent it
      </Checked>
      {sharedSecret !== "" && (
        <>
          <p className={styles["detail"]}>The receiver checks X-Signature by this secret. It is not shown again.</p>
          <Copied what="shared secret" text={sharedSecret} />
        </>
      )}
    </section>
  );
}

/** Makes the source where it is new, and the destination; then leads to where its first event is waited for. */
function useConnecting(draft: ConnectDraft, sharedSecret: string) {
  const client = useQueryClient();
  const router = useRouter();
  const made = useRef<string | null>(null);
  const connecting = useMutation({
    mutationFn: async (enabled: boolean) => {
      const sourceId = draft.sourceId ?? made.current ?? (await createSource(draft));
      made.current = sourceId;
      const settings = settingsOf(draft, sharedSecret);
      const destination = await call("POST /v1/destinations", {
        body: { type: "Webhooks", name: nameOf(draft), sourceIds: [sourceId], enabled, settings },
      });
      const { id: destinationId } = destination;
      if (draft.receiverId !== null) {
        await call("PATCH /v1/test-receivers/{id}", { params: { id: draft.receiverId }, body: { destinationId } });
      }
      return destination;
    },
    onSuccess: ({ id, enabled, sourceIds }) => {
      forgetDraft();
      // Nobody sends operational events by hand, so no first one is waited for.
      const isAwaited = enabled && !sourceIds.includes(OPERATIONS_SOURCE.id);
      router.history.push(isAwaited ? `/connect/${id}` : `/destinations/${id}`);
    },
    onSettled: () => client.invalidateQueries(),
  });
  const { error, isPending, mutate: connect, reset } = connecting;
  const forgetRefusal = () => error !== null && reset();
  return { error, isPending, connect, forgetRefusal, errors: error instanceof ApiProblem ? error.errors : [] };
}

async function createSource({ sourceName, sourceKind }: ConnectDraft): Promise<string> {
  const body = { name: sourceName.trim() === "" ? "My website" : sourceName.trim(), kind: sourceKind };
  return (await call("POST /v1/sources", { body })).id;
}
