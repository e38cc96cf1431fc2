/** The work of each operation on destinations. Its input has been checked; it throws a refusal as a Problem. */

import type { ConfigStore } from "@posthaste/configuration/config-store";
import type { Author } from "@posthaste/core/access/author";
import type { Destination } from "@posthaste/core/config/destination";
import { DEFAULT_SETTINGS } from "@posthaste/core/config/destination-change";
import type { DestinationInput, DestinationPatch } from "@posthaste/core/config/destination-settings";
import type { Source } from "@posthaste/core/config/source";
import type { Clock } from "@posthaste/core/time";
import { type FreshAnswer, freshAnswer } from "@posthaste/http-kit/freshness";
import { createId } from "@posthaste/http-kit/identifiers";
import { type Page, type PageQuery, pageFrom } from "@posthaste/http-kit/page";
import { assertRevision } from "@posthaste/http-kit/problem";
import { assertSources } from "../sources/source-access.ts";
import { changeDestination, destinationOf, findDestination } from "./destination-access.ts";
import { type DestinationAnswer, viewDestination } from "./destination-view.ts";
import { settingsFrom } from "./settings-input.ts";

export interface DestinationHandlersOptions {
  readonly destinations: ConfigStore<Destination>;
  readonly sources: ConfigStore<Source>;
  readonly clock: Clock;
}

export class DestinationHandlers {
  readonly #destinations: ConfigStore<Destination>;
  readonly #sources: ConfigStore<Source>;
  readonly #clock: Clock;

  constructor({ destinations, sources, clock }: DestinationHandlersOptions) {
    this.#destinations = destinations;
    this.#sources = sources;
    this.#clock = clock;
  }

  list(query: PageQuery): Page<DestinationAnswer> & FreshAnswer {
    const { data, nextCursor } = pageFrom(this.#destinations.values(), query);
    return {
      data: data.map((destination) => this.#view(destination)),
      nextCursor,
      ...freshAnswer(this.#destinations.freshness),
    };
  }

  async create(input: DestinationInput, by: Author): Promise<DestinationAnswer> {
    await assertSources(input.sourceIds, this.#sources);
    const settings = settingsFrom(DEFAULT_SETTINGS, input.settings);
    const id = createId("dst");
    const nowMs = this.#clock.nowMs();
    const destination: Omit<Destination, "revision"> = {
      id,
      type: input.type,
      name: input.name,
      sourceIds: input.sourceIds,
      enabled: input.enabled,
      ...settings,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      missingKeyIds: null,
    };
    const created = await this.#destinations.change(id, (_, revision) => ({ ...destination, revision }), by);
    return this.#view(findDestination(created, id));
  }

  async get(id: string): Promise<DestinationAnswer> {
    return this.#view(await destinationOf(id, this.#destinations));
  }

  async change(id: string, patch: DestinationPatch, by: Author): Promise<DestinationAnswer> {
    if (patch.sourceIds !== undefined) await assertSources(patch.sourceIds, this.#sources);
    const changed = await changeDestination(this.#destinations, this.#clock, {
      id,
      by,
      update: (destination) => {
        assertRevision(destination, patch.revision);
        return {
          ...destination,
          name: patch.name ?? destination.name,
          sourceIds: patch.sourceIds ?? destination.sourceIds,
          enabled: patch.enabled ?? destination.enabled,
          ...settingsFrom(destination, patch.settings ?? {}),
        };
      },
    });
    return this.#view(changed);
  }

  async remove(id: string, by: Author): Promise<void> {
    await this.#destinations.change(
      id,
      (current) => {
        findDestination(current, id);
        return null;
      },
      by,
    );
  }

  #view(destination: Destination): DestinationAnswer {
    return viewDestination(destination, (id) => this.#sources.get(id) !== undefined);
  }
}
