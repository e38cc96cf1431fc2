/** Routes for destinations. A caller can set secrets and never read them. */
import { destinationInput, destinationPatch } from "@posthaste/core/config/destination-settings";
import { resourceRoutes } from "@posthaste/http-kit/resource-routes";
import type { Route } from "@posthaste/http-kit/route";
import { DestinationHandlers, type DestinationHandlersOptions } from "./destination-handlers.ts";
import { destinationAnswer, destinationPage } from "./destination-view.ts";

export function destinationRoutes(options: DestinationHandlersOptions): readonly Route[] {
  return resourceRoutes({
    plural: "destinations",
    noun: "Destination",
    input: destinationInput,
    patch: destinationPatch,
    answer: destinationAnswer,
    page: destinationPage,
    summaries: {
      create: "Make a destination; it gets the events received from one second after the answer",
      change: "Change a destination; what is absent stays, settings are merged, lists are replaced",
      remove: "Remove a destination; what waits for it becomes dead letters",
    },
    handlers: new DestinationHandlers(options),
  });
}
