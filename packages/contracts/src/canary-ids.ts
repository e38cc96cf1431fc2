/**
 * The ids of canaries: the source and the destination of a control process, which nobody configures and no list shows.
 * Both follow from the origin of that process, so that a restarted process finds its own again, and so that delivery
 * knows from its settings alone which destination may reach which origin.
 */
import { createHash } from "node:crypto";

/** No id that control draws for a caller has a second underscore. */
const SOURCE = "src_canary_";
const DESTINATION = "dst_canary_";

export interface CanaryIds {
  readonly sourceId: string;
  readonly destinationId: string;
}

/** The ids of the process that listens at the origin, such as `http://control:8090`. */
export function canaryIdsOf(origin: string): CanaryIds {
  const mark = createHash("sha256").update(origin).digest("hex").slice(0, 20);
  return { sourceId: SOURCE + mark, destinationId: DESTINATION + mark };
}

/** Whether a source or a destination is a canary's. */
export function isCanaryId(id: string): boolean {
  return id.startsWith(DESTINATION) || id.startsWith(SOURCE);
}
