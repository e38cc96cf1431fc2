/** Checks that no record was deleted before delivery had finished it. */
import { type Loss, lossInWords } from "../../operations/losses/find-losses.ts";
import type { Check } from "./check.ts";

export function lossCheck(find: () => Promise<readonly Loss[]>): Check {
  return {
    name: "losses",
    look: async () =>
      (await find()).map((loss) => ({
        state: "wrong",
        what: `Records were deleted before delivery had finished them, and delivery does not go on: ${lossInWords(loss)}.`,
        remedy:
          "See that retention.ms of the topic is seven days and that nobody deletes its records; then run " +
          "posthaste topics accept-loss, and start delivery if nothing starts it.",
      })),
  };
}
