/**
 * The client: takes calls, gathers them into batches, hands full ones to the queue.
 *
 * Owns: the batch that is being gathered, and its timer.
 * CC1  A call throws AnalyticsError when it is refused, and at no other time; a refused call leaves no trace.
 * - A call that is taken is either delivered or handed to `onError`, once.
 * CC3  The calls held, waiting or in flight, are at most `maxQueueBytes`. A call past it is the one that is handed
 *      over: earlier calls keep their places.
 * - A batch closes when it has `flushAt` calls, when the next call would take its body past 500 KB, when `flushAfter`
 *   has passed since the last one closed, and at `flush` and `close`.
 * CC5  Nothing here keeps the process running, but for `flush` and `close` while they are awaited.
 */
import { Batch } from "./batch.ts";
import { type Environment, systemEnvironment } from "./environment.ts";
import { AnalyticsError, type AnalyticsErrorCode } from "./errors.ts";
import {
  type AliasCall,
  type CallType,
  type Defaults,
  type GroupCall,
  type IdentifyCall,
  type PageCall,
  type ScreenCall,
  type SerializedCall,
  serializeCall,
  type TrackCall,
} from "./message.ts";
import { type AnalyticsOptions, type ResolvedOptions, resolveOptions } from "./options.ts";
import { Queue } from "./queue.ts";
import { Reporter } from "./reporter.ts";
import { createTransport } from "./transport.ts";

export class Analytics {
  readonly #options: ResolvedOptions;
  readonly #environment: Environment;
  readonly #reporter: Reporter;
  readonly #queue: Queue;
  readonly #defaults: Defaults;
  #batch = new Batch();
  #heldBytes = 0;
  #lastFlushMs: number;
  #cancelTimer: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  /** Throws AnalyticsError `invalid_option`. `environment` is for tests: the clock, the timers and the randomness. */
  constructor(options: AnalyticsOptions, environment: Environment = systemEnvironment(options?.fetch)) {
    this.#options = resolveOptions(options);
    this.#environment = environment;
    this.#reporter = new Reporter(this.#options, environment);
    this.#queue = new Queue({
      options: this.#options,
      environment,
      transport: createTransport(this.#options, environment),
      reporter: this.#reporter,
      onEnd: (batch) => {
        this.#heldBytes -= batch.callBytes;
      },
    });
    this.#defaults = createDefaults(environment);
    this.#lastFlushMs = environment.nowMs();
  }

  /** Sets the traits of a user id. Refused without a userId or an anonymousId. */
  identify(call: IdentifyCall): void {
    this.#take("identify", call);
  }

  /** Records an action of a user. Refused without an event, and without a userId or an anonymousId. */
  track(call: TrackCall): void {
    this.#take("track", call);
  }

  /** Says which page a user saw. Refused without a userId or an anonymousId. */
  page(call: PageCall): void {
    this.#take("page", call);
  }

  /** Says which screen of an app a user saw. Refused without a userId or an anonymousId. */
  screen(call: ScreenCall): void {
    this.#take("screen", call);
  }

  /** Puts a user into a group. Refused without a groupId, and without a userId or an anonymousId. */
  group(call: GroupCall): void {
    this.#take("group", call);
  }

  /** Gives a user's previous id a new one. Refused without both. */
  alias(call: AliasCall): void {
    this.#take("alias", call);
  }

  /**
   * Sends the queued calls, and resolves when all calls made until now were delivered or handed to `onError`. Never
   * rejects.
   */
  async flush(): Promise<void> {
    this.#closeBatch();
    const release = this.#environment.holdProcess();
    try {
      await this.#queue.settled();
    } finally {
      release();
    }
  }

  /**
   * Flushes, for at most `closeTimeoutMs`; undelivered calls then go to `onError` with the code `closed`, as do calls
   * that are made from now on. Never rejects; calling it again answers the same promise.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const cancelTimeout = this.#environment.schedule(this.#options.closeTimeoutMs, () => this.#queue.abandon());
    await this.flush();
    cancelTimeout();
  }

  #take(type: CallType, call: object): void {
    const serialized = serializeCall(type, call, this.#defaults);
    if (this.#closed !== undefined) {
      this.#turnAway(serialized, "closed", "the client is closed");
    } else if (this.#heldBytes + serialized.bytes > this.#options.maxQueueBytes) {
      this.#turnAway(serialized, "queue_full", `the queue holds its limit of ${this.#options.maxQueueBytes} bytes`);
    } else {
      this.#gather(serialized);
      this.#environment.debug?.(`analytics: queued ${type}, ${serialized.bytes} bytes`);
    }
  }

  #turnAway({ text }: SerializedCall, code: AnalyticsErrorCode, message: string): void {
    this.#reporter.failed(new AnalyticsError(code, message), [text]);
  }

  #gather(call: SerializedCall): void {
    if (!this.#batch.fits(call)) this.#closeBatch();
    this.#batch.add(call);
    this.#heldBytes += call.bytes;
    if (this.#batch.texts.length >= this.#options.flushAt) this.#closeBatch();
    else this.#cancelTimer ??= this.#environment.schedule(this.#untilFlushMs(), () => this.#closeBatch());
  }

  /** Flushes come every `flushAfter` since the last one; those that had nothing to send count too. */
  #untilFlushMs(): number {
    const { flushAfterMs } = this.#options;
    const sinceFlushMs = Math.max(0, this.#environment.nowMs() - this.#lastFlushMs);
    return flushAfterMs - (sinceFlushMs % flushAfterMs);
  }

  #closeBatch(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#lastFlushMs = this.#environment.nowMs();
    if (this.#batch.texts.length === 0) return;
    this.#queue.push(this.#batch);
    this.#batch = new Batch();
  }
}

/** Message ids of this client, and the time of a call, each written once a millisecond at most. */
function createDefaults(environment: Environment): Defaults {
  let prefix: string | undefined;
  let count = 0;
  let writtenMs = Number.NaN;
  let written = "";
  return {
    messageId: () => {
      prefix ??= `ph-${environment.uniqueId()}-`;
      count += 1;
      return prefix + count.toString(36);
    },
    timestamp: () => {
      const nowMs = environment.nowMs();
      if (nowMs !== writtenMs) {
        writtenMs = nowMs;
        written = new Date(nowMs).toISOString();
      }
      return written;
    },
  };
}
