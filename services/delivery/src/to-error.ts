/** Makes an error of whatever was thrown: a bug may throw anything. */
import { PosthasteError } from "@posthaste/core/errors";

export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new PosthasteError("internal", String(thrown));
}
