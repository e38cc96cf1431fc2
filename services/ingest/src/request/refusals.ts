/**
 * Refusals of whole requests: each is counted in the metrics and reported to the activity of its source.
 *
 * Owns: how many bodies were inflated for that in the current minute.
 * RF1  At most twenty compressed bodies a minute are inflated for the message ids in them, of all senders together.
 */
import type { IncomingMessage } from "node:http";
import type { Source } from "@posthaste/core/config/source";
import type { ActivityLog } from "../activity/activity-log.ts";
import type { Refusal } from "../answer/answer.ts";
import type { LateRefusals } from "../answer/late-refusals.ts";
import { type BodyOpener, GONE } from "../body/decompress.ts";
import type { SentBody } from "../body/sent-body.ts";
import type { Unauthenticated } from "../key/authenticate.ts";
import { countCalls, type IngestMetrics } from "../metrics.ts";
import type { Exchange } from "./exchange.ts";

export interface RefusalsParts {
  readonly metrics: IngestMetrics;
  readonly activity: Pick<ActivityLog, "refused">;
  readonly lateRefusals: LateRefusals;
  readonly opener: BodyOpener;
  /** The monotonic clock, in ms. */
  readonly monotonicMs: () => number;
}

/** The sender of a refused request, and its body as far as it was read. */
export interface RefusedSender {
  /** Null where no source was found, or none was looked for. */
  readonly source: Source | null;
  readonly unknownKey?: string | undefined;
  readonly body?: SentBody;
}

const INFLATED_A_MINUTE = 20;
const MINUTE_MS = 60_000;

export class Refusals {
  readonly #parts: RefusalsParts;
  #inflated = 0;
  #minute = 0;

  constructor(parts: RefusalsParts) {
    this.#parts = parts;
  }

  /** Counts a request that is refused before its calls were counted. */
  count(refusal: Refusal): Refusal {
    if (refusal !== GONE) countCalls(this.#parts.metrics, refusal.answer, 1);
    return refusal;
  }

  /** Reports a refusal to the activity that was counted already. */
  tell(refusal: Refusal, request: IncomingMessage, sender: RefusedSender): Refusal {
    // A sender that left gets no answer; a call that is kept with its reason is counted as a rejected call.
    if (refusal === GONE || refusal.isKept === true) return refusal;
    const { source, unknownKey = null, body } = sender;
    this.#parts.activity.refused(source?.id ?? null, refusal, () => ({
      request,
      content: body === undefined ? null : this.#contentOf(body),
      sentBytes: body?.bytes?.length ?? null,
      unknownKey,
    }));
    return refusal;
  }

  /** Counts a refusal and reports it. */
  refuse(refusal: Refusal, request: IncomingMessage, sender: RefusedSender): Refusal {
    return this.tell(this.count(refusal), request, sender);
  }

  /**
   * Reports a refusal that was counted already. Resolves with it later for a source that goes on sending
   * (late-refusals.ts), or when the exchange ends.
   */
  tellLater(
    refusal: Refusal,
    request: IncomingMessage,
    { exchange, ...sender }: RefusedSender & { readonly source: Source; readonly exchange: Exchange },
  ): Promise<Refusal> {
    this.tell(refusal, request, sender);
    return new Promise((resolve) => {
      exchange.untilClose(this.#parts.lateRefusals.refuse(sender.source.id, () => resolve(refusal)));
    });
  }

  #contentOf(body: SentBody): Buffer | null {
    if (body.encoding !== undefined && !this.#mayInflate()) return null;
    const opened = this.#parts.opener.open(body);
    return "content" in opened ? opened.content : null;
  }

  #mayInflate(): boolean {
    const minute = Math.floor(this.#parts.monotonicMs() / MINUTE_MS);
    if (minute !== this.#minute) this.#inflated = 0;
    this.#minute = minute;
    return this.#inflated++ < INFLATED_A_MINUTE;
  }
}

/** The sender of a request that is refused for its key. */
export function senderOf({ disabled, unknownKey }: Unauthenticated): RefusedSender {
  return { source: disabled ?? null, unknownKey };
}
