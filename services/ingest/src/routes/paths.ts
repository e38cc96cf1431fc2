/**
 * The paths that accept calls, under every name that a client of the field uses. A trailing slash makes no difference.
 */
import type { CallType } from "@posthaste/core/call/call-schema";

/** Single calls: the documented names and the browser's short ones. */
export const CALL_PATHS: Readonly<Record<string, CallType>> = {
  "/v1/identify": "identify",
  "/v1/track": "track",
  "/v1/page": "page",
  "/v1/screen": "screen",
  "/v1/group": "group",
  "/v1/alias": "alias",
  "/v1/i": "identify",
  "/v1/t": "track",
  "/v1/p": "page",
  "/v1/s": "screen",
  "/v1/g": "group",
  "/v1/a": "alias",
};

/** Batches: servers, Java, browsers and mobile devices, and pages that can set no header. */
export const BATCH_PATHS = ["/v1/batch", "/v1/import", "/v1/b", "/beacon/v1/batch"] as const;
