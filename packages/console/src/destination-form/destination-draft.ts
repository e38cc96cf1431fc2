/** A destination as its form holds it, and the change that it comes to. */
import type { Destination, DestinationPatch } from "../api/api-types.ts";
import type { ConflictField } from "../revision/conflict-dialog.tsx";

export interface DraftUrl {
  readonly url: string;
  /** `***` stands for a value that is kept as it is. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export interface DestinationDraft {
  readonly name: string;
  readonly enabled: boolean;
  readonly sourceIds: readonly string[];
  readonly urls: readonly DraftUrl[];
  readonly settle: Destination["settings"]["settle"];
  /** As it was typed; empty for no limit. */
  readonly rateLimit: string;
  readonly standardWebhooks: boolean;
  readonly responseLog: Destination["settings"]["responseLog"];
  readonly payload: Destination["settings"]["payload"];
}

export function draftOf({ name, enabled, sourceIds, settings }: Destination): DestinationDraft {
  const { urls, settle, rateLimitPerSecond, standardWebhooks, responseLog, payload } = settings;
  return {
    ...{ name, enabled, sourceIds, settle, standardWebhooks, responseLog, payload },
    urls: urls.map(({ url, headers }) => ({ url, headers: Object.entries(headers) })),
    rateLimit: rateLimitPerSecond === null ? "" : String(rateLimitPerSecond),
  };
}

export function patchOf(draft: DestinationDraft, revision: number): DestinationPatch {
  const { name, enabled, sourceIds, urls, rateLimit, settle, standardWebhooks, responseLog, payload } = draft;
  return {
    ...{ revision, name: name.trim(), enabled, sourceIds },
    settings: {
      ...{ settle, standardWebhooks, responseLog, payload },
      rateLimitPerSecond: rateLimit.trim() === "" ? null : Number(rateLimit),
      urls: urls.map(({ url, headers }) => ({
        url: url.trim(),
        headers: Object.fromEntries(headers.filter(([header]) => header.trim() !== "")),
      })),
    },
  };
}

/** The values of each field of the three, in words. */
export function conflictFields(
  base: DestinationDraft,
  theirs: DestinationDraft,
  yours: DestinationDraft,
): readonly ConflictField[] {
  const words: Readonly<Record<string, (draft: DestinationDraft) => string>> = {
    Name: ({ name }) => name.trim(),
    State: ({ enabled }) => (enabled ? "on" : "off"),
    Sources: ({ sourceIds }) => sourceIds.join(", ") || "none",
    URLs: ({ urls }) =>
      urls
        .map(({ url, headers }) => [url, ...headers.map(([name, value]) => `${name}: ${value}`)].join(" "))
        .join("; "),
    Settle: ({ settle }) => settle,
    "Requests a second": ({ rateLimit }) => rateLimit || "no limit",
    "Standard Webhooks": ({ standardWebhooks }) => (standardWebhooks ? "yes" : "no"),
    "Answers kept": ({ responseLog }) => responseLog,
    Payload: ({ payload }) => payload,
  };
  return Object.entries(words).map(([name, of]) => ({ name, base: of(base), theirs: of(theirs), yours: of(yours) }));
}
