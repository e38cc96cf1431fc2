import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAgain } from "../../api/again.ts";
import type { Destination, SourceCalls } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";

/** A source's calls come a moment after they were taken; a programmer may take an hour until the first. */
const AGAIN = { leastMs: 1000, mostMs: 10_000 };
const NEWEST = 5;

/** The sample that was sent, else the first call of the source that was taken since the destination is there. */
export function useFirstMessage({ createdAt }: Destination, sourceId: string) {
  const [sent, see] = useState<string | null>(null);
  const again = useAgain(AGAIN);
  const firstOf = ({ data }: SourceCalls) =>
    data.filter(({ what, time }) => what === "taken" && time >= createdAt).at(-1);
  const calls = useQuery({
    ...asked("GET /v1/sources/{id}/calls", { params: { id: sourceId }, query: { limit: NEWEST } }),
    enabled: sent === null && sourceId !== "",
    refetchInterval: ({ state: { data } }) => (data !== undefined && firstOf(data) !== undefined ? false : again()),
    select: firstOf,
  });
  return { messageId: sent ?? calls.data?.messageIds[0] ?? null, isSent: sent !== null, see };
}
