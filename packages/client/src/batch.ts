/** Calls on their way to one request. */
import type { Message, SerializedCall } from "./message.ts";

/**
 * The largest body: 500 KB. The server counts 512,000 bytes; others read the same limit as 500,000, and a proxy between
 * may be one of them.
 */
export const MAX_BATCH_BYTES = 500_000;

const HEAD = '{"batch":[';
const TAIL = '],"sentAt":"';
/** `2026-11-21T03:04:05.678Z`; years past 9999 are longer, and no clock says them. */
const ISO_TIME_LENGTH = 24;
const ENVELOPE_BYTES = HEAD.length + TAIL.length + ISO_TIME_LENGTH + '"}'.length;

/** The calls that are gathered for one request, in the order in which they were made. */
export class Batch {
  readonly texts: string[] = [];
  /** Bytes of the calls alone: the figure that the queue's limit counts. */
  callBytes = 0;

  /** Whether the body would stay within its limit with this call. An empty batch takes any call. */
  fits({ bytes }: SerializedCall): boolean {
    const commas = this.texts.length;
    return commas === 0 || ENVELOPE_BYTES + this.callBytes + commas + bytes <= MAX_BATCH_BYTES;
  }

  add({ text, bytes }: SerializedCall): void {
    this.texts.push(text);
    this.callBytes += bytes;
  }

  /** The request's body. `sentAt` is of this attempt, since the server corrects the callers' clocks by it. */
  body(sentAtMs: number): string {
    return `${HEAD}${this.texts.join(",")}${TAIL}${new Date(sentAtMs).toISOString()}"}`;
  }

  messages(): Message[] {
    return this.texts.map(toMessage);
  }
}

/** Reads the text of `serializeCall` back. */
export function toMessage(text: string): Message {
  return JSON.parse(text) as Message;
}
