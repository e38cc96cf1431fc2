/** A source as the API shows it. */
import { SOURCE_KINDS, type Source } from "@posthaste/core/config/source";
import { pageOf } from "@posthaste/http-kit/page";
import type { Named } from "@posthaste/http-kit/route";
import { z } from "zod";

const time = z.iso.datetime();

const source = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(SOURCE_KINDS),
  writeKey: z
    .string()
    .describe("What the source's calls name it by; four characters of it for a token without the scope write."),
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

/** How many characters of a write key a caller sees who may change nothing: enough to recognise the key. */
const SHOWN_CHARACTERS = 4;

export interface SourceViewOptions {
  /** The current time, ms since the epoch: the view leaves out keys that have expired. */
  readonly nowMs: number;
  /** True for a caller who may change nothing: the view masks the keys. */
  readonly isMasked: boolean;
}

export function viewSource(value: Source, { nowMs, isMasked }: SourceViewOptions): SourceAnswer {
  const shown = (key: string) => (isMasked ? `${key.slice(0, SHOWN_CHARACTERS)}…` : key);
  const current = value.writeKeys.find((key) => key.expiresAtMs === null);
  return {
    id: value.id,
    name: value.name,
    kind: value.kind,
    writeKey: shown(current?.key ?? ""),
    oldWriteKeys: value.writeKeys.flatMap(({ key, expiresAtMs }) =>
      expiresAtMs === null || expiresAtMs <= nowMs
        ? []
        : [{ writeKey: shown(key), expiresAt: new Date(expiresAtMs).toISOString() }],
    ),
    enabled: value.enabled,
    revision: value.revision,
    createdAt: new Date(value.createdAtMs).toISOString(),
    updatedAt: new Date(value.updatedAtMs).toISOString(),
  };
}
