/**
 * Whether the audience that a record of `posthaste.audiences` names still exists.
 *
 * Owns: the audiences that are known to be gone.
 * AQ1  A removed audience counts as gone, even where another was made under its id since.
 * AQ2  An audience's own record is written before the records of its users. So an audience that the table lacks is
 *      newer than the table, or gone: the table is read to its end before the audience counts as gone.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Audience } from "@posthaste/core/audience/audience";
import type { MembershipRecord } from "@posthaste/core/audience/membership";
import type { Log } from "@posthaste/core/log";

const REFRESH_MS = 10_000;
const AGAIN_MS = 500;
/** The most audiences that are kept as gone; a forgotten one is looked up again. */
const MAX_GONE = 1000;

export type Presence = "there" | "gone" | "unknown";
type Named = Pick<MembershipRecord, "audienceId" | "bornRevision">;

export interface AudiencePresenceOptions {
  readonly audiences: {
    get(id: string): Pick<Audience, "bornRevision" | "isRemoved"> | undefined;
    /** Resolves when the table has read the topic's end. Rejects with `deadline_exceeded`. */
    refresh(timeoutMs: number): Promise<void>;
  };
  readonly log: Log;
  /** Ends the wait of `learn`. */
  readonly signal: AbortSignal;
}

export class AudiencePresence {
  readonly #options: AudiencePresenceOptions;
  readonly #gone = new Set<string>();

  constructor(options: AudiencePresenceOptions) {
    this.#options = options;
  }

  /** Returns whether the audience exists. `unknown`: `learn` must read the table first. */
  of({ audienceId, bornRevision }: Named): Presence {
    const held = this.#options.audiences.get(audienceId);
    if (held !== undefined && held.bornRevision >= bornRevision) {
      return held.bornRevision === bornRevision && !held.isRemoved ? "there" : "gone";
    }
    return this.#gone.has(`${audienceId} ${bornRevision}`) ? "gone" : "unknown";
  }

  /** AQ2. Resolves when it is known whether the audience exists, or when `signal` ends the wait. */
  async learn(named: Named): Promise<void> {
    const { audiences, log, signal } = this.#options;
    while (!signal.aborted) {
      try {
        await audiences.refresh(REFRESH_MS);
        if (this.of(named) !== "unknown") return;
        if (this.#gone.size >= MAX_GONE) this.#gone.clear();
        this.#gone.add(`${named.audienceId} ${named.bornRevision}`);
        return;
      } catch (error) {
        log.warn({ event: "audiences_not_read", err: error }, "identifies wait until the audiences can be read");
      }
      await delay(AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
