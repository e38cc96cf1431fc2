/** Cuts off a client that does not take an answer without an end, or that may no longer have it. */
import type { ServerResponse } from "node:http";
import type { StreamBounds } from "./route.ts";

const LOOK_MS = 250;

/**
 * Watches the response until it closes. How much may wait in it for the client is bounded by the stream that feeds it.
 */
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
