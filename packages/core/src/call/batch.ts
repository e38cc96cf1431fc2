/** Batches: the calls of one request, and the fields that its body has for all of them. */
import { z } from "zod";
import { sentAtMs } from "./call.ts";
import { isJsonObject, type JsonObject, MAX_NESTING, toFragment } from "./json-fragment.ts";
import { type SharedContext, type SharedIntegrations, shareContext, shareIntegrations } from "./shared-fields.ts";

const sharedObject = z
  .unknown()
  .refine((value) => value === null || value === undefined || isJsonObject(value), "must be an object")
  .optional()
  .meta({ type: ["object", "null"] });

/**
 * The envelope of a batch. Both the check and the OpenAPI document are made from it; the calls are parsed one by one.
 */
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
  readonly context: SharedContext | null;
  readonly integrations: SharedIntegrations | null;
  /** Ms since the epoch; null when the batch has no `sentAt` that can be read. */
  readonly sentAtMs: number | null;
}

export interface BatchRefusal {
  readonly code: "invalid_field" | "nested_too_deep" | "shared_too_large";
  /** One sentence with the change that the caller should make. */
  readonly message: string;
}

export type ParsedBatch =
  | { readonly accepted: true; readonly batch: Batch }
  | { readonly accepted: false; readonly refusal: BatchRefusal };

/**
 * Parses the envelope. One client sends `"batch": null` when it is closed with nothing left to send: a batch of no
 * calls. `maxSharedLength`: how long the context and the integrations may each be as compact JSON, in UTF-16 units,
 * since they stand in every call.
 */
export function parseBatch(body: JsonObject, maxSharedLength: number): ParsedBatch {
  const checked = BATCH_SCHEMA.safeParse(body);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    const field = issue?.path.map(String).join(".") ?? "";
    const message = field === "batch" ? `"batch" must be an array of calls.` : `"${field}" ${issue?.message}.`;
    return refuse("invalid_field", message);
  }
  const { batch, context, integrations, sentAt } = checked.data;
  for (const [name, value] of Object.entries({ context, integrations })) {
    const json = toFragment(value ?? null, MAX_NESTING - 1);
    if (json === null) {
      return refuse(
        "nested_too_deep",
        `The batch's "${name}" may nest at most ${MAX_NESTING - 1} objects and arrays in one another.`,
      );
    }
    if (json.length > maxSharedLength) {
      return refuse(
        "shared_too_large",
        `The batch's "${name}" may have at most ${maxSharedLength} characters of JSON; shorten it.`,
      );
    }
  }
  return {
    accepted: true,
    batch: {
      calls: Array.isArray(batch) ? batch : [],
      context: isJsonObject(context) ? shareContext(context) : null,
      integrations: isJsonObject(integrations) ? shareIntegrations(integrations) : null,
      sentAtMs: sentAtMs(sentAt),
    },
  };
}

function refuse(code: BatchRefusal["code"], message: string): ParsedBatch {
  return { accepted: false, refusal: { code, message } };
}
