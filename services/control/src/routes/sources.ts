/** Sources: what sends calls, and the write keys that it sends them with. */
import type { Source } from "@posthaste/core/config/source";
import { sourceInput, sourcePatch, writeKeyRotationInput } from "@posthaste/core/config/source-settings";
import type { Clock } from "@posthaste/core/time";
import type { ConfigStore } from "../config-store.ts";
import { createId, createWriteKey } from "../identifiers.ts";
import { pageFrom, pageQuery } from "../page.ts";
import { assertRevision } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { findSource } from "../source-access.ts";
import { sourceAnswer, sourcePage, viewSource } from "../source-view.ts";

/** A source that rotates its key every minute keeps no more old ones than this; the newest stay. */
const MAX_OLD_KEYS = 10;

export interface SourceRoutesOptions {
  readonly sources: ConfigStore<Source>;
  readonly clock: Clock;
}

export function sourceRoutes({ sources, clock }: SourceRoutesOptions): readonly Route[] {
  const view = (source: Source) => viewSource(source, clock.nowMs());

  /** Changes a source that is there; `update` gets it with its expired keys gone. */
  const changeSource = async (id: string, update: (source: Source) => Source) => {
    const changed = await sources.change(id, (current, revision) => {
      const source = findSource(current, id);
      const nowMs = clock.nowMs();
      const writeKeys = source.writeKeys.filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs);
      return { ...update({ ...source, writeKeys }), revision, updatedAtMs: nowMs };
    });
    return view(findSource(changed, id));
  };

  return [
    defineRoute({
      method: "GET",
      path: "/v1/sources",
      operation: "listSources",
      summary: "Sources, oldest first",
      query: pageQuery,
      answer: { status: 200, description: "One page of sources.", body: sourcePage },
      handle: ({ query }) => {
        const { data, nextCursor } = pageFrom(sources.values(), query);
        return { data: data.map(view), nextCursor };
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/sources",
      operation: "createSource",
      summary: "Make a source and its write key",
      body: { name: "SourceInput", schema: sourceInput },
      answer: { status: 201, description: "The source.", body: sourceAnswer },
      handle: async ({ body }) => {
        const id = createId("src");
        const created = await sources.change(id, (_, revision) => ({
          id,
          revision,
          ...body,
          writeKeys: [{ key: createWriteKey(), expiresAtMs: null }],
          createdAtMs: clock.nowMs(),
          updatedAtMs: clock.nowMs(),
        }));
        return view(findSource(created, id));
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/sources/{id}",
      operation: "getSource",
      summary: "One source",
      answer: { status: 200, description: "The source.", body: sourceAnswer },
      refusals: ["not_found"],
      handle: ({ params }) => view(findSource(sources.get(params.id), params.id)),
    }),
    defineRoute({
      method: "PATCH",
      path: "/v1/sources/{id}",
      operation: "changeSource",
      summary: "Change a source; what is absent stays",
      body: { name: "SourcePatch", schema: sourcePatch },
      answer: { status: 200, description: "The source after the change.", body: sourceAnswer },
      refusals: ["not_found", "conflict"],
      handle: ({ params, body: { revision, ...patch } }) =>
        changeSource(params.id, (source) => {
          assertRevision(source, revision);
          return {
            ...source,
            name: patch.name ?? source.name,
            kind: patch.kind ?? source.kind,
            enabled: patch.enabled ?? source.enabled,
          };
        }),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/sources/{id}",
      operation: "removeSource",
      summary: "Remove a source; its write keys are refused from then on",
      answer: { status: 204, description: "It is gone." },
      refusals: ["not_found"],
      handle: async ({ params }) => {
        await sources.change(params.id, (current) => {
          findSource(current, params.id);
          return null;
        });
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/sources/{id}/write-key",
      operation: "rotateWriteKey",
      summary: "Make a new write key; the old one is taken for some time still",
      body: { name: "WriteKeyRotation", schema: writeKeyRotationInput },
      answer: { status: 200, description: "The source with its new key.", body: sourceAnswer },
      refusals: ["not_found"],
      handle: ({ params, body }) =>
        changeSource(params.id, (source) => {
          const nowMs = clock.nowMs();
          const old = source.writeKeys
            .map(({ key, expiresAtMs }) => ({ key, expiresAtMs: expiresAtMs ?? nowMs + body.oldKeySeconds * 1000 }))
            .filter(({ expiresAtMs }) => expiresAtMs > nowMs);
          return {
            ...source,
            writeKeys: [{ key: createWriteKey(), expiresAtMs: null }, ...old.slice(0, MAX_OLD_KEYS)],
          };
        }),
    }),
  ];
}
