/**
 * Receivers to try deliveries with, in this process's memory.
 *
 * Owns: the receivers, and the newest requests of each.
 * TR1  There are at most twenty receivers; a further one replaces the receiver that was idle longest.
 * TR2  Each receiver keeps its newest 200 requests, with 64 KB of each body; all together keep 16 MB: beyond that, the
 *      receiver that holds most drops its oldest request.
 * TR3  A receiver delays its answer by ten seconds at the most, and at most a hundred answers wait at once; while they
 *      do, further ones are not delayed.
 * TR4  A receiver masks the values of headers that Posthaste does not send by itself: an operator's own headers are
 *      secrets.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { SharedSecrets } from "@posthaste/core/config/destination";

/** Whether X-Signature matches the destination's secret; `unchecked` where the receiver knows no secret. */
export const SIGNATURE_STATES = ["valid", "invalid", "missing", "unchecked"] as const;
export type SignatureState = (typeof SIGNATURE_STATES)[number];

export const MAX_DELAY_MS = 10_000;
const MAX_RECEIVERS = 20;
const MAX_REQUESTS = 200;
const MAX_BODY_BYTES = 64 * 1024;
const MAX_HELD_BYTES = 16 * 1024 * 1024;
const MAX_DELAYED = 100;
/** The most characters kept of a header's value, and the most headers kept of a request. */
const MAX_VALUE_LENGTH = 1_024;
const MAX_HEADERS = 100;
const MASK = "***";
const SHOWN_HEADERS = new Set([
  ...["content-type", "content-length", "user-agent", "host", "connection", "date", "accept", "transfer-encoding"],
  ...["x-signature", "x-message-id", "x-attempt", "webhook-id", "webhook-timestamp", "webhook-signature"],
]);

export interface ReceivedRequest {
  /** The request's number at its receiver; it rises with each request. */
  readonly seq: number;
  readonly receivedAtMs: number;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The first 64 KB of the body. */
  readonly body: Buffer;
  /** The bytes of the whole body. */
  readonly bytes: number;
  readonly signature: SignatureState;
}

export interface ReceiverBehaviour {
  readonly destinationId: string | null;
  readonly status: number;
  readonly delayMs: number;
}

export interface TestReceiver extends ReceiverBehaviour {
  readonly id: string;
  readonly createdAtMs: number;
  /** How many requests came, kept or not. */
  readonly received: number;
  /** The kept requests, in the order in which they came. */
  readonly requests: readonly ReceivedRequest[];
}

interface Held extends TestReceiver {
  destinationId: string | null;
  status: number;
  delayMs: number;
  received: number;
  requests: ReceivedRequest[];
  heldBytes: number;
  lastUsedMs: number;
}

export interface Arrived {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface TestReceiversOptions {
  /** The secrets of a destination; undefined where there is no such destination. */
  readonly secretsOf: (destinationId: string) => SharedSecrets | undefined;
  readonly nowMs: () => number;
}

export class TestReceivers {
  readonly #options: TestReceiversOptions;
  readonly #receivers = new Map<string, Held>();
  #delayed = 0;

  constructor(options: TestReceiversOptions) {
    this.#options = options;
  }

  /** Makes a receiver under an id that no other has. */
  make(id: string, behaviour: ReceiverBehaviour): TestReceiver {
    const nowMs = this.#options.nowMs();
    const made: Held = {
      ...{ id, createdAtMs: nowMs, lastUsedMs: nowMs, ...behaviour },
      ...{ received: 0, requests: [], heldBytes: 0 },
    };
    if (this.#receivers.size >= MAX_RECEIVERS) this.#receivers.delete(this.#longestIdle());
    this.#receivers.set(made.id, made);
    return made;
  }

  all(): readonly TestReceiver[] {
    return [...this.#receivers.values()];
  }

  find(id: string): TestReceiver | undefined {
    const receiver = this.#receivers.get(id);
    if (receiver !== undefined) receiver.lastUsedMs = this.#options.nowMs();
    return receiver;
  }

  has(id: string): boolean {
    return this.#receivers.has(id);
  }

  /** Undefined where no receiver has that id. */
  change(id: string, change: Partial<ReceiverBehaviour>): TestReceiver | undefined {
    const receiver = this.#receivers.get(id);
    return receiver === undefined ? undefined : Object.assign(receiver, change);
  }

  /**
   * Keeps the request and resolves, after the receiver's delay, with the status to answer; null where the receiver no
   * longer exists.
   */
  async receive(id: string, arrived: Arrived, signal: AbortSignal): Promise<number | null> {
    const receiver = this.#receivers.get(id);
    if (receiver === undefined) return null;
    this.#keep(receiver, arrived);
    const { delayMs } = receiver;
    if (delayMs > 0 && this.#delayed < MAX_DELAYED) {
      this.#delayed++;
      await delay(delayMs, undefined, { signal }).catch(() => undefined);
      this.#delayed--;
    }
    return receiver.status;
  }

  #keep(receiver: Held, { method, headers, body }: Arrived): void {
    const nowMs = this.#options.nowMs();
    receiver.lastUsedMs = nowMs;
    receiver.received++;
    const kept = {
      ...{ seq: receiver.received, receivedAtMs: nowMs, method, headers: shownHeaders(headers), bytes: body.length },
      // A copy: a slice of the buffer would keep all of it in memory.
      body: Buffer.from(body.subarray(0, MAX_BODY_BYTES)),
      signature: this.#signatureOf(receiver, headers["x-signature"], body),
    };
    receiver.requests.push(kept);
    receiver.heldBytes += heldBytes(kept);
    if (receiver.requests.length > MAX_REQUESTS) dropOldest(receiver);
    let all = 0;
    for (const each of this.#receivers.values()) all += each.heldBytes;
    while (all > MAX_HELD_BYTES) all -= dropOldest(this.#largest());
  }

  #signatureOf({ destinationId }: Held, signature: string | string[] | undefined, body: Buffer): SignatureState {
    const secrets = destinationId === null ? undefined : this.#options.secretsOf(destinationId);
    const known = [secrets?.active, secrets?.next, secrets?.previous].filter((secret) => typeof secret === "string");
    if (known.length === 0) return "unchecked";
    if (typeof signature !== "string") return "missing";
    const given = Buffer.from(signature);
    const isValid = known.some((secret) => {
      const expected = Buffer.from(createHmac("sha1", secret).update(body).digest("hex"));
      return expected.length === given.length && timingSafeEqual(expected, given);
    });
    return isValid ? "valid" : "invalid";
  }

  #longestIdle(): string {
    const [first] = [...this.#receivers.values()].sort((a, b) => a.lastUsedMs - b.lastUsedMs);
    return first?.id ?? "";
  }

  #largest(): Held {
    return [...this.#receivers.values()].reduce((most, each) => (each.heldBytes > most.heldBytes ? each : most));
  }
}

/** Drops a receiver's oldest request and returns its bytes. */
function dropOldest(receiver: Held): number {
  const dropped = receiver.requests.shift();
  const bytes = dropped === undefined ? 0 : heldBytes(dropped);
  receiver.heldBytes -= bytes;
  return bytes;
}

/** About how many bytes of memory a request takes, its body included. */
function heldBytes({ body, headers }: Pick<ReceivedRequest, "body" | "headers">): number {
  return body.length + 2 * JSON.stringify(headers).length + 500;
}

function shownHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .slice(0, MAX_HEADERS)
      .map(([name, value]) => [name, SHOWN_HEADERS.has(name) ? String(value).slice(0, MAX_VALUE_LENGTH) : MASK]),
  );
}
