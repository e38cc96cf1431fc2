/** Cuts off whoever does not take an answer that has no end, or may no more have it. */
import type { ServerResponse } from "node:http";
import type { StreamBounds } from "./route.ts";

const LOOK_MS = 250;

/** Until the response closes. What waits in it to be taken is bounded by the stream before it. */
export function boundStream(response: ServerResponse, { stallMs, mayGoOn }: StreamBounds): void {
  let movedAtMs = performance.now();
  const looking = setInterval(() => {
    if (!response.writableNeedDrain) movedAtMs = performance.now();
    if (!mayGoOn() || performance.now() - movedAtMs > stallMs) response.destroy();
  }, LOOK_MS);
  response.on("drain", () => {
    movedAtMs = performance.now();
  });
  response.once("close", () => clearInterval(looking));
}
