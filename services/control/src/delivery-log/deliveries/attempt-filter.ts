/** The filters of attempts and deliveries that the projection's own columns do not cover. */
import type { LoggedDelivery } from "@posthaste/core/delivery/attempt-record";
import { classifyStatus } from "@posthaste/core/delivery/outcome";
import { EVENT_TYPES, type EventType } from "@posthaste/core/event/event";
import { shortName } from "@posthaste/core/routing/short-name";
import type { UrlAnswer } from "@posthaste/core/verdict/verdict";
import { attemptFromEntry } from "@posthaste/read-model/attempt-entry";
import type { ProjectionEntry } from "@posthaste/read-model/projection-entry";
import { z } from "zod";

export const STATUS_CLASSES = ["1xx", "2xx", "3xx", "4xx", "5xx"] as const;

/** The query's fields; each narrows the list. */
export const attemptFilter = {
  type: z
    .enum(EVENT_TYPES, `expected one of ${EVENT_TYPES.join(", ")}`)
    .optional()
    .describe("Of an event of this type."),
  sourceId: z.string().optional(),
  userId: z.string().optional().describe("Of this user: the user id, else the anonymous id."),
  event: z.string().optional().describe("Of an event of this name: a track's event, a page's or screen's name."),
  replayId: z.string().optional().describe("Of this replay or resend."),
  attempt: z.coerce.number("expected a whole number from 1").int().min(1).optional().describe("1 for the first."),
  error: z.string().optional().describe("A URL failed so: a code such as timeout, or a status."),
  statusClass: z
    .enum(STATUS_CLASSES, `expected one of ${STATUS_CLASSES.join(", ")}`)
    .optional()
    .describe("A URL answered with a status of this class."),
};

export interface AttemptFilter {
  readonly type?: EventType | undefined;
  readonly sourceId?: string | undefined;
  readonly userId?: string | undefined;
  readonly event?: string | undefined;
  readonly replayId?: string | undefined;
  readonly attempt?: number | undefined;
  readonly error?: string | undefined;
  readonly statusClass?: (typeof STATUS_CLASSES)[number] | undefined;
}

/** The fields that the filters look at. */
export interface FilteredDelivery extends Pick<LoggedDelivery, "type" | "sourceId" | "userKey" | "event" | "replayId"> {
  /** The number of the attempt, or of a delivery's newest attempt; 0 where there was none. */
  readonly attempt: number;
  /** The answers of its URLs. */
  readonly urls: readonly UrlAnswer[];
}

/** Null where every delivery fits. */
export function deliveryCheck(filter: AttemptFilter): ((found: FilteredDelivery) => boolean) | null {
  if (Object.values(filter).every((value) => value === undefined)) return null;
  const { type, sourceId, replayId, attempt, error, statusClass } = filter;
  // The log holds long names shortened.
  const userKey = filter.userId === undefined ? undefined : shortName(filter.userId);
  const event = filter.event === undefined ? undefined : shortName(filter.event);
  return (found) =>
    isAsked(type, found.type) &&
    isAsked(sourceId, found.sourceId) &&
    isAsked(userKey, found.userKey) &&
    isAsked(event, found.event) &&
    isAsked(replayId, found.replayId) &&
    isAsked(attempt, found.attempt) &&
    (error === undefined || found.urls.some((url) => failureOf(url) === error)) &&
    (statusClass === undefined || found.urls.some(({ status }) => classOf(status) === statusClass));
}

/** Null where every attempt fits. */
export function attemptCheck(filter: AttemptFilter): ((entry: ProjectionEntry) => boolean) | null {
  const check = deliveryCheck(filter);
  return check === null ? null : (entry) => check(attemptFromEntry(entry));
}

function isAsked<T>(asked: T | undefined, found: unknown): boolean {
  return asked === undefined || asked === found;
}

/** The error code, or the status with which the URL refused; null for a URL that took the delivery. */
export function failureOf({ status, error }: UrlAnswer): string | null {
  if (status === null) return error;
  return classifyStatus(status) === "delivered" ? null : String(status);
}

function classOf(status: number | null): string | null {
  return status === null ? null : `${Math.floor(status / 100)}xx`;
}
