/**
 * Rows as they come from control's `/v1/live`: the one stream of a tab.
 *
 * Owns: the stream that is open, who listens to it, and the id of its last event.
 * LT1  A tab has one stream at most, of the topics that somebody listens to, and none while it is hidden, paused or
 *      stopped: a browser allows a host six connections in all of its tabs together.
 * LT2  A stream that ends, or says nothing for `SILENT_MS`, is opened again with the id of its last event: each row
 *      comes once.
 * LT3  Each listener is told of a gap: its earlier rows are then to be read anew. That is once when it began to listen,
 *      and when control does not hold the rows of the meantime. A listener from before the tab's first event has read a
 *      moment ago, and is told so.
 */
import type {
  AuditPage,
  DeadLetterPage,
  DeliveryPage,
  DestinationHealth,
  Operations,
  Replay,
} from "../api/api-types.ts";

/** Control says something every five seconds. */
export const SILENT_MS = 8000;
/** Trouble that lasts longer is said to be more than a moment's. */
const STALE_MS = 2000;
const AGAIN_MS = 1000;
/** Rows within this time are told together. */
const GATHER_MS = 100;
/** The topic that is asked for where nobody listens: the stream still shows whether control is there. */
const LEAST_TOPIC = "health";

/** Fields that are counted from elsewhere. */
type LoggedField = "needsSomebody" | "nextRetry" | "givesUp" | "waiting" | "deadLetters" | "deliveredSince";

export interface LiveRows {
  readonly deliveries: DeliveryPage["data"][number];
  readonly "dead-letters": DeadLetterPage["data"][number];
  readonly replays: Replay;
  readonly health: Omit<DestinationHealth, LoggedField | "asOf" | "complete">;
  readonly audit: AuditPage["data"][number];
}
export type LiveTopic = keyof LiveRows;
export type LiveRow = {
  readonly [Topic in LiveTopic]: { readonly topic: Topic; readonly row: LiveRows[Topic] };
}[LiveTopic];
type Query = Operations["GET /v1/live"]["query"];
export type LiveFilter = {
  readonly [Key in Exclude<keyof Query, "topics" | "lastEventId">]?: Query[Key] | undefined;
};

export interface LiveListener {
  readonly topics: readonly LiveTopic[];
  /** A filter that control may apply; where others listen for something else, rows beyond it come too. */
  readonly filter: LiveFilter;
  readonly onRows: (rows: readonly LiveRow[]) => void;
  /** LT3. `isBegin`: nothing was heard in this tab before. */
  readonly onGap: (isBegin: boolean) => void;
}

export type LiveState =
  | { readonly state: "live" | "connecting" }
  /** `since`: when something was heard last, ISO 8601. */
  | { readonly state: "reconnecting" | "stale" | "paused"; readonly since: string };

export class LiveStream {
  readonly #listeners = new Set<LiveListener>();
  /** The listeners that were there before the first event. */
  readonly #atBegin = new WeakSet<LiveListener>();
  readonly #watchers = new Set<() => void>();
  #state: LiveState = { state: "connecting" };
  #source: EventSource | null = null;
  /** The request of the open stream. */
  #asked = "";
  #lastId = "";
  #lastSeenAt = new Date();
  /** The topics and the filter that the last id stands for. */
  #covered: { readonly topics: ReadonlySet<string>; readonly filter: string } = { topics: new Set(), filter: "" };
  #isStarted = false;
  #isPaused = false;
  #gathered: LiveRow[] = [];
  #gathering: ReturnType<typeof setTimeout> | undefined;
  #watch: ReturnType<typeof setTimeout> | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;

