/**
 * Rows as they come from control's `/v1/live`, for as long as there is anybody to print them.
 *
 * Owns: the stream that is open, and the id of its last event.
 * FL1  A stream that ends, or says nothing for `silenceMs`, is opened again with the id of the last event, so that
 *      nothing is missed and nothing comes twice.
 * FL2  Control that gave a stream and then gives none for `giveUpMs` is given up; a refused stream is not asked for
 *      again.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Context } from "./context.ts";
import type { Entry } from "./entries.ts";
import { CliError, EXIT } from "./exit-code.ts";
import { type ServerSentEvent, serverSentEvents } from "./server-sent-events.ts";

/** Control says something every five seconds. */
const SILENCE_MS = 11_000;
const AGAIN_MS = 1000;

export interface FollowOptions {
  readonly topic: string;
  /** The filters of the topic's list. */
  readonly query: Readonly<Record<string, string>>;
  readonly giveUpMs: number;
  readonly silenceMs?: number;
  /** The first stream is there: rows from now on are followed. */
  readonly onBegin?: () => Promise<void>;
  readonly onRow: (row: Entry) => void;
}

/** Rejects with CliError, when control is given up or refuses. */
export async function followLive(context: Context, options: FollowOptions): Promise<never> {
  const follower = new LiveFollower(context, options);
  for (;;) {
    try {
      await follower.followOnce();
      follower.noteLoss(new CliError(EXIT.notReachable, "control ended the stream"));
    } catch (error) {
      if (!(error instanceof CliError) || error.exitCode !== EXIT.notReachable) throw error;
      follower.noteLoss(error);
    }
    await delay(Math.min(AGAIN_MS, options.giveUpMs));
  }
}

class LiveFollower {
  readonly #context: Context;
  readonly #options: FollowOptions;
  #lastId: string | null = null;
  #lostAtMs: number | null = null;
  #hasBegun = false;

  constructor(context: Context, options: FollowOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** Until the stream ends, one way or the other. */
  async followOnce(): Promise<void> {
    const { topic, query, silenceMs = SILENCE_MS } = this.#options;
    const silence = new AbortController();
    const said = new Watch(silenceMs, () => silence.abort());
    try {
      const path = `/v1/live?${new URLSearchParams({ topics: topic, ...query })}`;
      const headers: Record<string, string> = this.#lastId === null ? {} : { "last-event-id": this.#lastId };
      const chunks = await this.#context.api.open(path, { headers, signal: silence.signal });
      for await (const event of serverSentEvents(said.over(chunks))) {
        await this.#take(event);
        this.#lastId = event.id;
      }
    } catch (error) {
      if (!silence.signal.aborted) throw error;
      throw new CliError(EXIT.notReachable, `control said nothing for ${Math.round(silenceMs / 1000)} s`);
    } finally {
      said.end();
    }
  }

  /** FL2. */
  noteLoss(reason: CliError): void {
    if (!this.#hasBegun) throw reason;
    if (this.#lostAtMs === null) this.#context.printer.say(`lost connection: ${reason.message}`);
    this.#lostAtMs ??= performance.now();
    if (performance.now() - this.#lostAtMs >= this.#options.giveUpMs) throw reason;
  }

  async #take({ event, data }: ServerSentEvent): Promise<void> {
    const { printer } = this.#context;
    if (this.#lostAtMs !== null) printer.say(`again since ${new Date().toISOString()}`);
    this.#lostAtMs = null;
    if (event === "reset") printer.say("control does not hold all that came meanwhile: some of it is not shown here");
    if (!this.#hasBegun) await this.#options.onBegin?.();
    this.#hasBegun = true;
    if (event === this.#options.topic) this.#options.onRow(JSON.parse(data));
  }
}

/** Says when bytes were not there in time. */
class Watch {
  readonly #timer: NodeJS.Timeout;

  constructor(ms: number, onSilence: () => void) {
    this.#timer = setTimeout(onSilence, ms);
  }

  async *over(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.#timer.refresh();
      yield chunk;
    }
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
