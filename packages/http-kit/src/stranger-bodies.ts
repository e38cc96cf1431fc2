/**
 * The bodies of callers that are not known: no token or session answers for their cost.
 *
 * Owns: the bodies that are being read.
 * SG1  Such a body has at most `MAX_STRANGER_BODY_BYTES`, where the path sets no other bound.
 * SG2  At most `MAX_OF_ADDRESS` of one address are read at once, and `MAX_IN_ALL` of all. For one more the oldest of
 *      them is cut off: a whole body comes within a moment, so the oldest is one that stalls.
 */
import type { IncomingMessage } from "node:http";
import { dropRest } from "@posthaste/runtime/wire-pieces";
import type { FastifyInstance } from "fastify";

export const MAX_STRANGER_BODY_BYTES = 4 * 1024;
export const MAX_OF_ADDRESS = 16;
export const MAX_IN_ALL = 64;

/** The code of the error that `clientError` gets for a body that is cut off (SG2). */
export const TOO_MANY_STRANGERS = "TOO_MANY_STRANGERS";

type Body = Pick<IncomingMessage, "once" | "socket">;

declare module "fastify" {
  interface FastifyRequest {
    /** Whether a token or a session identifies the sender. */
    isOfKnownCaller: boolean;
  }
}

/** Bounds the bodies of callers that are not known (stranger-bodies.ts). */
export function boundStrangers(server: FastifyInstance): void {
  server.decorateRequest("isOfKnownCaller", false);
  const strangers = new StrangerBodies(({ socket }) => {
    const error = Object.assign(new Error("too many bodies of unknown callers"), { code: TOO_MANY_STRANGERS });
    server.server.emit("clientError", error, socket);
    dropRest(socket);
  });
  server.addHook("preParsing", async (request) => {
    if (!request.isOfKnownCaller && !request.raw.complete) strangers.begin(request.raw, request.ip);
  });
}

export class StrangerBodies {
  /** Each with its address, the oldest first. */
  readonly #read = new Map<Body, string>();
  readonly #cutOff: (body: Body) => void;

  constructor(cutOff: (body: Body) => void) {
    this.#cutOff = cutOff;
  }

  begin(body: Body, address: string): void {
    const ofAddress = [...this.#read].filter(([, its]) => its === address).map(([each]) => each);
    if (ofAddress.length >= MAX_OF_ADDRESS) this.#end(ofAddress[0]);
    else if (this.#read.size >= MAX_IN_ALL) this.#end(this.#read.keys().next().value);
    this.#read.set(body, address);
    const forget = () => this.#read.delete(body);
    body.once("end", forget);
    body.once("close", forget);
  }

  #end(body: Body | undefined): void {
    if (body === undefined) return;
    this.#read.delete(body);
    this.#cutOff(body);
  }
}
