/**
 * Routes that take a destination's shared secret through its rotation. Core owns the stages and the steps' effects.
 */

import type { ConfigStore } from "@posthaste/configuration/config-store";
import type { Author } from "@posthaste/core/access/author";
import type { Destination } from "@posthaste/core/config/destination";
import { nextSecretInput } from "@posthaste/core/config/destination-settings";
import {
  nameNextSecret,
  type RotationStep,
  retireSecret,
  switchSecret,
  undoRotation,
} from "@posthaste/core/config/secret-rotation";
import type { Source } from "@posthaste/core/config/source";
import type { Clock } from "@posthaste/core/time";
import { Problem } from "@posthaste/http-kit/problem";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import { z } from "zod";
import { changeDestination } from "./destination-access.ts";
import { destinationAnswer, viewDestination } from "./destination-view.ts";

export interface DestinationSecretRoutesOptions {
  readonly destinations: ConfigStore<Destination>;
  readonly sources: ConfigStore<Source>;
  readonly clock: Clock;
}

interface Asked {
  readonly params: { readonly id: string };
  readonly by: Author;
}

const nothing = { name: "Nothing", schema: z.strictObject({}) };

export function destinationSecretRoutes(options: DestinationSecretRoutesOptions): readonly Route[] {
  const { destinations, sources, clock } = options;

  const take = async (
    { params: { id }, by }: Asked,
    step: (destination: Destination) => RotationStep,
    firstStep = "",
  ) => {
    const changed = await changeDestination(destinations, clock, {
      id,
      by,
      update: (destination) => {
        const taken = step(destination);
        if (taken.outcome === "refused") throw new Problem("conflict", `${id}: ${taken.reason}${firstStep}`);
        return { ...destination, secrets: taken.secrets };
      },
    });
    return viewDestination(changed, (sourceId) => sources.get(sourceId) !== undefined);
  };
  const answer = { status: 200, description: "The destination after the step.", body: destinationAnswer };

  return [
    defineRoute({
      method: "POST",
      path: "/v1/destinations/{id}/secret/next",
      operation: "nameNextSecret",
      summary: "Name the secret that will follow; test-sends can be signed by it, deliveries are not yet",
      body: { name: "NextSecret", schema: nextSecretInput },
      answer,
      refusals: ["not_found", "conflict"],
      handle: ({ params, body, by }) =>
        take({ params, by }, ({ secrets }) => nameNextSecret(secrets, body.sharedSecret)),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/destinations/{id}/secret/switch",
      operation: "switchSecret",
      summary: "Sign by the next secret from now on; the old one is kept for undo",
      body: nothing,
      answer,
      refusals: ["not_found", "conflict"],
      handle: (asked) => take(asked, ({ secrets }) => switchSecret(secrets), ": name one first"),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/destinations/{id}/secret/undo",
      operation: "undoRotation",
      summary: "Go one stage back: sign by the old secret again, or forget the next one",
      body: nothing,
      answer,
      refusals: ["not_found", "conflict"],
      handle: (asked) => take(asked, ({ secrets }) => undoRotation(secrets)),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/destinations/{id}/secret/retire",
      operation: "retireSecret",
      summary: "Forget the old secret; the rotation is done",
      body: nothing,
      answer,
      refusals: ["not_found", "conflict"],
      handle: (asked) => take(asked, ({ secrets }) => retireSecret(secrets)),
    }),
  ];
}
