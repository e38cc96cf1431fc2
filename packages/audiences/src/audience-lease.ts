/**
 * The lease of one sync on its audience: the right to write the audience's records. It stands in the audience's own
 * record, so that every control process knows of it.
 *
 * Owns: the timer that extends the lease.
 * AL1  A change of the record takes a lease. The config store makes the change on top of the current record (S2 to S4
 *      of config-store.ts). When two syncs ask at once, in one process or two, one gets it.
 * AL2  Its holder extends it three times within its length, and stops writing at its end by the monotonic clock. So a
 *      sync waits no longer than one lease for a process that was killed. Fences guard against records that the holder
 *      had on the way at its end (U2 of membership.ts).
 * AL3  A lease belongs to one audience. When that is removed while a sync waits for its lease, and another audience,
 *      perhaps of another kind, is made under its id, the sync does not get the lease of the other.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { ConfigStore } from "@posthaste/configuration/config-store";
import type { Author } from "@posthaste/core/access/author";
import { type Audience, takeLease } from "@posthaste/core/audience/audience";
import { PosthasteError } from "@posthaste/core/errors";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import { createId } from "@posthaste/http-kit/identifiers";
import { Problem } from "@posthaste/http-kit/problem";

/** The time between two attempts to take a lease that another sync has, in ms. */
const LOOK_MS = 100;

export interface LeaseOptions {
  readonly audiences: ConfigStore<Audience>;
  readonly clock: Clock;
  readonly log: Log;
  readonly leaseMs: number;
}

/** The audience that a caller means. An audience that was made anew has the same id and another `bornRevision`. */
export interface MeantAudience extends Pick<Audience, "id" | "bornRevision"> {
  /** True for a removal, which also means an audience whose removal was begun before. */
  readonly isRemoved?: boolean;
}

/** A refusal that may soon be over: another sync has the lease. */
class LeaseHeld extends Problem {}

export class AudienceLease {
  readonly #options: LeaseOptions;
  readonly #holder: string;
  readonly #timer: NodeJS.Timeout;
  /** The audience as it was when the lease was taken. The sync's records have its revision (U1 of membership.ts). */
  readonly audience: Audience;
  #heldUntilMs: number;
  #lost: Error | null = null;
  #renewing: Promise<void> = Promise.resolve();

  private constructor(options: LeaseOptions, holder: string, taken: { audience: Audience; askedAtMs: number }) {
    this.#options = options;
    this.#holder = holder;
    this.audience = taken.audience;
    this.#heldUntilMs = taken.askedAtMs + options.leaseMs;
    this.#timer = setInterval(() => {
      this.#renewing = this.#renewing.then(() => this.#renew());
    }, options.leaseMs / 3);
  }

  /**
   * Resolves when the lease is taken. Rejects with the Problem `conflict` when another sync has it for `waitMs`, and
   * with `not_found` when the audience does not exist, or another stands under its id (AL3).
   */
  static async take(options: LeaseOptions, meant: MeantAudience, waitMs: number): Promise<AudienceLease> {
    const { clock } = options;
    const holder = createId("sync");
    const giveUpAtMs = clock.monotonicMs() + waitMs;
    for (;;) {
      const askedAtMs = clock.monotonicMs();
      try {
        const audience = await change(options, meant, holder);
        return new AudienceLease(options, holder, { audience, askedAtMs });
      } catch (error) {
        if (!(error instanceof LeaseHeld) || clock.monotonicMs() >= giveUpAtMs) throw error;
      }
      await delay(LOOK_MS);
    }
  }

  /** Throws when the lease is lost or has run out; nothing may be written from then on (AL2). */
  assertHeld(): void {
    if (this.#lost !== null) throw this.#lost;
    if (this.#options.clock.monotonicMs() < this.#heldUntilMs) return;
    throw new PosthasteError("deadline_exceeded", "the sync's lease ran out before it could be renewed", {
      retryable: true,
    });
  }

  /** Gives the lease up. `summary`: the result of the sync; null when the sync did not come to its end. */
  async release(summary: Audience["lastSync"], by: Author | null): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewing;
    await this.#options.audiences.change(
      this.audience.id,
      (current, revision) => {
        if (current?.lease?.holder !== this.#holder) throw lostTo(this.audience.id);
        return { ...current, revision, lease: null, lastSync: summary ?? current.lastSync };
      },
      by,
    );
  }

  /**
   * Marks the audience as removed, which nothing takes back: from then on only the process that ends the removal gets a
   * lease.
   */
  async markRemoved(by: Author | null): Promise<void> {
    await this.#options.audiences.change(
      this.audience.id,
      (current, revision) => {
        if (current?.lease?.holder !== this.#holder) throw lostTo(this.audience.id);
        return { ...current, revision, isRemoved: true };
      },
      by,
    );
  }

  /** Ends the lease and removes the audience's record. The audit has the removal already. */
  async removeRecord(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewing;
    await this.#options.audiences.change(
      this.audience.id,
      (current) => {
        if (current?.lease?.holder !== this.#holder) throw lostTo(this.audience.id);
        return null;
      },
      null,
    );
  }

  async #renew(): Promise<void> {
    const { clock, audiences, leaseMs, log } = this.#options;
    const askedAtMs = clock.monotonicMs();
    try {
      await audiences.change(
        this.audience.id,
        (current, revision) => {
          if (current?.lease?.holder !== this.#holder) throw lostTo(this.audience.id);
          const untilMs = clock.nowMs() + leaseMs;
          return { ...current, revision, lease: { ...current.lease, untilMs } };
        },
        null,
      );
      this.#heldUntilMs = askedAtMs + leaseMs;
    } catch (error) {
      // The next tick of the timer asks again; the lease runs out if the brokers do not answer until then.
      if (error instanceof Problem) this.#lost = error;
      log.warn({ event: "audience_lease_not_renewed", audienceId: this.audience.id, err: error });
    }
  }
}

async function change(
  { audiences, clock, leaseMs }: LeaseOptions,
  { id, bornRevision, isRemoved }: MeantAudience,
  holder: string,
): Promise<Audience> {
  const changed = await audiences.change(
    id,
    (current, revision) => {
      if (current === undefined) throw new Problem("not_found", `there is no audience ${id}`);
      if (current.isRemoved && isRemoved !== true) throw new Problem("not_found", `${id} was removed`);
      if (current.bornRevision !== bornRevision) {
        throw new Problem("not_found", `${id} was removed meanwhile, and what has its name is another`);
      }
      const attempt = takeLease(current.lease, { holder, nowMs: clock.nowMs(), leaseMs });
      if (attempt.outcome === "held") {
        const since = new Date(attempt.sinceMs).toISOString();
        throw new LeaseHeld("conflict", `${id} is being synced since ${since}: try again when that has ended`);
      }
      return { ...current, revision, lease: attempt.lease };
    },
    null,
  );
  if (changed === undefined) throw new Problem("not_found", `there is no audience ${id}`);
  return changed;
}

function lostTo(id: string): Problem {
  return new Problem(
    "conflict",
    `${id} was taken over by another sync: what this one wrote last may count for nothing`,
  );
}
