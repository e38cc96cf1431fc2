/** The input of a deletion request, and the record that it becomes. */

import { createHash } from "node:crypto";
import { ILL_FORMED_ID, isWellFormedId } from "@posthaste/core/call/well-formed";
import type { Destination } from "@posthaste/core/config/destination";
import type { Source } from "@posthaste/core/config/source";
import type { Deletion, DeletionReceivers } from "@posthaste/core/deletion/deletion";
import { createId } from "@posthaste/http-kit/identifiers";
import { invalidInput } from "@posthaste/http-kit/problem";
import { z } from "zod";

export const MAX_USERS = 5000;
/** The most UTF-8 bytes of the user ids of one request, which stand in one record. */
const MAX_USER_ID_BYTES = 800_000;
/** The most users times sources: as many suppressions, and as many notifications to each destination. */
const MAX_USERS_BY_SOURCES = 50_000;

const userId = z
  .string()
  .min(1, "a user id is needed")
  .max(8192, "a user id is too long: 8,192 characters at the most")
  .refine(isWellFormedId, ILL_FORMED_ID);

export const deletionInput = z.strictObject({
  userId: userId.optional().describe("Whose data is to be deleted."),
  userIds: z
    .array(userId)
    .min(1, "name at least one user")
    .max(MAX_USERS, `name at most ${MAX_USERS} users in one request`)
    .optional()
    .describe(`Instead of userId: up to ${MAX_USERS} users.`),
  sourceIds: z
    .array(z.string())
    .min(1, "name at least one source, or leave this out for all")
    .optional()
    .describe("The sources that the request concerns; all that are enabled when absent."),
  id: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,64}$/, "expected 1 to 64 letters, digits, dots, hyphens or underscores")
    .optional()
    .describe("The request's id, of the caller's choice: the same request under the same id is carried out once."),
  suppress: z
    .boolean()
    .default(false)
    .describe(
      "From the answer on no event of the users from these sources is delivered, until the suppression is ended.",
    ),
});
export type DeletionInput = z.output<typeof deletionInput>;

export interface DeletionContext {
  readonly sources: Iterable<Source>;
  readonly destinations: Iterable<Destination>;
  readonly nowMs: number;
  /** How long suppressions last, ms; null for good. */
  readonly suppressionMs: number | null;
}

/**
 * The request as it is written. Throws a Problem for a request that names users in both ways or in neither, and beyond
 * the limits.
 */
export function toDeletion(input: DeletionInput, context: DeletionContext): Deletion {
  const { suppress } = input;
  const { nowMs, suppressionMs } = context;
  const userIds = usersOf(input);
  const named = input.sourceIds === undefined ? undefined : [...new Set(input.sourceIds)];
  const sourceIds = named ?? [...context.sources].filter(({ enabled }) => enabled).map(({ id }) => id);
  if (userIds.length * sourceIds.length > MAX_USERS_BY_SOURCES) {
    const message = `${userIds.length} users of ${sourceIds.length} sources are too many for one request: users times sources are ${MAX_USERS_BY_SOURCES} at the most`;
    throw invalidInput([{ path: "userIds", message }]);
  }
  return {
    id: input.id ?? createId("del"),
    state: "requested",
    createdAtMs: nowMs,
    sentAtMs: null,
    suppress,
    suppressionEndsAtMs: suppress && suppressionMs !== null ? nowMs + suppressionMs : null,
    content: createHash("sha256")
      .update(JSON.stringify([userIds, named ?? null, suppress]))
      .digest("hex"),
    userIds,
    sourceIds,
    receivers: receiversOf(sourceIds, context.destinations),
  };
}

/** Each user once, in the order of the request. */
function usersOf({ userId: only, userIds }: DeletionInput): readonly string[] {
  if ((only === undefined) === (userIds === undefined)) {
    throw invalidInput([{ path: "userId", message: "expected either userId or userIds" }]);
  }
  const users = [...new Set(userIds ?? [only ?? ""])];
  const bytes = users.reduce((sum, each) => sum + Buffer.byteLength(each), 0);
  if (bytes > MAX_USER_ID_BYTES) {
    const message = `the user ids take ${bytes} bytes: ${MAX_USER_ID_BYTES} at the most in one request`;
    throw invalidInput([{ path: "userIds", message }]);
  }
  return users;
}

function receiversOf(sourceIds: readonly string[], destinations: Iterable<Destination>): readonly DeletionReceivers[] {
  const enabled = [...destinations].filter((destination) => destination.enabled);
  return sourceIds
    .map((sourceId) => {
      const connected = enabled.filter((destination) => destination.sourceIds.includes(sourceId));
      return { sourceId, destinationIds: connected.map(({ id }) => id).sort() };
    })
    .filter(({ destinationIds }) => destinationIds.length > 0);
}
