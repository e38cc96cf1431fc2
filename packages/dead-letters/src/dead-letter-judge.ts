/**
 * Judges which dead letters are not to be sent again, and why.
 *
 * Owns nothing: it asks the tables and the delivery log each time, since their answers change.
 */

import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import type { SkipCause } from "@posthaste/core/replay/replay";
import type { SuppressedUsersTable } from "@posthaste/kafka/log/suppressed-users";
import { urlsTaken } from "@posthaste/read-model/dead-letter-mark";
import type { DeadLetterRow, GroupedDeadLetters } from "@posthaste/read-model/dead-letter-rows";
import { isEntrySuppressed } from "@posthaste/read-model/entry-texts";
import type { MessageOutcome } from "@posthaste/read-model/projection";
import type { ReadModel } from "@posthaste/read-model/read-model";
import { type FoundDeadLetter, isDeadLetterSuppressed } from "./dead-letter-reader.ts";
import type { ListedDeadLetter } from "./listed-dead-letters.ts";
import type { PastPlans } from "./plan-dead-letters.ts";

/** How many message ids one query of the delivery log has. */
const STEP = 500;
/** The most attempts of one message at one destination that are read: several times as many as there are retries. */
const ATTEMPTS = 200;

/** The fields of a destination that replays need. */
export interface KnownDestination {
  readonly enabled: boolean;
  readonly settle: "any" | "each";
}

/** A dead letter from its topic, or from the read model. */
export type JudgedDeadLetter = FoundDeadLetter | ListedDeadLetter;

export interface DeadLetterJudgeOptions {
  readonly past: Pick<PastPlans, "purged" | "replayed" | "purgedRows" | "replayedRows">;
  readonly suppressed: Pick<SuppressedUsersTable, "size" | "has" | "hasDigest">;
  /** The destination; undefined for one that was removed. */
  readonly destinationOf: (id: string) => KnownDestination | undefined;
  readonly readModel: Pick<ReadModel, "outcomes" | "newest">;
}

export interface Judging {
  /** The id of the replay that is carried out; null for a plan that is being made. */
  readonly replayId: string | null;
  /** Whether dead letters that were delivered since or replayed before are sent too. */
  readonly again: boolean;
  /** The moment from which on attempts are the replay's own, in ms since the epoch. */
  readonly beforeMs: number;
}

/** Judges by rows of the read model. */
export interface RowJudge {
  readonly needsUsers: boolean;
  readonly ofGroup: (deadLetters: GroupedDeadLetters) => GroupJudge;
}

/** Judges dead letters of one group. */
export interface GroupJudge {
  /** Why a dead letter is skipped; null for none, undefined where only the whole dead letter tells. */
  readonly causeOf: (row: DeadLetterRow) => SkipCause | null | undefined;
  /** Nothing leaves a dead letter out whose row is not marked (NR2 of dead-letter-rows.ts). */
  readonly leavesNone: boolean;
}

export class DeadLetterJudge {
  readonly #options: DeadLetterJudgeOptions;

  constructor(options: DeadLetterJudgeOptions) {
    this.#options = options;
  }

  /**
   * Returns for each dead letter why it is skipped, or null for one that is to be sent. Throws
   * `delivery_log_unavailable`.
   */
  async judge(found: readonly JudgedDeadLetter[], judging: Judging): Promise<readonly (SkipCause | null)[]> {
    const causes = this.judgeByTables(found, judging);
    if (judging.again) return causes;
    const open = found.filter((_, index) => causes[index] === null);
    const delivered = await this.#deliveredOf(open, judging.beforeMs);
    return causes.map((cause, index) => {
      const deadLetter = found[index];
      return cause ?? (deadLetter !== undefined && delivered.has(deadLetter) ? "deliveredSince" : null);
    });
  }

  /** As `judge`, but while the delivery log cannot be asked as `judgeByTables`, and then `onSilence` is told why. */
  async judgeAnyway(
    found: readonly JudgedDeadLetter[],
    judging: Judging,
    onSilence: (reason: string) => void,
  ): Promise<readonly (SkipCause | null)[]> {
    try {
      return await this.judge(found, judging);
    } catch (error) {
      if (!isPosthasteError(error)) throw error;
      onSilence(error.message);
      return this.judgeByTables(found, judging);
    }
  }

  /** As `judge`, by the tables in memory alone, which do not know the dead letters delivered since. */
  judgeByTables(found: readonly JudgedDeadLetter[], { replayId, again }: Judging): readonly (SkipCause | null)[] {
    const { past } = this.#options;
    const isPurged = past.purged();
    const isReplayed = again ? () => false : past.replayed(replayId);
    return found.map((each) => {
      if (isPurged(each.facts)) return "purged";
      return this.#causeNow(each) ?? (isReplayed(each.facts) ? "replayedBefore" : null);
    });
  }

