/** Puts together the test receivers, which are off except for local use. */

import type { ConfigStore } from "@posthaste/configuration/config-store";
import type { Destination } from "@posthaste/core/config/destination";
import type { Clock } from "@posthaste/core/time";
import type { Route } from "@posthaste/http-kit/route";
import type { FastifyInstance } from "fastify";
import { serveReceivers } from "./receive.ts";
import { testReceiverRoutes } from "./test-receiver-routes.ts";
import { TestReceivers } from "./test-receivers.ts";

export interface OpenTestReceiversOptions {
  readonly isOn: boolean;
  readonly destinations: Pick<ConfigStore<Destination>, "get" | "find">;
  /** Control's URL on this machine. */
  readonly url: () => string;
  readonly clock: Pick<Clock, "nowMs">;
}

export interface OpenTestReceivers {
  readonly routes: readonly Route[];
  readonly addPaths: (server: FastifyInstance) => void;
}

export function openTestReceivers({ isOn, destinations, url, clock }: OpenTestReceiversOptions): OpenTestReceivers {
  const secretsOf = (id: string) => destinations.get(id)?.secrets;
  const receivers = isOn ? new TestReceivers({ secretsOf, nowMs: clock.nowMs }) : null;
  return {
    routes: testReceiverRoutes({ receivers, url, destinations }),
    addPaths: (server) => {
      if (receivers !== null) serveReceivers(server, receivers);
    },
  };
}
