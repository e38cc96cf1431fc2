/** The answer to a request that an error ended: a fault of Posthaste's, or a request that cannot be read. */
import type { Log } from "@posthaste/core/log";
import { malformed, type Refusal } from "../answer/answer.ts";

const INTERNAL: Refusal = {
  accepted: false,
  status: 500,
  code: "internal",
  message: "The call was not taken, by a fault of this service; send it again.",
  answer: "internal",
};

/** The parts of the server that hear of its own faults. */
export interface FaultPorts {
  readonly log: Log;
  /** Counts a request that a fault of Posthaste's ended. */
  readonly countFault: (refusal: Refusal) => void;
}

/** Returns the refusal for an error. A fault of Posthaste's is logged and counted (HS2 of server.ts). */
export function refusalOfError(error: unknown, { log, countFault }: FaultPorts): Refusal {
  const status = error instanceof Error ? statusOf(error) : 500;
  if (error instanceof Error && status < 500) {
    return malformed("malformed_request", `The request cannot be read: ${error.message}.`, status);
  }
  log.error({ event: "request_failed", err: error });
  countFault(INTERNAL);
  return INTERNAL;
}

function statusOf(error: Error): number {
  const status = "statusCode" in error ? error.statusCode : 500;
  return typeof status === "number" ? status : 500;
}