  /** As `judge`, as far as rows tell. */
  byRow({ replayId, again }: Judging): RowJudge {
    const { past, suppressed } = this.#options;
    const [purged, replayed] = [past.purgedRows(), again ? () => null : past.replayedRows(replayId)];
    const needsUsers = suppressed.size > 0;
    return {
      needsUsers,
      ofGroup: (deadLetters) => {
        const [isPurged, isReplayed] = [purged(deadLetters), replayed(deadLetters)];
        const ofDestination = this.#causeOfDestination(deadLetters.destinationId);
        const ofAll = deadLetters.reason === "suppressed" ? "suppressed" : ofDestination;
        return {
          leavesNone: isPurged === null && !needsUsers && ofAll === null && isReplayed === null,
          causeOf: (row) => {
            const wasPurged = isPurged === null ? false : isPurged(row);
            if (wasPurged !== false) return wasPurged === null ? undefined : "purged";
            if (deadLetters.reason === "suppressed" || isEntrySuppressed(suppressed, row)) return "suppressed";
            if (ofDestination !== null) return ofDestination;
            const wasReplayed = isReplayed === null ? false : isReplayed(row);
            if (wasReplayed !== false) return wasReplayed === null ? undefined : "replayedBefore";
            return row.isTried && !again ? undefined : null;
          },
        };
      },
    };
  }

  #causeNow(found: JudgedDeadLetter): SkipCause | null {
    const { suppressed } = this.#options;
    // The dead letter of a suppressed user has no body that could be sent.
    if (found.facts.reason === "suppressed") return "suppressed";
    const isOfSuppressed =
      "record" in found ? isDeadLetterSuppressed(suppressed, found) : isEntrySuppressed(suppressed, found);
    if (isOfSuppressed) return "suppressed";
    return this.#causeOfDestination(found.facts.destinationId);
  }

  #causeOfDestination(id: string): SkipCause | null {
    const destination = this.#options.destinationOf(id);
    if (destination === undefined) return "destinationRemoved";
    return destination.enabled ? null : "destinationOff";
  }

  async #deliveredOf(found: readonly JudgedDeadLetter[], beforeMs: number): Promise<ReadonlySet<JudgedDeadLetter>> {
    const delivered = new Set<JudgedDeadLetter>();
    for (let from = 0; from < found.length; from += STEP) {
      const step = found.slice(from, from + STEP);
      const outcomes = await this.#outcomesOf(step);
      for (const each of step) {
        const since = (outcomes.get(nameOf(each.facts)) ?? []).filter(
          ({ newestMs }) => newestMs >= each.facts.deadAtMs,
        );
        if (since.length > 0 && (await this.#isDelivered(each, since, beforeMs))) delivered.add(each);
      }
    }
    return delivered;
  }

  async #outcomesOf(found: readonly JudgedDeadLetter[]): Promise<ReadonlyMap<string, readonly MessageOutcome[]>> {
    const messageIds = [...new Set(found.map(({ facts }) => facts.messageId))];
    const byName = new Map<string, MessageOutcome[]>();
    for (const outcome of await this.#options.readModel.outcomes("attempts", messageIds)) {
      const others = byName.get(nameOf(outcome));
      if (others === undefined) byName.set(nameOf(outcome), [outcome]);
      else others.push(outcome);
    }
    return byName;
  }

  /** Whether the dead letter was delivered since. Under `settle: each` every URL that was dead must have taken it. */
  async #isDelivered(found: JudgedDeadLetter, since: readonly MessageOutcome[], beforeMs: number): Promise<boolean> {
    const { messageId, destinationId, deadAtMs } = found.facts;
    const isBetween = (ms: number): boolean => ms >= deadAtMs && ms < beforeMs;
    const settlesEach = this.#options.destinationOf(destinationId)?.settle === "each";
    const dead = "record" in found ? found.deadLetter.lastAttempt.map(({ url }) => url) : found.urls;
    if (!settlesEach || dead.length === 0) {
      return since.some(({ kind, firstMs, newestMs }) => {
        return kind === "delivered" && (isBetween(newestMs) || isBetween(firstMs));
      });
    }
    const query = { messageId, destinationId, sinceMs: deadAtMs, untilMs: beforeMs, limit: ATTEMPTS };
    const entries = await this.#options.readModel.newest("attempts", query);
    const taken = urlsTaken(entries);
    return dead.every((url) => taken.has(url));
  }
}

/**
 * Throws `delivery_log_unavailable` while the delivery log is being read: the dead letters delivered since are not
 * known yet.
 */
export function assertDeliveriesKnown(readModel: Pick<ReadModel, "isComplete">): void {
  if (readModel.isComplete("attempts")) return;
  throw new PosthasteError("delivery_log_unavailable", "the delivery log is still being read: try again soon", {
    retryable: true,
  });
}

function nameOf({ messageId, destinationId }: { readonly messageId: string; readonly destinationId: string }): string {
  return `${messageId} ${destinationId}`;
}
