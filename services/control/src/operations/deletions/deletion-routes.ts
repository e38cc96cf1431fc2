/**
 * The routes of deletion requests. A request becomes a `delete` event for each user and affected source, so that
 * receivers can start their own automation.
 */
import { DELETION_STATES } from "@posthaste/core/deletion/deletion";
import type { DeletionLine } from "@posthaste/deletions/deletion-store";
import { freshAnswer, freshness } from "@posthaste/http-kit/freshness";
import { pageOf, pageQuery } from "@posthaste/http-kit/page";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import { z } from "zod";
import type { DeletionHandlers } from "./deletion-handlers.ts";
import { deletionInput } from "./deletion-input.ts";
import { NOTIFICATION_STATES, type NotificationState } from "./notification-states.ts";

const time = z.iso.datetime();
const suppressed = z
  .int()
  .describe("Users times sources of which nothing is delivered; absent where nobody is suppressed.");

const deletionAnswer = z.object({
  id: z.string(),
  notifications: z
    .int()
    .describe(
      "Notifications that are forwarded: one for each user and each enabled destination of each affected source.",
    ),
  suppressed: suppressed.optional(),
});

const listedDeletion = z.object({
  id: z.string(),
  state: z
    .enum(DELETION_STATES)
    .describe("requested: on record, and carried out even if control ends; sent: the brokers have all of it."),
  users: z.int(),
  sourceIds: z.array(z.string()).describe("The affected sources."),
  notifications: z.int(),
  suppress: z.boolean(),
  suppressionEndsAt: time.nullable().describe("Null for never, and where nobody is suppressed."),
  createdAt: time,
  sentAt: time.nullable(),
});

const deletionStatus = listedDeletion.extend({
  states: z
    .object(Object.fromEntries(NOTIFICATION_STATES.map((state) => [state, z.int()])))
    .describe("Its notifications by what is known of them: sent, retrying, delivered, dead."),
  ...freshness,
});

const notification = z.object({
  userId: z.string(),
  sourceId: z.string(),
  destinationId: z.string(),
  messageId: z.string().describe("X-Message-Id of the requests."),
  state: z.enum(NOTIFICATION_STATES),
  attempts: z.int(),
  firstAttemptAt: time.nullable(),
  lastAttemptAt: time.nullable(),
  deliveredAt: time.nullable().describe("When the attempt that was delivered started."),
  deadAt: time.nullable(),
});

export function deletionRoutes(handlers: DeletionHandlers): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/deletions",
      operation: "createDeletion",
      summary: "Tell receivers to delete users: a delete event for each user and source that has a destination enabled",
      body: { name: "DeletionInput", schema: deletionInput },
      answer: {
        status: 202,
        description: "The brokers have the events. With suppress: no attempt for the users begins from now on.",
        body: { name: "Deletion", schema: deletionAnswer },
      },
      refusals: ["conflict"],
      handle: ({ body, by }) => handlers.create(body, by),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/deletions",
      operation: "listDeletions",
      summary: "Deletion requests, newest first",
      query: pageQuery,
      answer: {
        status: 200,
        description: "One page of requests.",
        body: { name: "DeletionPage", schema: pageOf(listedDeletion) },
      },
      handle: ({ query }) => {
        const page = handlers.list(query);
        return { ...page, data: page.data.map(listed) };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/deletions/{id}",
      operation: "getDeletion",
      summary: "How far a deletion request is",
      answer: { status: 200, description: "The request.", body: { name: "DeletionStatus", schema: deletionStatus } },
      refusals: ["not_found"],
      handle: async ({ params: { id } }) => {
        const line = await handlers.find(id);
        const fresh = handlers.freshness;
        return { ...listed(line), states: await handlers.count(line), ...freshAnswer(fresh) };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/deletions/{id}/notifications",
      operation: "listDeletionNotifications",
      summary: "The notifications of a deletion request, user by user",
      query: pageQuery,
      answer: {
        status: 200,
        description: "One page of notifications.",
        body: {
          name: "DeletionNotificationPage",
          schema: pageOf(notification),
        },
      },
      refusals: ["not_found"],
      handle: async ({ params: { id }, query }) => {
        const fresh = handlers.freshness;
        const { data, nextCursor } = await handlers.notifications(id, query);
        return { data: data.map(viewNotification), nextCursor, ...freshAnswer(fresh) };
      },
    }),
  ];
}

function listed(line: DeletionLine): z.input<typeof listedDeletion> {
  const { createdAtMs, sentAtMs, suppressionEndsAtMs, users, receivers } = line;
  return {
    id: line.id,
    state: line.state,
    users,
    sourceIds: [...line.sourceIds],
    notifications: users * receivers.reduce((sum, { destinationIds }) => sum + destinationIds.length, 0),
    suppress: line.suppress,
    suppressionEndsAt: momentOf(suppressionEndsAtMs),
    createdAt: new Date(createdAtMs).toISOString(),
    sentAt: momentOf(sentAtMs),
  };
}

function viewNotification(of: NotificationState): z.input<typeof notification> {
  const { userId, sourceId, destinationId, messageId, state, attempts } = of;
  return {
    ...{ userId, sourceId, destinationId, messageId, state, attempts },
    firstAttemptAt: momentOf(of.firstAttemptMs),
    lastAttemptAt: momentOf(of.lastAttemptMs),
    deliveredAt: momentOf(of.deliveredMs),
    deadAt: momentOf(of.deadMs),
  };
}

function momentOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
