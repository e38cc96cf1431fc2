/**
 * A filter in parts: one for the common fields of a group of dead letters, and one for the fields in a row. Other
 * fields stand in the whole dead letter alone.
 */
import {
  type DeadLetterFacts,
  type DeadLetterFilter,
  deadLetterCheck,
} from "@posthaste/core/replay/dead-letter-filter";
import type { GroupedDeadLetters } from "@posthaste/read-model/dead-letter-rows";
import { type DeadLetterRow, textHash } from "@posthaste/read-model/dead-letter-rows";

export interface RowFilter {
  readonly fitsGroup: (deadLetters: GroupedDeadLetters) => boolean;
  /** Whether the filter goes by the common fields of groups alone: every row of a fitting group fits. */
  readonly isOfGroup: boolean;
  /** Null where only the whole dead letter tells. */
  readonly fitsRow: (row: DeadLetterRow) => boolean | null;
}

/** The fields that neither `GroupedDeadLetters` nor a row has; the parts of the filter do not ask for them. */
const BLANK: DeadLetterFacts = {
  ...{ partition: 0, offset: 0, deadAtMs: 0, reason: "other", destinationId: "", sourceId: "", messageId: "" },
  ...{ type: "other", userIds: [], event: null, errors: [] },
};

/**
 * `eventId`: the number by which rows name the filter's event; null when no row has it. When it is undefined, only
 * whole dead letters tell the event.
 */
export function rowFilter(filter: DeadLetterFilter, eventId?: number | null): RowFilter {
  const { userId, event, messageIds, sinceMs, untilMs, places, ...common } = filter;
  const [ofGroup, ofRow] = [deadLetterCheck(common), deadLetterCheck({ sinceMs, untilMs, places })];
  const isOfRows = sinceMs !== undefined || untilMs !== undefined || places !== undefined;
  const isOfEvent = event !== undefined && eventId !== undefined;
  const user = userId === undefined ? null : textHash(userId);
  const reported = user !== null || messageIds !== undefined || (event !== undefined && !isOfEvent) ? null : true;
  return {
    fitsGroup: (deadLetters) => ofGroup({ ...BLANK, ...deadLetters }),
    isOfGroup: reported === true && !isOfRows && !isOfEvent,
    fitsRow: (row) => {
      if (isOfEvent && row.event !== eventId) return false;
      if (user !== null && row.user !== user && row.otherUser !== user) return false;
      const { partition, offset, timeMs: deadAtMs } = row;
      return isOfRows && !ofRow({ ...BLANK, partition, offset, deadAtMs }) ? false : reported;
    },
  };
}
