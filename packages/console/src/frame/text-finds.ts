/** Asks control whether it knows a text as a message id, a user or an event's name. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { asked } from "../api/asked.ts";
import type { TextFinds } from "./palette-lines.ts";
import { pastedId } from "./pasted-id.ts";

/** No longer text is asked for. */
const MOST_ASKED = 200;
/** The pause in typing after which the text is asked for, in ms. */
const PAUSE_MS = 250;

/** Null of each while nobody knows: during typing, and where control does not answer. */
export function useTextFinds(typed: string): TextFinds {
  const wanted = typed.trim();
  const text = useSettled(wanted);
  const id = pastedId(text);
  const isAsked = text !== "" && text.length <= MOST_ASKED;
  const verdict = useQuery({
    ...asked("GET /v1/events/{messageId}", { params: { messageId: id ?? "-" } }),
    ...{ enabled: isAsked && id !== null, retry: false },
  });
  const others = { enabled: isAsked, retry: false };
  const ofUser = useQuery({ ...asked("GET /v1/events", { query: { userId: text, limit: 1 } }), ...others });
  const ofName = useQuery({ ...asked("GET /v1/events", { query: { event: text, limit: 1 } }), ...others });
  if (text !== wanted) return { messageId: null, userId: null, event: null };
  return {
    messageId: verdict.data === undefined ? null : verdict.data.events.length > 0,
    userId: ofUser.data === undefined ? null : ofUser.data.data.length > 0,
    event: ofName.data === undefined ? null : ofName.data.data.length > 0,
  };
}

/** The text once nothing was typed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
