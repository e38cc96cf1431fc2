/** The draft of a new connection, as its form holds it. It outlives a reload, without its secrets. */
import type { DestinationInput } from "../../api/api-types.ts";
import { type DestinationDraft, patchOf } from "../../destination-form/destination-draft.ts";
import type { Kind } from "../sources/source-kinds.ts";

const KEY = "posthaste-connect";

export interface ConnectDraft extends Pick<DestinationDraft, "name" | "urls" | "settle" | "payload"> {
  /** Of the source that sends; null for a new one. */
  readonly sourceId: string | null;
  readonly sourceName: string;
  readonly sourceKind: Kind;
  /** Of the test receiver that stands in the place of one's own. */
  readonly receiverId: string | null;
}

const FIRST: ConnectDraft = {
  ...{ sourceId: null, sourceName: "My website", sourceKind: "web", receiverId: null },
  ...{ name: "", urls: [{ url: "", headers: [] }], settle: "any", payload: "documented" },
};

/** As it was left in this tab. */
export function heldDraft(): ConnectDraft {
  try {
    return { ...FIRST, ...JSON.parse(sessionStorage.getItem(KEY) ?? "{}") };
  } catch {
    return FIRST;
  }
}

/** Values of headers may be secret: they are not kept. */
export function holdDraft(draft: ConnectDraft): void {
  const urls = draft.urls.map(({ url, headers }) => ({ url, headers: headers.map(([name]) => [name, ""]) }));
  sessionStorage.setItem(KEY, JSON.stringify({ ...draft, urls }));
}

export function forgetDraft(): void {
  sessionStorage.removeItem(KEY);
}

/** Its name where none was typed: where it leads. */
export function nameOf({ name, urls, receiverId }: ConnectDraft): string {
  if (name.trim() !== "") return name.trim();
  if (receiverId !== null) return "Test receiver";
  return URL.parse(urls[0]?.url ?? "")?.host || "Webhook";
}

/** `sharedSecret`: empty for requests that are not signed. */
export function settingsOf(draft: ConnectDraft, sharedSecret: string): DestinationInput["settings"] {
  const { urls, settle, payload } = draft;
  const whole = { ...{ enabled: false, sourceIds: [], rateLimit: "", standardWebhooks: false }, ...draft };
  const { settings } = patchOf({ ...whole, responseLog: "failures" }, 0);
  return {
    ...{ settle, payload, urls: settings?.urls ?? urls.map(({ url }) => ({ url })) },
    ...(sharedSecret === "" ? {} : { sharedSecret }),
  };
}
