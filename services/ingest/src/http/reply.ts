/** Writing answers. Every body is JSON, since a client of the field takes a 200 with anything else for a failure. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Answer, Refusal } from "../answer/answer.ts";
import { corsHeaders } from "./cors.ts";

const JSON_TYPE = "application/json";
/** Text, not bytes: Node then writes head and body at once, where a buffer costs a second piece and a slower call. */
const SUCCESS = `{"success":true}`;

/** Sends what became of a request's calls. */
export function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply {
  if (!answer.accepted) return sendRefusal(request, reply, answer);
  const body = answer.rejected.length === 0 ? SUCCESS : JSON.stringify({ success: true, rejected: answer.rejected });
  return sendJson(request, reply, body);
}

/** Sends 200 with a body that is JSON text already. */
export function sendJson(request: FastifyRequest, reply: FastifyReply, json: string): FastifyReply {
  addCommonHeaders(request, reply);
  return reply.header("content-type", JSON_TYPE).send(json);
}

export function sendRefusal(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply {
  addCommonHeaders(request, reply);
  if (refusal.retryAfterS !== undefined) {
    reply.header("retry-after", refusal.retryAfterS);
    if (refusal.status === 429) reply.header("x-ratelimit-reset", refusal.retryAfterS);
  }
  // What was not read of a body that is too large or too slow would be taken for the next request.
  if (refusal.status === 413 || refusal.status === 408) reply.header("connection", "close");
  if (refusal.status === 401) reply.header("www-authenticate", `Basic realm="write key"`);
  reply.code(refusal.status).header("content-type", JSON_TYPE);
  return reply.send(JSON.stringify({ code: refusal.code, message: refusal.message }));
}

/** Headers of every answer: the page that sent the request may read it, and at a stop the connection ends with it. */
export function addCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  const { origin } = request.headers;
  if (origin !== undefined) reply.headers(corsHeaders(origin));
  if (!request.server.server.listening) reply.header("connection", "close");
}
