/** JSON bodies: the parser keeps their content out of its errors, and refuses the key that would set a prototype. */
import type { FastifyInstance } from "fastify";
import { Problem } from "./problem.ts";

/**
 * Makes the server take JSON and no other media type. An empty body counts as no body, since clients name a type for
 * those too.
 */
export function readJsonBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("application/json", { parseAs: "string" }, (_, body, done) => {
    if (body.length === 0) return done(null, undefined);
    try {
      done(null, parseJson(body.toString()));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
}

/** Throws a Problem, also for the key `__proto__`, with which an object could change its own prototype. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, (key, value: unknown) => {
      if (key === "__proto__") throw new Problem("invalid_input", 'the key "__proto__" is not allowed');
      return value;
    });
  } catch (error) {
    if (error instanceof Problem) throw error;
    // The parser's own words quote the body, which may hold a secret.
    throw new Problem("invalid_input", "the body is not JSON");
  }
}
