/** Of a rotation that was begun and left: a receiver that accepts two secrets accepts one too many. */
import { useQuery } from "@tanstack/react-query";
import type { Destination } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { searchOf } from "../../listing/filter.ts";
import { spanOf } from "../../moment/moment.ts";
import { useNow } from "../../moment/zone.ts";
import { Mark } from "../../verdict/mark.tsx";

const AFTER_MS = 24 * 3_600_000;

/** By the stage: the operation that it began with, and what is to be done. */
const OPEN = {
  next: ["nameNextSecret", "The next secret is named and not switched to for", "Check it, and switch"],
  switched: ["switchSecret", "The old secret is kept beside the new one for", "Retire it"],
} as const;

/** Nothing before a day has passed. */
export function SecretReminder({ destination: { id, secretStage } }: { readonly destination: Destination }) {
  const open = secretStage === "next" || secretStage === "switched" ? OPEN[secretStage] : null;
  const query = useQuery({
    ...asked("GET /v1/audit", { query: { target: id, operation: open?.[0], limit: 1 } }),
    enabled: open !== null,
  });
  const now = useNow();
  const since = query.data?.data[0]?.time;
  if (open === null || since === undefined) return null;
  const sinceMs = now.getTime() - Date.parse(since);
  if (sinceMs < AFTER_MS) return null;
  return (
    <p role="note">
      <Mark tone="waiting">{`${open[1]} ${spanOf(sinceMs)}.`}</Mark>{" "}
      <a href={`/destinations/${id}${searchOf({ tab: "secret" })}`}>{open[2]}</a>
    </p>
  );
}
