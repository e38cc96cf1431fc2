/** Sends one sample call to ingest with a source's key. */
import type { CallType } from "@posthaste/core/call/call-schema";
import { callIngest, type IngestCall, type IngestOutcome } from "@posthaste/runtime/ingest-call";
import { sampleEvent } from "./sample-event.ts";

export interface SampleOptions extends Pick<IngestCall, "ingestUrl" | "writeKey"> {
  readonly type: CallType;
  readonly messageId: string;
  readonly nowMs: number;
}

export function sendSample({ messageId, nowMs, ...of }: SampleOptions): Promise<IngestOutcome> {
  return callIngest({ ...of, call: sampleCall(of.type, messageId, nowMs), agent: "posthaste-sample/1.0" });
}

function sampleCall(type: CallType, messageId: string, nowMs: number) {
  const event = sampleEvent(type, { messageId, nowMs });
  const json = (text: string | null) => (text === null ? undefined : JSON.parse(text));
  return {
    ...{ messageId, userId: event.userId, timestamp: new Date(nowMs).toISOString() },
    ...{ event: event.event ?? undefined, name: event.name ?? undefined },
    ...{ groupId: event.groupId ?? undefined, previousId: event.previousId ?? undefined },
    ...{ properties: json(event.propertiesJson), traits: json(event.traitsJson), context: json(event.contextJson) },
  };
}
