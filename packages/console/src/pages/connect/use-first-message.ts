import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Destination } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";

/** A source's calls come a moment after they were taken. */
const AGAIN_MS = 1000;
const NEWEST = 5;

/** The sample that was sent, else the first call of the source that was taken since the destination is there. */
export function useFirstMessage({ createdAt }: Destination, sourceId: string) {
  const [sent, see] = useState<string | null>(null);
  const calls = useQuery({
    ...asked("GET /v1/sources/{id}/calls", { params: { id: sourceId }, query: { limit: NEWEST } }),
    enabled: sent === null && sourceId !== "",
    refetchInterval: AGAIN_MS,
    select: ({ data }) => data.filter(({ what, time }) => what === "taken" && time >= createdAt).at(-1),
  });
  return { messageId: sent ?? calls.data?.messageIds[0] ?? null, isSent: sent !== null, see };
}
