/**
 * Receivers to try deliveries with, in this process's memory.
 *
 * Owns: the receivers, and the newest requests that came to each.
 * TR1  There are at most twenty; whoever makes one more ends the one that was idle longest.
 * TR2  Of each the newest 200 requests are kept, of each request's body 64 KB, and of all together 16 MB: the receiver
 *      that holds most gives up its oldest.
 * TR3  An answer is delayed by ten seconds at the most, and a hundred wait at once; beyond that none is delayed.
 * TR4  Values of headers that a delivery does not have by itself are not kept: an operator's own are secrets.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { SharedSecrets } from "@posthaste/core/config/destination";

/** Whether X-Signature is the one that the destination's secret makes; `unchecked` where no secret is known. */
export const SIGNATURE_STATES = ["valid", "invalid", "missing", "unchecked"] as const;
export type SignatureState = (typeof SIGNATURE_STATES)[number];

export const MAX_DELAY_MS = 10_000;
const MAX_RECEIVERS = 20;
const MAX_REQUESTS = 200;
const MAX_BODY_BYTES = 64 * 1024;
const MAX_HELD_BYTES = 16 * 1024 * 1024;
const MAX_DELAYED = 100;
/** Of a header's value, and of headers. */
const MAX_VALUE_LENGTH = 1_024;
const MAX_HEADERS = 100;
const MASK = "***";
const SHOWN_HEADERS = new Set([
  ...["content-type", "content-length", "user-agent", "host", "connection", "date", "accept", "transfer-encoding"],
  ...["x-signature", "x-message-id", "x-attempt", "webhook-id", "webhook-timestamp", "webhook-signature"],
]);

export interface ReceivedRequest {
  /** Rises with every request of its receiver. */
  readonly seq: number;
  readonly receivedAtMs: number;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The first 64 KB of it. */
  readonly body: Buffer;
  /** Of the whole body. */
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
  /** How many came, kept or not. */
  readonly received: number;
  /** In the order in which they came. */
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

  /** Makes one under an id that no other has. */
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

  /** Undefined where there is none of that id. */
  change(id: string, change: Partial<ReceiverBehaviour>): TestReceiver | undefined {
    const receiver = this.#receivers.get(id);
    return receiver === undefined ? undefined : Object.assign(receiver, change);
  }

  /** Keeps what arrived and resolves with the status to answer, after the delay; null where the receiver is gone. */
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
      // A copy: a part of it would keep all of it.
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

/** How many bytes less are held. */
function dropOldest(receiver: Held): number {
  const dropped = receiver.requests.shift();
  const bytes = dropped === undefined ? 0 : heldBytes(dropped);
  receiver.heldBytes -= bytes;
  return bytes;
}

/** With what an entry takes beside its body, roughly. */
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
