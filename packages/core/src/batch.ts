/** Batches: calls in one request, and what stands beside them for all of them. */
import { z } from "zod";
import { type CallRefusal, sentAtMs } from "./call.ts";
import { isJsonObject, type JsonObject } from "./json-fragment.ts";

const sharedObject = z
  .unknown()
  .refine((value) => value === null || value === undefined || isJsonObject(value), "must be an object")
  .optional()
  .meta({ type: ["object", "null"] });

/** The check and the OpenAPI document are made from this. The calls themselves are parsed one by one. */
export const BATCH_SCHEMA = z.object({
  batch: z
    .unknown()
    .refine((value) => value === null || Array.isArray(value), `must be an array of calls`)
    .meta({ type: ["array", "null"] }),
  context: sharedObject.describe("Each key stands in every call that does not have it."),
  integrations: sharedObject.describe("Each key stands in every call that does not have it."),
  sentAt: z.unknown().optional().describe("The caller's clock when it sent; corrects every `timestamp`."),
});

export interface Batch {
  readonly calls: readonly unknown[];
  readonly context: JsonObject | null;
  readonly integrations: JsonObject | null;
  /** Ms since the epoch; null when the batch does not say, or not readably. */
  readonly sentAtMs: number | null;
}

export type ParsedBatch =
  | { readonly taken: true; readonly batch: Batch }
  | { readonly taken: false; readonly refusal: CallRefusal };

/** Parses the envelope. One client sends `"batch": null` when it is closed with nothing left: that is a batch of none. */
export function parseBatch(body: JsonObject): ParsedBatch {
  const checked = BATCH_SCHEMA.safeParse(body);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    const field = issue?.path.map(String).join(".") ?? "";
    const message = field === "batch" ? `"batch" must be an array of calls.` : `"${field}" ${issue?.message}.`;
    return { taken: false, refusal: { code: "invalid_field", message } };
  }
  const { batch, context, integrations, sentAt } = checked.data;
  return {
    taken: true,
    batch: {
      calls: Array.isArray(batch) ? batch : [],
      context: isJsonObject(context) ? context : null,
      integrations: isJsonObject(integrations) ? integrations : null,
      sentAtMs: sentAtMs(sentAt),
    },
  };
}
