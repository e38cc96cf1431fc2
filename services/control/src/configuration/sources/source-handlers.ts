/** The work of each operation on sources. Its input has been checked; it throws a refusal as a Problem. */

import type { ConfigStore } from "@posthaste/configuration/config-store";
import type { Author } from "@posthaste/core/access/author";
import type { Source } from "@posthaste/core/config/source";
import type { SourceInput, SourcePatch, writeKeyRotationInput } from "@posthaste/core/config/source-settings";
import type { Clock } from "@posthaste/core/time";
import { type FreshAnswer, freshAnswer } from "@posthaste/http-kit/freshness";
import { createId, createWriteKey } from "@posthaste/http-kit/identifiers";
import { type Page, type PageQuery, pageFrom } from "@posthaste/http-kit/page";
import { assertRevision } from "@posthaste/http-kit/problem";
import type { z } from "zod";
import { findSource, sourceOf } from "./source-access.ts";
import { type SourceAnswer, viewSource } from "./source-view.ts";

/** The most old keys that a source keeps, however often it rotates its key; the newest stay. */
const MAX_OLD_KEYS = 10;

type WriteKeyRotation = z.output<typeof writeKeyRotationInput>;

export interface SourceHandlersOptions {
  readonly sources: ConfigStore<Source>;
  readonly clock: Clock;
}

export class SourceHandlers {
  readonly #sources: ConfigStore<Source>;
  readonly #clock: Clock;

  constructor({ sources, clock }: SourceHandlersOptions) {
    this.#sources = sources;
    this.#clock = clock;
  }

  list(query: PageQuery, by: Author): Page<SourceAnswer> & FreshAnswer {
    const { data, nextCursor } = pageFrom(this.#sources.values(), query);
    return { data: data.map((source) => this.#view(source, by)), nextCursor, ...freshAnswer(this.#sources.freshness) };
  }

  async create(input: SourceInput, by: Author): Promise<SourceAnswer> {
    const id = createId("src");
    const nowMs = this.#clock.nowMs();
    const created = await this.#sources.change(
      id,
      (_, revision) => ({
        id,
        revision,
        ...input,
        writeKeys: [{ key: createWriteKey(), expiresAtMs: null }],
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      }),
      by,
    );
    return this.#view(findSource(created, id), by);
  }

  async get(id: string, by: Author): Promise<SourceAnswer> {
    return this.#view(await sourceOf(id, this.#sources), by);
  }

  change(id: string, { revision, ...patch }: SourcePatch, by: Author): Promise<SourceAnswer> {
    return this.#change(id, by, (source) => {
      assertRevision(source, revision);
      return {
        ...source,
        name: patch.name ?? source.name,
        kind: patch.kind ?? source.kind,
        enabled: patch.enabled ?? source.enabled,
      };
    });
  }

  async remove(id: string, by: Author): Promise<void> {
    await this.#sources.change(
      id,
      (current) => {
        findSource(current, id);
        return null;
      },
      by,
    );
  }

  rotateWriteKey(id: string, { oldKeySeconds }: WriteKeyRotation, by: Author): Promise<SourceAnswer> {
    return this.#change(id, by, (source) => {
      const nowMs = this.#clock.nowMs();
      const old = source.writeKeys
        .map(({ key, expiresAtMs }) => ({ key, expiresAtMs: expiresAtMs ?? nowMs + oldKeySeconds * 1000 }))
        .filter(({ expiresAtMs }) => expiresAtMs > nowMs);
      return {
        ...source,
        writeKeys: [{ key: createWriteKey(), expiresAtMs: null }, ...old.slice(0, MAX_OLD_KEYS)],
      };
    });
  }

  /** Changes a source that exists; `update` gets it without its expired keys. */
  async #change(id: string, by: Author, update: (source: Source) => Source): Promise<SourceAnswer> {
    const changed = await this.#sources.change(
      id,
      (current, revision) => {
        const source = findSource(current, id);
        const nowMs = this.#clock.nowMs();
        const writeKeys = source.writeKeys.filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs);
        return { ...update({ ...source, writeKeys }), revision, updatedAtMs: nowMs };
      },
      by,
    );
    return this.#view(findSource(changed, id), by);
  }

  #view(source: Source, { caller }: Author): SourceAnswer {
    return viewSource(source, { nowMs: this.#clock.nowMs(), isMasked: !caller.scopes.includes("write") });
  }
}
