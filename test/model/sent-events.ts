/** Events that clients sent and ingest acknowledged, as they are appended to the events topic. */
import { eventKey } from "@posthaste/core/routing/partition-key";
import { partitionOf } from "@posthaste/kafka/wire/murmur2";
import { testEvent } from "@posthaste/testbed/test-event";
import { createCodecs, NAMES, SOURCE_ID } from "./installation.ts";
import type { ModelLog } from "./model-log.ts";
import type { AcknowledgedEvent } from "./outcome-check.ts";
import { USERS } from "./scenario.ts";
import type { World } from "./world.ts";

export interface SentEventsOptions {
  readonly world: World;
  readonly log: ModelLog;
  /** Of the events topic. */
  readonly partitions: number;
}

export class SentEvents {
  readonly #options: SentEventsOptions;
  readonly #codec = createCodecs().event;
  readonly #acknowledged: AcknowledgedEvent[] = [];
  #sent = 0;

  constructor(options: SentEventsOptions) {
    this.#options = options;
  }

  get acknowledged(): readonly AcknowledgedEvent[] {
    return this.#acknowledged;
  }

  /** An event is acknowledged; `isRepeated`: its client had no answer, and sends it again. */
  send(user: number, isRepeated: boolean): void {
    const { world, log, partitions } = this.#options;
    const messageId = `msg-${this.#sent++}`;
    const userId = `user-${user % USERS}`;
    const key = Buffer.from(eventKey(SOURCE_ID, { userId, anonymousId: null, messageId }));
    const partition = partitionOf(key, partitions);
    const nowMs = Math.floor(world.dayMs);
    const event = testEvent(messageId, { sourceId: SOURCE_ID, userId, timestampMs: nowMs, receivedAtMs: nowMs });
    const value = this.#codec.encode(event);
    for (const isDuplicate of isRepeated ? [false, true] : [false]) {
      const { offset } = log.append(NAMES.events, partition, { key, value, timestampMs: nowMs });
      this.#acknowledged.push({ partition, offset, messageId, isDuplicate });
    }
  }
}
