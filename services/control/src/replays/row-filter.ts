/** A filter taken apart: what letters have in common, what a row tells of one, and what only the whole letter does. */
import { type LetterFacts, type LetterFilter, letterCheck } from "@posthaste/core/replay/letter-filter";
import type { AlikeLetters, LetterRows } from "../read-model/letter-rows.ts";

/** A letter by its row in the read model. */
export interface RowOfLetter extends Pick<LetterFacts, "partition" | "offset" | "deadAtMs"> {
  /** See AlikeLetters. */
  readonly alike: number;
  /** NR2 of letter-rows.ts. */
  readonly isTried: boolean;
  /** See JournalEntry; empty where nobody asked. */
  readonly users: string;
}

export interface RowFilter {
  readonly fitsAlike: (letters: AlikeLetters) => boolean;
  readonly fitsRow: (row: RowOfLetter) => boolean;
  /** A row that fits may be of a letter that does not. */
  readonly needsWhole: boolean;
}

/** What is asked of a letter and not of its row fits whatever the filter says. */
const BLANK: LetterFacts = {
  ...{ partition: 0, offset: 0, deadAtMs: 0, reason: "other", destinationId: "", sourceId: "", messageId: "" },
  ...{ type: "other", userIds: [], event: null, errors: [] },
};

export function rowFilter(filter: LetterFilter): RowFilter {
  const { userId, event, messageIds, sinceMs, untilMs, places, ...common } = filter;
  const [ofAlike, ofRow] = [letterCheck(common), letterCheck({ sinceMs, untilMs, places })];
  const isOfRows = sinceMs !== undefined || untilMs !== undefined || places !== undefined;
  return {
    fitsAlike: (letters) => ofAlike({ ...BLANK, ...letters }),
    fitsRow: isOfRows
      ? ({ partition, offset, deadAtMs }) => ofRow({ ...BLANK, partition, offset, deadAtMs })
      : () => true,
    needsWhole: userId !== undefined || event !== undefined || messageIds !== undefined,
  };
}

/** One by one. */
export function* rowsOf(partition: number, rows: LetterRows): Generator<RowOfLetter> {
  const { offsets, timesMs, tried, userEnds } = rows;
  const users = Buffer.from(rows.users.buffer, rows.users.byteOffset, rows.users.byteLength).toString("latin1");
  let userStart = 0;
  for (let index = 0; index < offsets.length; index += 1) {
    const userEnd = userEnds[index] ?? 0;
    yield {
      partition,
      offset: offsets[index] ?? 0,
      deadAtMs: timesMs[index] ?? 0,
      alike: rows.alike[index] ?? 0,
      isTried: tried[index] === 1,
      users: userEnd === userStart ? "" : users.slice(userStart, userEnd),
    };
    userStart = userEnd;
  }
}
