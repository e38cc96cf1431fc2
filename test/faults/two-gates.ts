/** A steady load on the two ingests of a rolling restart, as a client behind a balancer sends it. */
import { setTimeout } from "node:timers/promises";

const BATCHES_PER_SECOND = 10;
const USERS = 100;
const ANSWER_TIMEOUT_MS = 20_000;
/** A batch that neither of the two takes for as long is given up, and fails the run. */
const GIVE_UP_MS = 30_000;
const PAUSE_MS = 50;

export interface TwoGatesLoad {
  /** When each acknowledged event was sent first, by `performance.now()`. */
  readonly sentAtMs: ReadonlyMap<string, number>;
  /** How often a batch was sent again, since an ingest did not take it. */
  readonly again: () => number;
  /** Batches that nobody took. */
  readonly refused: () => number;
  /** Stops sending and resolves when every batch is answered. */
  readonly stop: () => Promise<void>;
}

export interface TwoGatesOptions {
  readonly urls: readonly string[];
  readonly writeKey: string;
  readonly eventsPerSecond: number;
}

export function startTwoGatesLoad({ urls, writeKey, eventsPerSecond }: TwoGatesOptions): TwoGatesLoad {
  const sentAtMs = new Map<string, number>();
  const open = new Set<Promise<void>>();
  const size = Math.round(eventsPerSecond / BATCHES_PER_SECOND);
  const authorization = `Basic ${btoa(`${writeKey}:`)}`;
  let [sent, turn, again, refused] = [0, 0, 0, 0];

  const isTaken = async (body: string): Promise<boolean> => {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const request = { method: "POST", headers: { authorization }, body, signal };
    const response = await fetch(`${urls[turn++ % urls.length]}/v1/batch`, request).catch(() => undefined);
    await response?.arrayBuffer().catch(() => undefined);
    return response?.status === 200;
  };
  const send = async (): Promise<void> => {
    const beganMs = performance.now();
    const batch = Array.from({ length: size }, () => {
      const sequence = sent++;
      const common = { type: "track", event: "Ordered", userId: `user-${sequence % USERS}` };
      return { ...common, messageId: `rolling/${sequence}`, properties: { sequence } };
    });
    const body = JSON.stringify({ batch });
    while (!(await isTaken(body))) {
      again += 1;
      if (performance.now() - beganMs > GIVE_UP_MS) {
        refused += 1;
        return;
      }
      await setTimeout(PAUSE_MS);
    }
    for (const { messageId } of batch) sentAtMs.set(messageId, beganMs);
  };
  const timer = setInterval(() => {
    const sending = send().finally(() => open.delete(sending));
    open.add(sending);
  }, 1000 / BATCHES_PER_SECOND);
  return {
    sentAtMs,
    again: () => again,
    refused: () => refused,
    stop: async () => {
      clearInterval(timer);
      await Promise.all(open);
    },
  };
}
