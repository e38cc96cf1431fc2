/** Destinations: where a source's events go, and how. Secrets go in and never come out. */
import type { Destination } from "@posthaste/core/config/destination";
import { changeSettings, DEFAULT_SETTINGS, type DestinationSettings } from "@posthaste/core/config/destination-change";
import { destinationInput, destinationPatch, type SettingsPatch } from "@posthaste/core/config/destination-settings";
import type { Source } from "@posthaste/core/config/source";
import type { Clock } from "@posthaste/core/time";
import type { ConfigStore } from "../config-store.ts";
import { changeDestination, findDestination } from "../destination-access.ts";
import { destinationAnswer, destinationPage, viewDestination } from "../destination-view.ts";
import { createId } from "../identifiers.ts";
import { pageFrom, pageQuery } from "../page.ts";
import { assertRevision, formatPath, invalidInput } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { assertSources } from "../source-access.ts";

export interface DestinationRoutesOptions {
  readonly destinations: ConfigStore<Destination>;
  readonly sources: ConfigStore<Source>;
  readonly clock: Clock;
}

export function destinationRoutes({ destinations, sources, clock }: DestinationRoutesOptions): readonly Route[] {
  const isSource = (id: string): boolean => sources.get(id) !== undefined;
  const view = (destination: Destination) => viewDestination(destination, isSource);

  return [
    defineRoute({
      method: "GET",
      path: "/v1/destinations",
      operation: "listDestinations",
      summary: "Destinations, oldest first",
      query: pageQuery,
      answer: { status: 200, description: "One page of destinations.", body: destinationPage },
      handle: ({ query }) => {
        const { data, nextCursor } = pageFrom(destinations.values(), query);
        return { data: data.map(view), nextCursor };
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/destinations",
      operation: "createDestination",
      summary: "Make a destination; it gets the events received from one second after the answer",
      body: { name: "DestinationInput", schema: destinationInput },
      answer: { status: 201, description: "The destination.", body: destinationAnswer },
      handle: async ({ body }) => {
        assertSources(body.sourceIds, sources);
        const settings = settingsFrom(DEFAULT_SETTINGS, body.settings);
        const id = createId("dst");
        const nowMs = clock.nowMs();
        const destination: Omit<Destination, "revision"> = {
          id,
          type: body.type,
          name: body.name,
          sourceIds: body.sourceIds,
          enabled: body.enabled,
          ...settings,
          createdAtMs: nowMs,
          updatedAtMs: nowMs,
          missingKeyIds: null,
        };
        const created = await destinations.change(id, (_, revision) => ({ ...destination, revision }));
        return view(findDestination(created, id));
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/destinations/{id}",
      operation: "getDestination",
      summary: "One destination",
      answer: { status: 200, description: "The destination.", body: destinationAnswer },
      refusals: ["not_found"],
      handle: ({ params }) => view(findDestination(destinations.get(params.id), params.id)),
    }),
    defineRoute({
      method: "PATCH",
      path: "/v1/destinations/{id}",
      operation: "changeDestination",
      summary: "Change a destination; what is absent stays, settings are merged, lists are replaced",
      body: { name: "DestinationPatch", schema: destinationPatch },
      answer: { status: 200, description: "The destination after the change.", body: destinationAnswer },
      refusals: ["not_found", "conflict"],
      handle: async ({ params, body }) => {
        if (body.sourceIds !== undefined) assertSources(body.sourceIds, sources);
        const changed = await changeDestination(destinations, clock, params.id, (destination) => {
          assertRevision(destination, body.revision);
          return {
            ...destination,
            name: body.name ?? destination.name,
            sourceIds: body.sourceIds ?? destination.sourceIds,
            enabled: body.enabled ?? destination.enabled,
            ...settingsFrom(destination, body.settings ?? {}),
          };
        });
        return view(changed);
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/destinations/{id}",
      operation: "removeDestination",
      summary: "Remove a destination; what waits for it becomes dead letters",
      answer: { status: 204, description: "It is gone." },
      refusals: ["not_found"],
      handle: async ({ params }) => {
        await destinations.change(params.id, (current) => {
          findDestination(current, params.id);
          return null;
        });
      },
    }),
  ];
}

function settingsFrom(stored: DestinationSettings, patch: SettingsPatch): DestinationSettings {
  const change = changeSettings(stored, patch);
  if (change.outcome === "changed") return change.settings;
  throw invalidInput(
    change.problems.map(({ path, message }) => ({ path: formatPath(["settings", ...path]), message })),
  );
}
