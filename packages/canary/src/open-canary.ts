/**
 * The canary: every ten seconds this process sends an event through the whole of Posthaste to itself. It counts the
 * events that come back, their time, and those that do not.
 *
 * Owns: the books, the timer, and the one call that is under way.
 * CA1  The source and the destination are ensured at each tick, so that nobody's change ends the canary. After a tick
 *      that wrote one, the event waits for the next tick: by then every service has read them.
 * CA2  At most one call to ingest is under way. A tick while it is sends nothing.
 * CA3  A tick that cannot send, or cannot write, counts nothing, and says so once until it can again.
 */
import { randomUUID } from "node:crypto";
import { canaryIdsOf } from "@posthaste/contracts/canary-ids";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import { ConfigError } from "@posthaste/runtime/config";
import type { FastifyInstance } from "fastify";
import { type CanaryConfiguration, ensureConfigured, writeKeyOf } from "./canary-configuration.ts";
import { CanaryLedger, TICK_MS } from "./canary-ledger.ts";
import { CANARY_PATH, serveCanary } from "./canary-receiver.ts";
import type { CanaryMetrics } from "./metrics.ts";
import { sendCanary } from "./send-canary.ts";

export interface OpenCanaryOptions extends Pick<CanaryConfiguration, "sources" | "destinations"> {
  /** False: nothing is sent, and there is no door. */
  readonly isOn: boolean;
  /** The origin at which delivery reaches this process. Asked for once the process listens. */
  readonly origin: () => string;
  /** Null where control was not told of ingest. */
  readonly ingestUrl: string | null;
  readonly metrics: CanaryMetrics;
  readonly clock: Clock;
  readonly log: Log;
  /** Calls `tick` every `ms` until its answer is called. Default: a timer that keeps no process alive. */
  readonly every?: (ms: number, tick: () => Promise<void>) => () => void;
  /** Calls ingest; for tests. */
  readonly send?: typeof sendCanary;
}

export interface Canary {
  readonly addPaths: (server: FastifyInstance) => void;
  /** To be called once the process listens and has read its tables. Resolves after the first tick; never rejects. */
  readonly start: () => Promise<void>;
  readonly close: () => void;
}

/** Throws ConfigError for a canary that has no ingest to send to. */
export function openCanary(options: OpenCanaryOptions): Canary {
  const { isOn, origin, ingestUrl, clock, log, every = everyTick, send = sendCanary } = options;
  if (!isOn) return { addPaths: () => undefined, start: async () => undefined, close: () => undefined };
  if (ingestUrl === null) {
    throw new ConfigError(["POSTHASTE_CANARY: set POSTHASTE_INGEST_URL too, where the canary's events go to"]);
  }
  const ledger = new CanaryLedger({ ...options, monotonicMs: clock.monotonicMs });
  const gone = new AbortController();
  let stop = (): void => undefined;
  return {
    addPaths: (server) => {
      const secret = () => options.destinations.hidden(canaryIdsOf(origin()).destinationId)?.secrets.active ?? null;
      serveCanary(server, { secret, arrived: (messageId) => ledger.arrived(messageId) });
    },
    start: async () => {
      const own = { ...options, ids: canaryIdsOf(origin()), url: origin() + CANARY_PATH, nowMs: clock.nowMs };
      const ticker = new Ticker({ ...{ own, ledger, ingestUrl, log, send }, signal: gone.signal });
      stop = every(TICK_MS, () => ticker.tick());
      await ticker.tick();
    },
    close: () => {
      stop();
      gone.abort();
    },
  };
}

function everyTick(ms: number, tick: () => Promise<void>): () => void {
  const timer = setInterval(() => void tick(), ms);
  timer.unref();
  return () => clearInterval(timer);
}

interface TickerOptions {
  readonly own: CanaryConfiguration;
  readonly ledger: CanaryLedger;
  readonly ingestUrl: string;
  readonly log: Log;
  readonly send: typeof sendCanary;
  readonly signal: AbortSignal;
}

class Ticker {
  readonly #options: TickerOptions;
  #isSending = false;
  #isHeldUp = false;

  constructor(options: TickerOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async tick(): Promise<void> {
    const { ledger, log, signal } = this.#options;
    ledger.tick();
    if (this.#isSending || signal.aborted) return;
    this.#isSending = true;
    const trouble = await this.#send().catch((error: unknown) => String(error));
    this.#isSending = false;
    if (signal.aborted) return;
    if (trouble !== null && !this.#isHeldUp) log.warn({ event: "canary_not_sent", trouble });
    if (trouble === null && this.#isHeldUp) log.info({ event: "canary_sent_again" });
    this.#isHeldUp = trouble !== null;
  }

  /** The reason why nothing was sent; null where something was, or where there is no trouble. */
  async #send(): Promise<string | null> {
    const { own, ledger, ingestUrl, send, signal } = this.#options;
    if (!(await ensureConfigured(own))) return null;
    const writeKey = writeKeyOf(own.sources.hidden(own.ids.sourceId));
    if (writeKey === null || signal.aborted) return null;
    const messageId = `canary-${randomUUID()}`;
    ledger.begin(messageId);
    const trouble = await send({ ...{ ingestUrl, writeKey, messageId }, signal });
    ledger.answered(messageId, trouble === null);
    return trouble;
  }
}
