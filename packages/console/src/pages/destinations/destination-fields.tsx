import { staticHeaderProblem } from "@posthaste/core/config/static-headers";
import { useQuery } from "@tanstack/react-query";
import { ArrowUp, Plus, Trash2 } from "lucide-react";
import type { KeyboardEvent, ReactNode } from "react";
import type { Problem } from "../../api/api-types.ts";
import { Button } from "../../elements/button.tsx";
import { Checked } from "../../elements/checked.tsx";
import { Choice } from "../../elements/choice.tsx";
import { Field } from "../../elements/field.tsx";
import { allSources } from "../../names/names.ts";
import { BodyChoice } from "./body-choice.tsx";
import type { DestinationDraft, DraftUrl } from "./destination-draft.ts";
import styles from "./destinations-page.module.css";
import { SettleChoice } from "./settle-choice.tsx";

const MOST_URLS = 5;

export interface DestinationFieldsProps {
  readonly draft: DestinationDraft;
  readonly onChange: (draft: DestinationDraft) => void;
  /** What control found wrong, by the place of it. */
  readonly errors: Problem["errors"];
}

export function DestinationFields({ draft, onChange, errors }: DestinationFieldsProps) {
  const { data: sources = [] } = useQuery(allSources);
  const put = (part: Partial<DestinationDraft>): void => onChange({ ...draft, ...part });
  const errorAt = (path: string): string | null => errors.find((error) => error.path === path)?.message ?? null;
  return (
    <>
      <Field label="Name" value={draft.name} onChange={(name) => put({ name })} error={errorAt("name")} />
      <Checked isSelected={draft.enabled} onChange={(enabled) => put({ enabled })}>
        On: it gets the events that are received from a second after saving
      </Checked>
      <fieldset className={styles["group"]}>
        <legend>Sources</legend>
        {sources.map(({ id, name }) => (
          <Checked
            key={id}
            isSelected={draft.sourceIds.includes(id)}
            onChange={(isOn) =>
              put({ sourceIds: isOn ? [...draft.sourceIds, id] : draft.sourceIds.filter((each) => each !== id) })
            }
          >
            {name}
          </Checked>
        ))}
      </fieldset>
      <UrlFields urls={draft.urls} onChange={(urls) => put({ urls })} errorAt={errorAt} />
      <SettleChoice value={draft.settle} onChange={(settle) => put({ settle })} />
      <Field
        label="Requests a second at the most"
        inputMode="numeric"
        value={draft.rateLimit}
        onChange={(rateLimit) => put({ rateLimit })}
        error={errorAt("settings.rateLimitPerSecond")}
        hint="Empty for no limit."
      />
      <BodyChoice value={draft.payload} onChange={(payload) => put({ payload })} />
      <Choice
        label="The log keeps the start of answers"
        value={draft.responseLog}
        choices={[
          ["failures", "of what failed"],
          ["all", "of all"],
          ["off", "of none"],
        ]}
        onChange={(responseLog) => put({ responseLog })}
      />
      <Checked isSelected={draft.standardWebhooks} onChange={(standardWebhooks) => put({ standardWebhooks })}>
        Also send the headers of Standard Webhooks
      </Checked>
    </>
  );
}

export interface UrlFieldsProps {
  readonly urls: readonly DraftUrl[];
  readonly onChange: (urls: readonly DraftUrl[]) => void;
  readonly errorAt: (path: string) => string | null;
  /** Beside each URL. */
  readonly besides?: (at: number) => ReactNode;
  readonly autoFocus?: boolean;
  /** Enter was pressed in the first one while it was empty. */
  readonly onEnterEmpty?: () => void;
}

/** URLs in the order in which they are tried, each with its headers. */
export function UrlFields({ urls, onChange, errorAt, besides, autoFocus = false, onEnterEmpty }: UrlFieldsProps) {
  const put = (at: number, url: DraftUrl): void => onChange(urls.with(at, url));
  return (
    <fieldset className={styles["group"]}>
      <legend>URLs</legend>
      {urls.map(({ url, headers }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a URL that is being typed is told apart by its place
        <div key={at} className={styles["url"]}>
          <Field
            label={`URL ${at + 1}`}
            mono
            autoFocus={autoFocus && at === 0}
            {...(at === 0 && url === "" && onEnterEmpty !== undefined ? { onKeyDown: onEnter(onEnterEmpty) } : {})}
            value={url}
            onChange={(typed) => put(at, { url: typed, headers })}
            error={errorAt(`settings.urls[${at}].url`)}
          />
          {headers.map(([name, value], place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: as of the URLs
            <div key={place} className={styles["header"]}>
              <Field
                label={`Header ${place + 1}`}
                mono
                value={name}
                error={headerFault(headers, place)}
                onChange={(typed) => put(at, { url, headers: headers.with(place, [typed, value]) })}
              />
              <Field
                label="Value"
                mono
                value={value}
                onChange={(typed) => put(at, { url, headers: headers.with(place, [name, typed]) })}
              />
              <Button
                aria-label={`Take away header ${place + 1}`}
                onPress={() => put(at, { url, headers: headers.toSpliced(place, 1) })}
              >
                <Trash2 size={16} aria-hidden />
              </Button>
            </div>
          ))}
          <div>
            {besides?.(at)}
            <Button look="quiet" onPress={() => put(at, { url, headers: [...headers, ["", ""]] })}>
              <Plus size={16} aria-hidden /> Header
            </Button>
            {at > 0 && (
              <Button
                look="quiet"
                onPress={() => onChange(urls.toSpliced(at, 1).toSpliced(at - 1, 0, { url, headers }))}
              >
                <ArrowUp size={16} aria-hidden /> Before URL {at}
              </Button>
            )}
            {urls.length > 1 && (
              <Button look="quiet" onPress={() => onChange(urls.toSpliced(at, 1))}>
                <Trash2 size={16} aria-hidden /> URL {at + 1}
              </Button>
            )}
          </div>
        </div>
      ))}
      <div>
        <Button
          look="quiet"
          unavailable={urls.length < MOST_URLS ? null : `${MOST_URLS} URLs at the most`}
          onPress={() => onChange([...urls, { url: "", headers: [] }])}
        >
          <Plus size={16} aria-hidden /> URL
        </Button>
      </div>
    </fieldset>
  );
}

/** Why the header at a place can not be sent, while it is typed; null where it can, or where nothing stands yet. */
function headerFault(headers: DraftUrl["headers"], place: number): string | null {
  const [name, value] = headers[place] ?? ["", ""];
  if (name === "") return null;
  const isKnown = headers.slice(0, place).some(([other]) => other.toLowerCase() === name.toLowerCase());
  const problem = isKnown ? "is given twice" : staticHeaderProblem(name, value);
  return problem === null ? null : `${name} ${problem}`;
}

function onEnter(action: () => void) {
  return (event: KeyboardEvent): void => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    action();
  };
}
