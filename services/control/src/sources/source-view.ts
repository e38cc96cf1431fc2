/** A source as the API shows it. */
import { SOURCE_KINDS, type Source } from "@posthaste/core/config/source";
import { z } from "zod";
import { pageOf } from "../http/page.ts";
import type { Named } from "../http/route.ts";

const time = z.iso.datetime();

const source = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(SOURCE_KINDS),
  writeKey: z.string().describe("What the source's calls name it by."),
  oldWriteKeys: z
    .array(z.object({ writeKey: z.string(), expiresAt: time }))
    .describe("Keys that were rotated out and are still taken until then."),
  enabled: z.boolean(),
  revision: z.int().describe("Rises with every change."),
  createdAt: time,
  updatedAt: time,
});
export type SourceAnswer = z.output<typeof source>;

export const sourceAnswer: Named<typeof source> = { name: "Source", schema: source };
export const sourcePage = { name: "SourcePage", schema: pageOf(source) };

/** `nowMs`: keys that have expired are not shown. */
export function viewSource(value: Source, nowMs: number): SourceAnswer {
  const current = value.writeKeys.find((key) => key.expiresAtMs === null);
  return {
    id: value.id,
    name: value.name,
    kind: value.kind,
    writeKey: current?.key ?? "",
    oldWriteKeys: value.writeKeys.flatMap(({ key, expiresAtMs }) =>
      expiresAtMs === null || expiresAtMs <= nowMs
        ? []
        : [{ writeKey: key, expiresAt: new Date(expiresAtMs).toISOString() }],
    ),
    enabled: value.enabled,
    revision: value.revision,
    createdAt: new Date(value.createdAtMs).toISOString(),
    updatedAt: new Date(value.updatedAtMs).toISOString(),
  };
}
