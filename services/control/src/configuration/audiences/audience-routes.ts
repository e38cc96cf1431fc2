/** The routes of audiences and their members. */

import { parseMember, readSaid } from "@posthaste/audiences/uploaded-lines";
import { audienceInput, membersPatch, userIdInput } from "@posthaste/core/audience/audience-settings";
import { pageQuery } from "@posthaste/http-kit/page";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import { z } from "zod";
import { type AudienceHandlers, saidOf } from "./audience-handlers.ts";
import { audienceAnswer, audienceEntry, audiencePage, memberAnswer, membersAnswer } from "./audience-view.ts";

/** The most bytes of a membership as an array: some hundred thousand users. More come as lines. */
const MAX_ARRAY_BYTES = 4 * 1024 * 1024;

const memberInput = z.union([userIdInput, z.object({ userId: userIdInput }).transform(({ userId }) => userId)]);

export function audienceRoutes(handlers: AudienceHandlers): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/audiences",
      operation: "listAudiences",
      summary: "Audiences, oldest first",
      query: pageQuery,
      answer: { status: 200, description: "One page of audiences.", body: audiencePage },
      handle: ({ query }) => handlers.list("audience", query),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/audiences",
      operation: "createAudience",
      summary: "Make an audience; nobody is in it yet",
      body: { name: "AudienceInput", schema: audienceInput },
      answer: { status: 201, description: "The audience.", body: audienceEntry },
      refusals: ["conflict"],
      handle: ({ body, by }) => handlers.create(body, by),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/audiences/{id}",
      operation: "getAudience",
      summary: "One audience: its size, its last sync, and what waits to be told",
      answer: { status: 200, description: "The audience.", body: audienceAnswer },
      refusals: ["not_found"],
      handle: ({ params }) => handlers.get(params.id),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/audiences/{id}",
      operation: "removeAudience",
      summary: "Remove an audience; nobody is told of it, and one that is made anew begins with nobody",
      answer: { status: 204, description: "It is gone." },
      refusals: ["not_found", "conflict"],
      isLong: true,
      handle: ({ params, by }) => handlers.remove(params.id, by),
    }),
  ];
}

export function memberRoutes(handlers: AudienceHandlers): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/audiences/{id}/members/{userId}",
      operation: "getAudienceMember",
      summary: "Whether a user is in an audience",
      answer: { status: 200, description: "Whether the user is in it.", body: memberAnswer },
      refusals: ["not_found"],
      handle: ({ params }) => handlers.member(params.id, params.userId),
    }),
    defineRoute({
      method: "PUT",
      path: "/v1/audiences/{id}/members",
      operation: "setAudienceMembers",
      summary: "The whole membership: an identify for each user who came or went since the last one",
      body: { name: "Members", schema: z.array(memberInput) },
      bodyLimit: MAX_ARRAY_BYTES,
      upload: {
        mediaType: "application/x-ndjson",
        description:
          'A user a line, of any length: "user-7", 17 or {"userId": "user-7"}. One that breaks off changes nobody.',
        handle: ({ params, chunks, by }) =>
          handlers.setMembers(params.id, { said: readSaid(chunks, parseMember), isWhole: true, by }),
      },
      answer: { status: 200, description: "The brokers have every change.", body: membersAnswer },
      refusals: ["not_found", "conflict"],
      isLong: true,
      handle: ({ params, body, by }) =>
        handlers.setMembers(params.id, { said: saidOf(body, "true"), isWhole: true, by }),
    }),
    defineRoute({
      method: "PATCH",
      path: "/v1/audiences/{id}/members",
      operation: "changeAudienceMembers",
      summary: "Changes of the membership; everybody else stays",
      body: { name: "MembersPatch", schema: membersPatch },
      answer: { status: 200, description: "The brokers have every change.", body: membersAnswer },
      refusals: ["not_found", "conflict"],
      isLong: true,
      handle: ({ params, body: { add, remove }, by }) => {
        const said = [...saidOf(add, "true"), ...saidOf(remove, "false")];
        return handlers.setMembers(params.id, { said, isWhole: false, by });
      },
    }),
  ];
}
