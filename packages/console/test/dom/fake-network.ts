/**
 * How a page in the process reaches the fake control: `fetch` and `EventSource` without a socket between.
 *
 * Owns: the answers on their way.
 */
import type { FakeControl } from "../fake-control.ts";

/** The process's own: a window's are told of by a window's targets alone. */
const { Event: ProcessEvent, EventTarget: ProcessTarget, MessageEvent: ProcessMessage } = globalThis;

export interface FakeNetwork {
  readonly globals: { readonly fetch: typeof fetch; readonly EventSource: unknown };
  /** How many answers are under way to the page; one that control keeps waiting is none. */
  readonly underWay: () => number;
  /** To be told of each path of the API that is asked for. */
  readonly onAsked: Set<(pathname: string) => void>;
  /** Ends the streams, as a page does that is left. */
  readonly close: () => void;
}

/** `origin`: of the page's address. */
export function createFakeNetwork(control: FakeControl, origin: string): FakeNetwork {
  const onAsked = new Set<(pathname: string) => void>();
  const sources = new Set<{ readonly close: () => void }>();
  let underWay = 0;
  /** As an answer comes: not at once, and after earlier requests. */
  const arrive = async <Answer>(coming: Promise<Answer>): Promise<Answer> => {
    const answer = await coming;
    underWay += 1;
    await new Promise(setImmediate);
    underWay -= 1;
    return answer;
  };

  const ask = async (path: string | URL | Request, options: RequestInit = {}): Promise<Response> => {
    const url = new URL(String(path), origin);
    if (url.origin !== origin) throw new TypeError(`another origin was asked: ${url.href}`);
    for (const each of onAsked) each(url.pathname);
    const body = typeof options.body === "string" ? options.body : "";
    const reply = await arrive(control.ask({ method: options.method ?? "GET", url, body }));
    options.signal?.throwIfAborted();
    if (reply === "stream") throw new TypeError("a stream is no answer");
    return new Response(reply.text, { status: reply.status, headers: reply.headers });
  };
  const fetchFake = (path: string | URL | Request, options: RequestInit = {}): Promise<Response> => {
    const { signal } = options;
    const asking = ask(path, options);
    if (!signal) return asking;
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      asking.then(resolve, reject);
    });
  };

  class FakeEventSource extends ProcessTarget {
    #close = (): void => {};
    #isClosed = false;

    constructor(path: string) {
      super();
      const url = new URL(path, origin);
      sources.add(this);
      for (const each of onAsked) each(url.pathname);
      void arrive(control.ask({ method: "GET", url, body: "" })).then((reply) => {
        if (this.#isClosed) return;
        if (reply !== "stream") {
          this.dispatchEvent(new ProcessEvent("error"));
          return;
        }
        this.#close = control.listen(url.searchParams, {
          say: (event, id, data) => {
            void arrive(Promise.resolve()).then(() => {
              if (this.#isClosed) return;
              this.dispatchEvent(new ProcessMessage(event, { data: JSON.stringify(data), lastEventId: String(id) }));
            });
          },
          end: () => {
            void arrive(Promise.resolve()).then(() => {
              if (!this.#isClosed) this.dispatchEvent(new ProcessEvent("error"));
            });
          },
        });
      });
    }

    close(): void {
      this.#isClosed = true;
      this.#close();
      sources.delete(this);
    }
  }

  return {
    globals: { fetch: fetchFake, EventSource: FakeEventSource },
    underWay: () => underWay,
    onAsked,
    close: () => {
      for (const each of sources) each.close();
    },
  };
}
