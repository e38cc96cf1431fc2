/**
 * A producer's connections to the brokers. A channel is a client of one broker with at most one request out: a broker
 * answers a connection's requests in order, so a second request would only wait behind the first.
 *
 * Owns: for each broker one shared channel, and the channels that are aside. A channel is
 * - *shared* from when it is made, until its request is stuck (CH2), the broker has another address, or the channel
 *   fails;
 * - *aside* from when it is stuck, or from the start for a request that is likely to wait; it serves one request;
 * - gone when its request was answered while it was aside (CH3), or when a request failed (CH4).
 * CH1  All batches for a broker share one channel, so that they are gathered while a request is out (group commit).
 * CH2  A request that is out for `STUCK_MS` holds up only the partitions in it: its channel is set aside, and the
 *      broker's other partitions get a new channel (P1). A broker has at most `MAX_ASIDE` channels aside.
 * CH3  A channel that is aside is closed when its request was answered.
 * CH4  A channel whose request failed is thrown away: its sockets are destroyed, and nothing on it is waited for (P2).
 */
import { isPosthasteError } from "@posthaste/core/errors";
import type { Clock } from "@posthaste/core/time";
import { withDeadline } from "../connection/deadline.ts";
import { SYSTEM_CLOCK } from "../connection/system-clock.ts";
import type { PartitionAnswer } from "../kafkajs/kafkajs-internals.ts";
import type { BrokerClient } from "./broker-client.ts";
import type { BrokerPlace } from "./partition-leaders.ts";
import type { PartitionBatch } from "./partition-queue.ts";

/** Makes a client of a broker, which connects later. */
export type MakeBrokerClient = (place: BrokerPlace) => BrokerClient;

/** The end of a request: the broker's answers, or why there are none. */
export type Outcome =
  | { readonly answers: readonly PartitionAnswer[] }
  /**
   * `isTimeout` is true when the broker did not answer within the deadline; otherwise the broker or the connection
   * reported the failure.
   */
  | { readonly failure: unknown; readonly isTimeout: boolean };

export const CONNECT_DEADLINE_MS = 5000;
/** In ms. A healthy broker answers sooner; a failover shows itself by failed connections, not by this. */
export const STUCK_MS = 1000;
export const MAX_ASIDE = 8;
/** In ms. An orderly disconnect takes milliseconds. */
const DISCONNECT_DEADLINE_MS = 1000;
/**
 * The part of a request's deadline for which the broker may wait for its replicas. It leaves time for the answer that
 * says which partition they hold up.
 */
const BROKER_SHARE = 0.8;

export class Channel {
  readonly place: BrokerPlace;
  readonly #client: BrokerClient;
  readonly #clock: Clock;
  /** Since when the channel's request is out, by the monotonic clock; null while none is. */
  busySinceMs: number | null = null;

  constructor(place: BrokerPlace, client: BrokerClient, clock: Clock = SYSTEM_CLOCK) {
    this.place = place;
    this.#client = client;
    this.#clock = clock;
  }

  /** Sends one request, after a connect where needed. Wait for its end before the next call. Never rejects. */
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

  /** Destroys the channel's sockets (CH4). */
  destroy(): void {
    this.#client.destroy();
  }

  /** Disconnects from the broker, within `DISCONNECT_DEADLINE_MS`. */
  async close(): Promise<void> {
    await withDeadline(this.#client.disconnect(), DISCONNECT_DEADLINE_MS, "disconnecting").catch(() => {});
    this.#client.destroy();
  }
}

export class ProducerChannels {
  readonly #make: MakeBrokerClient;
  readonly #clock: Clock;
  /** Shared channels by the broker's id. */
  readonly #shared = new Map<number, Channel>();
  readonly #aside = new Set<Channel>();

  constructor(make: MakeBrokerClient, clock: Clock = SYSTEM_CLOCK) {
    this.#make = make;
    this.#clock = clock;
  }

  /**
   * The broker's shared channel, made where needed. Null while its request is out and is not stuck, and while a stuck
   * one cannot be set aside (CH1, CH2).
   */
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

  /** A channel of its own for a request that is likely to wait; null while the broker has too many aside (CH2). */
  aside(place: BrokerPlace): Channel | null {
    if (!this.#hasSlotAside(place)) return null;
    const made = new Channel(place, this.#make(place), this.#clock);
    this.#aside.add(made);
    return made;
  }

  /** When `shared` will set the broker's channel aside; null when it will not. */
  setAsideAtMs(place: BrokerPlace): number | null {
    const sinceMs = this.#shared.get(place.nodeId)?.busySinceMs ?? null;
    return sinceMs === null || !this.#hasSlotAside(place) ? null : sinceMs + STUCK_MS;
  }

  /** The channel's request was answered (CH3). */
  answered(channel: Channel): void {
    if (this.#aside.delete(channel)) void channel.close();
  }

  /** The channel's request failed (CH4). */
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

  /** Shares the channel no longer. A request that is out on it may still be answered. */
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

/** A broker that was moved has another address, to which its old connections do not lead. */
function isSamePlace(one: BrokerPlace, other: BrokerPlace): boolean {
  return one.host === other.host && one.port === other.port;
}
