/**
 * A destination for a test-send that nobody has saved: the caller's settings over the stored ones.
 *
 * UD1  Stored secrets go to no URL but those they are stored for: a static header's value stays with its URL, and the
 *      stored shared secret signs nothing for a URL that the stored destination does not have.
 */
import { type Destination, WEBHOOKS } from "@posthaste/core/config/destination";
import { DEFAULT_SETTINGS } from "@posthaste/core/config/destination-change";
import type { SettingsPatch } from "@posthaste/core/config/destination-settings";
import { invalidInput } from "@posthaste/http-kit/problem";
import { settingsFrom } from "./settings-input.ts";

/** Throws a Problem for a missing URL, for a mask in whose place nothing is stored, and for a change against UD1. */
export function unsavedDestination(stored: Destination | null, patch: SettingsPatch, nowMs: number): Destination {
  const settings = settingsFrom(stored ?? DEFAULT_SETTINGS, patch);
  if (settings.urls.length === 0)
    throw invalidInput([{ path: "settings.urls", message: "at least one URL is needed" }]);
  const { active, next } = settings.secrets;
  // Where the caller's text is the stored secret, the settings keep the next secret too.
  if (stored !== null && [active, next].some((secret) => secret !== null && secret !== patch.sharedSecret)) {
    assertOwnUrls(stored, settings);
  }
  return {
    ...{ id: stored?.id ?? "unsaved", type: WEBHOOKS, name: stored?.name ?? "", sourceIds: [], enabled: true },
    ...settings,
    ...{ revision: 0, createdAtMs: nowMs, updatedAtMs: nowMs, missingKeyIds: null },
  };
}

/** UD1. */
function assertOwnUrls(stored: Destination, { urls }: Pick<Destination, "urls">): void {
  const foreign = urls.findIndex(({ url }) => !stored.urls.some((own) => own.url === url));
  if (foreign < 0) return;
  const message = `the stored shared secret signs for the URLs of ${stored.id} alone: send the secret itself, or null`;
  throw invalidInput([{ path: `settings.urls[${foreign}].url`, message }]);
}
