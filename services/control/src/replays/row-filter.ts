/**
 * A filter in parts: one for what letters have in common, and one for what a row tells of a letter. The rest only the
 * whole letter tells.
 */
import { type LetterFacts, type LetterFilter, letterCheck } from "@posthaste/core/replay/letter-filter";
import { type LetterRow, textHash } from "../read-model/letter-row.ts";
import type { AlikeLetters } from "../read-model/letter-rows.ts";

export interface RowFilter {
  readonly fitsAlike: (letters: AlikeLetters) => boolean;
  /** Whether the filter goes by what letters have in common alone: every row of those fits. */
  readonly isOfAlike: boolean;
  /** Null where only the whole letter tells. */
  readonly fitsRow: (row: LetterRow) => boolean | null;
}

/** The fields that neither `AlikeLetters` nor a row has; the parts of the filter do not ask for them. */
const BLANK: LetterFacts = {
  ...{ partition: 0, offset: 0, deadAtMs: 0, reason: "other", destinationId: "", sourceId: "", messageId: "" },
  ...{ type: "other", userIds: [], event: null, errors: [] },
};

/**
 * `eventId`: the number by which rows name the filter's event; null when no row has it. When it is undefined, only
 * whole letters tell the event.
 */
export function rowFilter(filter: LetterFilter, eventId?: number | null): RowFilter {
  const { userId, event, messageIds, sinceMs, untilMs, places, ...common } = filter;
  const [ofAlike, ofRow] = [letterCheck(common), letterCheck({ sinceMs, untilMs, places })];
  const isOfRows = sinceMs !== undefined || untilMs !== undefined || places !== undefined;
  const isOfEvent = event !== undefined && eventId !== undefined;
  const user = userId === undefined ? null : textHash(userId);
  const told = user !== null || messageIds !== undefined || (event !== undefined && !isOfEvent) ? null : true;
  return {
    fitsAlike: (letters) => ofAlike({ ...BLANK, ...letters }),
    isOfAlike: told === true && !isOfRows && !isOfEvent,
    fitsRow: (row) => {
      if (isOfEvent && row.event !== eventId) return false;
      if (user !== null && row.user !== user && row.otherUser !== user) return false;
      const { partition, offset, timeMs: deadAtMs } = row;
      return isOfRows && !ofRow({ ...BLANK, partition, offset, deadAtMs }) ? false : told;
    },
  };
}
