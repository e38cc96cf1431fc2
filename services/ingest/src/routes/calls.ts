/** The routes that take calls by POST. */
import type { FastifyInstance } from "fastify";
import type { TakeCalls } from "../request/take-calls.ts";
import { BATCH_PATHS, CALL_PATHS } from "./paths.ts";

/** The path of a request reads the body itself, after the key. */
const ROUTE = { config: { readsItsBody: true } } as const;

export function addCallRoutes(app: FastifyInstance, takeCalls: TakeCalls): void {
  for (const [path, type] of Object.entries(CALL_PATHS)) {
    app.post(path, ROUTE, (request, reply) => takeCalls(request, reply, type));
  }
  for (const path of BATCH_PATHS) {
    app.post(path, ROUTE, (request, reply) => takeCalls(request, reply, "batch"));
  }
}
