/** The settings of a source that the control API accepts: zod schemas, the one check of an operator's input. */
import { z } from "zod";
import { SOURCE_KINDS } from "./source.ts";

/** Controls, line ends, halves of surrogate pairs, and formats that nobody sees, but for the joiners of letters. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u;

/** True of a name that reads everywhere as it was written. */
export const isPlainName = (name: string): boolean => !UNSEEN.test(name);
export const PLAIN_NAME_WORDS = "a name holds no line end, and no character that is not seen or turns text around";

/** The name of a source or a destination, for people. */
export const nameInput = z
  .string("a name is needed, as text")
  .trim()
  .min(1, "a name is needed")
  .max(200, "a name has at most 200 characters")
  .refine(isPlainName, PLAIN_NAME_WORDS)
  .describe("A name for people.");

export const sourceInput = z.strictObject({
  name: nameInput,
  kind: z.enum(SOURCE_KINDS, `expected one of ${SOURCE_KINDS.join(", ")}`),
  enabled: z.boolean().default(true).describe("Ingest takes calls of an enabled source only."),
});
export type SourceInput = z.output<typeof sourceInput>;

/** The revision that a change was made from; a stale one is refused. */
export const revisionInput = z
  .int()
  .min(0)
  .optional()
  .describe("The revision that this change was made from. When it is no longer the newest, the change is refused.");

export const sourcePatch = z.strictObject({
  revision: revisionInput,
  name: nameInput.optional(),
  kind: sourceInput.shape.kind.optional(),
  enabled: z.boolean().optional(),
});
export type SourcePatch = z.output<typeof sourcePatch>;

/** How long a key that was rotated out is still accepted, unless the caller says otherwise, in seconds: one day. */
export const DEFAULT_KEY_GRACE_SECONDS = 24 * 60 * 60;
/** A year: an old key that lives longer is not rotated out. */
const MAX_KEY_GRACE_SECONDS = 365 * 24 * 60 * 60;

export const writeKeyRotationInput = z.strictObject({
  oldKeySeconds: z
    .int()
    .min(0)
    .max(MAX_KEY_GRACE_SECONDS)
    .default(DEFAULT_KEY_GRACE_SECONDS)
    .describe("For how many seconds calls with the old key are still accepted; 0 refuses them at once."),
});
