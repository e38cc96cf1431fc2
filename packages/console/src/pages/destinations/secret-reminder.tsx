/** Of a rotation that was begun and left: a receiver that accepts two secrets accepts one too many. */
import { useQueries } from "@tanstack/react-query";
import type { Destination } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { searchOf } from "../../listing/filter.ts";
import { spanOf } from "../../moment/moment.ts";
import { useNow } from "../../moment/zone.ts";
import { Mark } from "../../verdict/mark.tsx";

const AFTER_MS = 24 * 3_600_000;

/** By the stage: the operations that it may have begun with, and the next step. */
const OPEN = {
  next: {
    operations: ["nameNextSecret", "undoRotation"],
    text: "The next secret is named and not switched to for",
    link: "Check it, and switch",
  },
  switched: {
    operations: ["switchSecret"],
    text: "The old secret is kept beside the new one for",
    link: "Retire it",
  },
} as const;

/** Nothing before a day has passed. */
export function SecretReminder({ destination: { id, secretStage } }: { readonly destination: Destination }) {
  const open = secretStage === "next" || secretStage === "switched" ? OPEN[secretStage] : null;
  const queries = useQueries({
    queries: (open?.operations ?? []).map((operation) =>
      asked("GET /v1/audit", { query: { target: id, operation, limit: 1 } }),
    ),
  });
  const now = useNow();
  if (open === null || queries.some(({ data }) => data === undefined)) return null;
  const since = queries
    .flatMap(({ data }) => data?.data[0]?.time ?? [])
    .toSorted()
    .at(-1);
  if (since === undefined) return null;
  const sinceMs = now.getTime() - Date.parse(since);
  if (sinceMs < AFTER_MS) return null;
  return (
    <p role="note">
      <Mark tone="waiting">{`${open.text} ${spanOf(sinceMs)}.`}</Mark>{" "}
      <a href={`/destinations/${id}${searchOf({ tab: "secret" })}`}>{open.link}</a>
    </p>
  );
}
