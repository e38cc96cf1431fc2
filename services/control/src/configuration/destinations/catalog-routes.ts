/** The catalogue: the kinds of destination, and the settings of each. */
import { WEBHOOKS } from "@posthaste/core/config/destination";
import { destinationSettingsInput } from "@posthaste/core/config/destination-settings";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import { z } from "zod";

const catalog = z.array(
  z.object({
    name: z.string().describe("The name in an event's integrations map, case sensitive."),
    description: z.string(),
    settings: z.record(z.string(), z.unknown()).describe("JSON Schema of the settings."),
  }),
);

const ENTRIES = [
  {
    name: WEBHOOKS,
    description: "Sends every event of the connected sources as a signed HTTP POST to up to five URLs.",
    settings: { ...z.toJSONSchema(destinationSettingsInput, { io: "input" }) },
  },
];

export function catalogRoutes(): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/catalog",
      operation: "getCatalog",
      summary: "Kinds of destination and their settings",
      answer: { status: 200, description: "Every kind.", body: { name: "Catalog", schema: catalog } },
      handle: () => ENTRIES,
    }),
  ];
}
