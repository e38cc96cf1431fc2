/**
 * The sender for canaries beside the usual one: it reaches the addresses of control, which the guard refuses to all.
 *
 * CV1  A destination gets this sender where its id is that of an origin in the settings, and each of its URLs is of
 *      that origin. The configuration alone, whoever wrote it, lets nobody pass.
 * - The sender has connections of its own: no other destination's request goes over a connection to control.
 */
import { canaryIdsOf } from "@posthaste/contracts/canary-ids";
import type { Destination } from "@posthaste/core/config/destination";
import { createWebhookSender, type WebhookSender, type WebhookSenderOptions } from "@posthaste/webhook/sender";
import { Registry } from "prom-client";

const EVERYWHERE = ["0.0.0.0/0", "::/0"];

export type DeliverySender = Pick<WebhookSender, "attempt" | "maxConnections" | "close">;

/** Answers `usual` where there are no canaries. `origins`: each as `http://control:8090`. */
export function withCanaries(
  usual: DeliverySender,
  origins: readonly string[],
  options: Pick<WebhookSenderOptions, "extraCa" | "clock" | "limits">,
): DeliverySender {
  if (origins.length === 0) return usual;
  const originOf = new Map(origins.map((origin) => [canaryIdsOf(origin).destinationId, origin]));
  const isCanary = ({ id, urls }: Destination): boolean => {
    const origin = originOf.get(id);
    return origin !== undefined && urls.every(({ url }) => URL.parse(url)?.origin === origin);
  };
  // Its requests are no deliveries of anybody, so they stand in no metric of requests.
  const own = createWebhookSender({ ...options, allowNetworks: EVERYWHERE, registry: new Registry() });
  return {
    maxConnections: usual.maxConnections,
    attempt: (request, listener) => (isCanary(request.destination) ? own : usual).attempt(request, listener),
    close: async () => {
      await Promise.all([usual.close(), own.close()]);
    },
  };
}
