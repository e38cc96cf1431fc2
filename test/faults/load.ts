/** A steady load on ingest through a fault, and its result at both ends. */
import { createTimeline, type Timeline } from "./timeline.ts";

/** Batches of calls a second, where nothing else is said. */
const BATCHES_PER_SECOND = 10;
const USERS = 100;
/** Longer than ingest's own patience with the brokers (5 s). */
const ANSWER_TIMEOUT_MS = 20_000;

export interface Load {
  /** When calls were answered 200. */
  readonly acknowledgements: Timeline;
  readonly acknowledged: ReadonlySet<string>;
  readonly refused: () => number;
  /** Stops sending and resolves when every call is answered. */
  readonly stop: () => Promise<void>;
}

export interface LoadOptions {
  readonly ingestUrl: string;
  readonly writeKey: string;
  readonly eventsPerSecond: number;
  /** In so many batches; each costs ingest and the brokers more than the events in it. Default 10. */
  readonly batchesPerSecond?: number;
  /** The prefix of the message ids. */
  readonly name: string;
  /** How many to send, all in all; without it, it goes on until it is stopped. */
  readonly events?: number;
}

/** Starts to send; a batch that is refused is not sent again, so that the count of acknowledged calls is exact. */
export function startLoad(options: LoadOptions): Load {
  const { ingestUrl, writeKey, eventsPerSecond, name, events = Number.POSITIVE_INFINITY } = options;
  const { batchesPerSecond = BATCHES_PER_SECOND } = options;
  const acknowledgements = createTimeline();
  const acknowledged = new Set<string>();
  const open = new Set<Promise<void>>();
  const size = Math.max(1, Math.round(eventsPerSecond / batchesPerSecond));
  let [sent, refused] = [0, 0];

  const sendBatch = async (): Promise<void> => {
    const batch = Array.from({ length: Math.min(size, events - sent) }, () => {
      const sequence = sent++;
      return {
        type: "track",
        event: "Ordered",
        userId: `user-${sequence % USERS}`,
        messageId: `${name}/${sequence}`,
        properties: { sequence },
      };
    });
    const response = await fetch(`${ingestUrl}/v1/batch`, {
      method: "POST",
      headers: {
        authorization: `Basic ${Buffer.from(`${writeKey}:`).toString("base64")}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ batch }),
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    }).catch(() => undefined);
    await response?.arrayBuffer().catch(() => undefined);
    if (response?.status !== 200) {
      refused += batch.length;
      return;
    }
    acknowledgements.mark(performance.now());
    for (const { messageId } of batch) acknowledged.add(messageId);
  };
  const timer = setInterval(() => {
    if (sent >= events) return;
    const sending = sendBatch().finally(() => open.delete(sending));
    open.add(sending);
  }, 1000 / batchesPerSecond);
  return {
    acknowledgements,
    acknowledged,
    refused: () => refused,
    stop: async () => {
      clearInterval(timer);
      await Promise.all(open);
    },
  };
}
