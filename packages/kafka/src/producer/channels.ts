/**
 * A producer's connections to the brokers. A channel is a client of one broker with at most one request out: the broker
 * answers a connection's requests in order, so a second request would only wait behind the first.
 *
 * Owns: for each broker one shared channel, and the channels that were set aside.
 * CH1  What goes to a broker shares one channel, so that it is gathered while a request is out (group commit).
 * CH2  A request that is out for `STUCK_MS` holds up the partitions that are in it and no other: its channel is set
 *      aside and the broker's other partitions get a new one (P1). At most `MAX_ASIDE` channels of a broker are aside.
 * CH3  A channel that is set aside serves one request and is closed.
 * CH4  A channel whose request failed is thrown away: its sockets are destroyed and nothing of it is waited for (P2).
 */
import { isPosthasteError } from "@posthaste/core/errors";
import type { Clock } from "@posthaste/core/time";
import { withDeadline } from "../connection/deadline.ts";
import { SYSTEM_CLOCK } from "../connection/system-clock.ts";
import type { PartitionAnswer } from "../kafkajs/kafkajs-internals.ts";
import type { BrokerClient } from "./broker-client.ts";
import type { BrokerPlace } from "./partition-leaders.ts";
import type { PartitionBatch } from "./partition-queue.ts";

/** Makes a client of a broker, connecting nothing. */
export type MakeBrokerClient = (place: BrokerPlace) => BrokerClient;

/** What a request came to: what the broker answered, or why it did not. */
export type Outcome =
  | { readonly answers: readonly PartitionAnswer[] }
  /**
   * `isTimeout`: the broker did not answer within the deadline. Any other failure was told by it or by the connection.
   */
  | { readonly failure: unknown; readonly isTimeout: boolean };

export const CONNECT_DEADLINE_MS = 5000;
/** Longer than a broker takes that is well; a failover is noticed otherwise. */
export const STUCK_MS = 1000;
export const MAX_ASIDE = 8;
/** An orderly goodbye takes milliseconds; a broker that does not answer it is left. */
const DISCONNECT_DEADLINE_MS = 1000;
/** A broker waits for its replicas for this part of the deadline, so that it is heard which partition they hold up. */
const BROKER_SHARE = 0.8;

export class Channel {
  readonly place: BrokerPlace;
  readonly #client: BrokerClient;
  readonly #clock: Clock;
  /** Since when its request is out, on the monotonic clock; null while none is. */
  busySinceMs: number | null = null;

  constructor(place: BrokerPlace, client: BrokerClient, clock: Clock = SYSTEM_CLOCK) {
    this.place = place;
    this.#client = client;
    this.#clock = clock;
  }

  /** Connects when needed; one at a time. Never rejects. */
  async send(batches: readonly PartitionBatch[], deadlineMs: number): Promise<Outcome> {
    this.busySinceMs = this.#clock.monotonicMs();
    let isSent = false;
    try {
      const connecting = this.#client.connect();
      if (connecting !== undefined) await withDeadline(connecting, CONNECT_DEADLINE_MS, "connecting a producer");
      isSent = true;
      const sent = this.#client.send(batches, BROKER_SHARE * deadlineMs);
      return { answers: await withDeadline(sent, deadlineMs, "sending records") };
    } catch (failure) {
      return { failure, isTimeout: isSent && isPosthasteError(failure, "deadline_exceeded") };
    } finally {
      this.busySinceMs = null;
    }
  }

  /** CH4. */
  destroy(): void {
    this.#client.destroy();
  }

  /** Says goodbye to the broker, at most `DISCONNECT_DEADLINE_MS`. */
  async close(): Promise<void> {
    await withDeadline(this.#client.disconnect(), DISCONNECT_DEADLINE_MS, "disconnecting").catch(() => {});
    this.#client.destroy();
  }
}

export class ProducerChannels {
  readonly #make: MakeBrokerClient;
  readonly #clock: Clock;
  /** By the broker's id. */
  readonly #shared = new Map<number, Channel>();
  readonly #aside = new Set<Channel>();

  constructor(make: MakeBrokerClient, clock: Clock = SYSTEM_CLOCK) {
    this.#make = make;
    this.#clock = clock;
  }

  /** The broker's shared channel; null while its request is out (CH1, CH2). */
  shared(place: BrokerPlace, nowMs: number): Channel | null {
    const held = this.#shared.get(place.nodeId);
    if (held !== undefined) {
      const isStuck = held.busySinceMs !== null && nowMs - held.busySinceMs >= STUCK_MS;
      if (isSamePlace(held.place, place) && !isStuck) return held.busySinceMs === null ? held : null;
      if (!this.#hasSlotAside(place)) return null;
      this.#leave(held);
    }
    const made = new Channel(place, this.#make(place), this.#clock);
    this.#shared.set(place.nodeId, made);
    return made;
  }

  /** A channel for one request that is likely to wait; null while too many are out (CH2). */
  aside(place: BrokerPlace): Channel | null {
    if (!this.#hasSlotAside(place)) return null;
    const made = new Channel(place, this.#make(place), this.#clock);
    this.#aside.add(made);
    return made;
  }

  /** When `shared` will set the broker's channel aside; null where nothing but an answer helps. */
  setAsideAtMs(place: BrokerPlace): number | null {
    const sinceMs = this.#shared.get(place.nodeId)?.busySinceMs ?? null;
    return sinceMs === null || !this.#hasSlotAside(place) ? null : sinceMs + STUCK_MS;
  }

  /** The channel's request was answered (CH3). */
  answered(channel: Channel): void {
    if (this.#aside.delete(channel)) void channel.close();
  }

  /** CH4. */
  failed(channel: Channel): void {
    this.#aside.delete(channel);
    const { nodeId } = channel.place;
    if (this.#shared.get(nodeId) === channel) this.#shared.delete(nodeId);
    channel.destroy();
  }

  async close(): Promise<void> {
    const all = [...this.#shared.values(), ...this.#aside];
    this.#shared.clear();
    this.#aside.clear();
    await Promise.all(all.map((channel) => (channel.busySinceMs === null ? channel.close() : channel.destroy())));
  }

  /** It is shared no more: what is out on it may still be answered. */
  #leave(channel: Channel): void {
    if (channel.busySinceMs === null) void channel.close();
    else this.#aside.add(channel);
  }

  #hasSlotAside({ nodeId }: BrokerPlace): boolean {
    let aside = 0;
    for (const { place } of this.#aside) if (place.nodeId === nodeId) aside += 1;
    return aside < MAX_ASIDE;
  }
}

/** A broker that was moved has another address: its old connections lead nowhere. */
function isSamePlace(one: BrokerPlace, other: BrokerPlace): boolean {
  return one.host === other.host && one.port === other.port;
}
