/**
 * The URLs of a destination in the order in which they are tried, each with its headers.
 *
 * UF1  A URL that is moved takes the focus along, to where the same can be pressed again, and its new place is said. A
 *      button that takes a URL away leaves the focus where the next one is added.
 */
import { ArrowDown, ArrowUp, Plus, Trash2 } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Button } from "../elements/button.tsx";
import { Field } from "../elements/field.tsx";
import type { DraftUrl } from "./destination-draft.ts";
import styles from "./destination-form.module.css";
import { HeaderFields } from "./header-fields.tsx";

const MOST_URLS = 5;

type Way = "up" | "down";

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

export function UrlFields(props: UrlFieldsProps) {
  const { urls, onChange, errorAt, besides, autoFocus = false, onEnterEmpty } = props;
  const id = useId();
  const [said, setSaid] = useState("");
  const focusOn = useFocusAfter();
  const move = (from: number, way: Way): void => {
    const [moved] = urls.slice(from);
    const to = way === "up" ? from - 1 : from + 1;
    if (moved === undefined) return;
    onChange(urls.toSpliced(from, 1).toSpliced(to, 0, moved));
    setSaid(`${moved.url === "" ? "The empty URL" : moved.url} is URL ${to + 1} of ${urls.length} now`);
    focusOn(moveId(id, to, to === 0 ? "down" : to === urls.length - 1 ? "up" : way));
  };
  const takeAway = (at: number): void => {
    onChange(urls.toSpliced(at, 1));
    setSaid(`URL ${at + 1} is taken away`);
    focusOn(`${id}-add`);
  };
  return (
    <fieldset className={styles["group"]}>
      <legend>URLs</legend>
      {urls.map((url, at) => (
        <UrlField
          // biome-ignore lint/suspicious/noArrayIndexKey: a URL that is being typed is told apart by its place
          key={at}
          {...{ id, url, at, count: urls.length, errorAt, besides: besides?.(at) }}
          autoFocus={autoFocus && at === 0}
          {...(at === 0 && url.url === "" && onEnterEmpty !== undefined ? { onKeyDown: onEnter(onEnterEmpty) } : {})}
          onChange={(changed) => onChange(urls.with(at, changed))}
          onMove={(way) => move(at, way)}
          onTakeAway={() => takeAway(at)}
        />
      ))}
      <div>
        <Button
          id={`${id}-add`}
          look="quiet"
          unavailable={urls.length < MOST_URLS ? null : `${MOST_URLS} URLs at the most`}
          onPress={() => onChange([...urls, { url: "", headers: [] }])}
        >
          <Plus size={16} aria-hidden /> URL
        </Button>
      </div>
      <span role="status" className={styles["heard"]}>
        {said}
      </span>
    </fieldset>
  );
}

interface UrlFieldProps {
  /** Of all the URLs together. */
  readonly id: string;
  readonly url: DraftUrl;
  readonly at: number;
  readonly count: number;
  readonly errorAt: (path: string) => string | null;
  readonly besides: ReactNode;
  readonly autoFocus: boolean;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  readonly onChange: (url: DraftUrl) => void;
  readonly onMove: (way: Way) => void;
  readonly onTakeAway: () => void;
}

function UrlField(props: UrlFieldProps) {
  const { id, url, at, count, errorAt, besides, autoFocus, onKeyDown, onChange, onMove, onTakeAway } = props;
  const addHeaderId = `${id}-${at}-header`;
  return (
    <div className={styles["url"]}>
      <Field
        label={`URL ${at + 1}`}
        mono
        autoFocus={autoFocus}
        {...(onKeyDown === undefined ? {} : { onKeyDown })}
        value={url.url}
        onChange={(typed) => onChange({ ...url, url: typed })}
        error={errorAt(`settings.urls[${at}].url`)}
      />
      <HeaderFields
        headers={url.headers}
        onChange={(headers) => onChange({ ...url, headers })}
        onTakenAway={() => document.getElementById(addHeaderId)?.focus()}
      />
      <div>
        {besides}
        <Button id={addHeaderId} look="quiet" onPress={() => onChange({ ...url, headers: [...url.headers, ["", ""]] })}>
          <Plus size={16} aria-hidden /> Header
        </Button>
        {at > 0 && (
          <Button id={moveId(id, at, "up")} look="quiet" onPress={() => onMove("up")}>
            <ArrowUp size={16} aria-hidden /> Before URL {at}
          </Button>
        )}
        {at < count - 1 && (
          <Button id={moveId(id, at, "down")} look="quiet" onPress={() => onMove("down")}>
            <ArrowDown size={16} aria-hidden /> After URL {at + 2}
          </Button>
        )}
        {count > 1 && (
          <Button look="quiet" onPress={onTakeAway}>
            <Trash2 size={16} aria-hidden /> URL {at + 1}
          </Button>
        )}
      </div>
    </div>
  );
}

function moveId(id: string, at: number, way: Way): string {
  return `${id}-${at}-${way}`;
}

/** The element that is to have the focus once the change is on the page: it may not stand there before. */
function useFocusAfter(): (elementId: string) => void {
  const wanted = useRef<string | null>(null);
  useEffect(() => {
    if (wanted.current === null) return;
    document.getElementById(wanted.current)?.focus();
    wanted.current = null;
  });
  return (elementId) => {
    wanted.current = elementId;
  };
}

function onEnter(action: () => void) {
  return (event: KeyboardEvent): void => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    action();
  };
}
