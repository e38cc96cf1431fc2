/** A scripted group over fake time, for the tests of the windowed consumer. */
import { afterEach, beforeEach, vi } from "vitest";
import { FakeGroup } from "./fake-group.ts";

/** To be called at the top of a test file: its timers and clocks move only by `pass`. */
export function useFakeTime(): void {
  beforeEach(() => {
    vi.useFakeTimers({
      toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance", "Date"],
    });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
}

/** So many ms pass. */
export const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

export const connectionCut = () => Object.assign(new Error("cut"), { name: "KafkaJSConnectionError" });
export const refusal = (type: string) => Object.assign(new Error(type), { name: "KafkaJSProtocolError", type });

/** Stops the consumer, whatever still runs. */
export async function close({ consumer }: FakeGroup): Promise<void> {
  const stopped = consumer.stop();
  await pass(10_000);
  await stopped;
}

/** A consumer that joined and owns these partitions, committed at 5. */
export async function joined(partitions: readonly number[], options: ConstructorParameters<typeof FakeGroup>[0] = {}) {
  const group = new FakeGroup(options);
  for (const partition of [0, 1, 2]) group.committed.set(partition, 5);
  await group.consumer.start();
  await group.join(partitions);
  await pass(0);
  return group;
}
