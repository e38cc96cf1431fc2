/** The fields of a call by its type: the parser's checks and the OpenAPI document are made from these schemas. */
import { z } from "zod";
import { isJsonObject } from "./json-fragment.ts";
import { ILL_FORMED_ID } from "./well-formed.ts";

/** The types of calls. The event type `delete` is missing: control alone makes those, from a deletion request. */
export const CALL_TYPES = ["identify", "track", "page", "screen", "group", "alias"] as const;
export type CallType = (typeof CALL_TYPES)[number];

/** Whether the value is the name of a type of call. */
export function isCallType(value: unknown): value is CallType {
  return CALL_TYPES.some((type) => type === value);
}

/** Longer ids would not fit the headers that carry them. */
const MAX_MESSAGE_ID_LENGTH = 255;
const MESSAGE_ID_WORDS = `must be a string of at most ${MAX_MESSAGE_ID_LENGTH} printable ASCII characters, such as a UUID`;
const PRINTABLE = /^[\x20-\x7e]*$/;

const jsonObject = z
  .unknown()
  .refine((value) => value === null || value === undefined || isJsonObject(value), "must be an object")
  .optional()
  .meta({ type: ["object", "null"] });
const ID_WORDS = `must be a string, or a whole number up to ${Number.MAX_SAFE_INTEGER}: send a longer one as a string`;
const id = z
  .union([z.string().refine((value) => value.isWellFormed(), ILL_FORMED_ID), z.int(ID_WORDS)], ID_WORDS)
  .nullish()
  .describe("A whole number stands for its decimal text.");
const text = z.string("must be a string").nullish();
const timestamp = z
  .string("must be ISO 8601 text, such as 2026-11-21T03:24:17.269Z")
  .meta({ format: "date-time" })
  .nullish()
  .describe("ISO 8601; without an offset it is UTC.");

/** The fields of every call. Fields that are named neither here nor in `typeFields` are passed on untouched. */
const commonFields = {
  messageId: z
    .union(
      [
        z
          .string()
          // The length is compared first: a text that is too long may be as long as a call, and its letters are not
          // looked at.
          .refine((value) => value.length <= MAX_MESSAGE_ID_LENGTH && PRINTABLE.test(value), MESSAGE_ID_WORDS)
          .meta({ maxLength: MAX_MESSAGE_ID_LENGTH, pattern: PRINTABLE.source }),
        z.int(ID_WORDS),
      ],
      MESSAGE_ID_WORDS,
    )
    .nullish()
    .describe("The same id within ten minutes is accepted once. Made where it is absent."),
  userId: id,
  anonymousId: id,
  timestamp: timestamp,
  originalTimestamp: timestamp,
  sentAt: z.unknown().optional().describe("The caller's clock when it sent; corrects `timestamp`."),
  context: jsonObject.describe("`ip` and `userAgent` are filled in where absent."),
  integrations: jsonObject.describe("Destination name to boolean or options object; `All` stands for every other."),
};

const typeFields = {
  identify: { traits: jsonObject },
  track: { event: text, properties: jsonObject },
  page: { name: text, properties: jsonObject },
  screen: { name: text, properties: jsonObject },
  group: { groupId: id, traits: jsonObject },
  alias: { previousId: id },
} as const;

/** The fields of a call, by type. */
export const CALL_SCHEMAS = {
  identify: z.object({ ...commonFields, ...typeFields.identify }),
  track: z.object({ ...commonFields, ...typeFields.track }),
  page: z.object({ ...commonFields, ...typeFields.page }),
  screen: z.object({ ...commonFields, ...typeFields.screen }),
  group: z.object({ ...commonFields, ...typeFields.group }),
  alias: z.object({ ...commonFields, ...typeFields.alias }),
} satisfies Record<CallType, z.ZodObject>;

/** Any call's fields; those that its type does not have are undefined. */
export interface CallFields {
  readonly messageId?: string | number | null | undefined;
  readonly userId?: string | number | null | undefined;
  readonly anonymousId?: string | number | null | undefined;
  readonly timestamp?: string | null | undefined;
  readonly originalTimestamp?: string | null | undefined;
  readonly sentAt?: unknown;
  readonly context?: unknown;
  readonly integrations?: unknown;
  readonly event?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly groupId?: string | number | null | undefined;
  readonly previousId?: string | number | null | undefined;
  readonly properties?: unknown;
  readonly traits?: unknown;
}
