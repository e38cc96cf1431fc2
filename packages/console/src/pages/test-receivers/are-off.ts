import { ApiProblem } from "../../api/client.ts";

/** Whether the list of test receivers was refused since control has none: they are for one's own machine. */
export function areOff(error: Error | null): boolean {
  return error instanceof ApiProblem && error.status === 409;
}