  /** For useSyncExternalStore. */
  readonly subscribe = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };
  readonly state = (): LiveState => this.#state;

  /** Returns a function that ends it. */
  listen(listener: LiveListener): () => void {
    this.#listeners.add(listener);
    if (this.#lastId === "") this.#atBegin.add(listener);
    this.#openSoon();
    return () => {
      this.#listeners.delete(listener);
      this.#openSoon();
    };
  }

  /** Somebody is signed in. Returns a function that ends it. */
  start(): () => void {
    this.#isStarted = true;
    document.addEventListener("visibilitychange", this.#open);
    this.#open();
    return () => {
      this.#isStarted = false;
      document.removeEventListener("visibilitychange", this.#open);
      this.#close();
    };
  }

  /** Or goes on, from where it was. */
  togglePause(): void {
    this.#isPaused = !this.#isPaused;
    if (this.#isPaused) this.#close();
    this.#say(this.#isPaused ? "paused" : "reconnecting");
    this.#open();
  }

  /** Listeners come and go together, as a page does. */
  #openSoon(): void {
    clearTimeout(this.#again);
    this.#again = setTimeout(this.#open, 0);
  }

  /** LT1: opens the stream that is asked for now, where that is another than the open one. */
  readonly #open = (): void => {
    clearTimeout(this.#again);
    if (!this.#isStarted || this.#isPaused || document.hidden) {
      this.#close();
      return;
    }
    const topics = new Set<LiveTopic>([...this.#listeners].flatMap((each) => each.topics));
    if (topics.size === 0) topics.add(LEAST_TOPIC);
    const filters = new Set([...this.#listeners].map(({ filter }) => queryOf(filter)));
    const [filter = ""] = filters.size === 1 ? filters : [];
    const asked = `topics=${[...topics].sort().join(",")}&${filter}`;
    const isCovered = (listener: LiveListener): boolean =>
      this.#covered.filter === filter && listener.topics.every((each) => this.#covered.topics.has(each));
    const uncovered = [...this.#listeners].filter((each) => !isCovered(each));
    if (this.#source !== null && asked === this.#asked && uncovered.length === 0) return;
    this.#close();
    this.#asked = asked;
    const id = this.#lastId === "" ? "" : `&lastEventId=${encodeURIComponent(this.#lastId)}`;
    const source = new EventSource(`/v1/live?${asked}${id}`);
    this.#source = source;
    this.#expectWord();
    source.addEventListener("error", () => this.#lose());
    source.addEventListener("beat", (event) => {
      this.#hear(event);
      this.#covered = { topics, filter };
      for (const each of uncovered.splice(0)) if (this.#listeners.has(each)) each.onGap(this.#atBegin.delete(each));
    });
    source.addEventListener("reset", (event) => {
      this.#hear(event);
      for (const each of this.#listeners) each.onGap(false);
    });
    for (const topic of topics) {
      source.addEventListener(topic, (event) => {
        this.#hear(event);
        // Control sends a row of its list under a topic's name: control's own tests hold it to that.
        this.#gather({ topic, row: JSON.parse(event.data) } as LiveRow);
      });
    }
  };

  #close(): void {
    clearTimeout(this.#watch);
    clearTimeout(this.#again);
    this.#source?.close();
    this.#source = null;
  }

  #hear(event: MessageEvent): void {
    if (event.lastEventId !== "") this.#lastId = event.lastEventId;
    this.#lastSeenAt = new Date();
    this.#say("live");
    this.#expectWord();
  }

  #expectWord(): void {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => this.#lose(), SILENT_MS);
  }

  /** LT2. */
  #lose(): void {
    this.#close();
    const silentMs = Date.now() - this.#lastSeenAt.getTime();
    if (this.#state.state === "live") this.#say("reconnecting");
    else if (silentMs > STALE_MS) this.#say("stale");
    this.#again = setTimeout(this.#open, AGAIN_MS);
  }

  #say(state: LiveState["state"]): void {
    if (state === this.#state.state) return;
    this.#state =
      state === "live" || state === "connecting" ? { state } : { state, since: this.#lastSeenAt.toISOString() };
    for (const watcher of this.#watchers) watcher();
  }

  #gather(row: LiveRow): void {
    this.#gathered.push(row);
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      const rows = this.#gathered;
      this.#gathered = [];
      for (const { topics, onRows } of this.#listeners) {
        const its = rows.filter((each) => topics.includes(each.topic));
        if (its.length > 0) onRows(its);
      }
    }, GATHER_MS);
  }
}

function queryOf(filter: LiveFilter): string {
  const set = Object.entries(filter).filter(([, value]) => value !== undefined && value !== "");
  return new URLSearchParams(set.map(([key, value]) => [key, String(value)])).toString();
}
