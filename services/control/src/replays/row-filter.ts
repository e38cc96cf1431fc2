/** A filter taken apart: what letters have in common, what a row tells of one, and what only the whole letter does. */
import { type LetterFacts, type LetterFilter, letterCheck } from "@posthaste/core/replay/letter-filter";
import { type LetterRow, textHash } from "../read-model/letter-row.ts";
import type { AlikeLetters } from "../read-model/letter-rows.ts";

export interface RowFilter {
  readonly fitsAlike: (letters: AlikeLetters) => boolean;
  /** Null where only the whole letter tells. */
  readonly fitsRow: (row: LetterRow) => boolean | null;
}

/** What is asked of a letter and not of its row fits whatever the filter says. */
const BLANK: LetterFacts = {
  ...{ partition: 0, offset: 0, deadAtMs: 0, reason: "other", destinationId: "", sourceId: "", messageId: "" },
  ...{ type: "other", userIds: [], event: null, errors: [] },
};

/** `eventId`: what rows name the filter's event by, null for nothing; without it, whole letters are asked. */
export function rowFilter(filter: LetterFilter, eventId?: number | null): RowFilter {
  const { userId, event, messageIds, sinceMs, untilMs, places, ...common } = filter;
  const [ofAlike, ofRow] = [letterCheck(common), letterCheck({ sinceMs, untilMs, places })];
  const isOfRows = sinceMs !== undefined || untilMs !== undefined || places !== undefined;
  const isOfEvent = event !== undefined && eventId !== undefined;
  const user = userId === undefined ? null : textHash(userId);
  const told = user !== null || messageIds !== undefined || (event !== undefined && !isOfEvent) ? null : true;
  return {
    fitsAlike: (letters) => ofAlike({ ...BLANK, ...letters }),
    fitsRow: (row) => {
      if (isOfEvent && row.event !== eventId) return false;
      if (user !== null && row.user !== user && row.otherUser !== user) return false;
      const { partition, offset, timeMs: deadAtMs } = row;
      return isOfRows && !ofRow({ ...BLANK, partition, offset, deadAtMs }) ? false : told;
    },
  };
}
