/**
 * How an operator's input changes a destination's settings. A new destination is a change of the defaults, so that both
 * go one way. A value that reads as masked keeps the stored value, and is refused where none is stored.
 */
import type { Destination, SharedSecrets, WebhookUrl } from "./destination.ts";
import { MASK, type SettingsPatch } from "./destination-settings.ts";
import { NO_SECRETS } from "./secret-rotation.ts";

export type DestinationSettings = Pick<
  Destination,
  "settle" | "rateLimitPerSecond" | "standardWebhooks" | "responseLog" | "payload" | "secrets" | "urls"
>;

/** The settings that a new destination is changed from. */
export const DEFAULT_SETTINGS: DestinationSettings = {
  settle: "any",
  rateLimitPerSecond: null,
  standardWebhooks: false,
  responseLog: "failures",
  payload: "documented",
  secrets: NO_SECRETS,
  urls: [],
};

export interface SettingsProblem {
  /** The path from the settings to the field. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export type SettingsChange =
  | { readonly outcome: "changed"; readonly settings: DestinationSettings }
  | { readonly outcome: "refused"; readonly problems: readonly SettingsProblem[] };

/** `patch` has passed `destinationSettingsInput`; only a mask without a stored value can still be refused. */
export function changeSettings(stored: DestinationSettings, patch: SettingsPatch): SettingsChange {
  const problems: SettingsProblem[] = [];
  const settings: DestinationSettings = {
    settle: patch.settle ?? stored.settle,
    rateLimitPerSecond: patch.rateLimitPerSecond === undefined ? stored.rateLimitPerSecond : patch.rateLimitPerSecond,
    standardWebhooks: patch.standardWebhooks ?? stored.standardWebhooks,
    responseLog: patch.responseLog ?? stored.responseLog,
    payload: patch.payload ?? stored.payload,
    secrets: changeSecrets(stored.secrets, patch.sharedSecret, problems),
    urls: patch.urls === undefined ? stored.urls : changeUrls(stored.urls, patch.urls, problems),
  };
  return problems.length === 0 ? { outcome: "changed", settings } : { outcome: "refused", problems };
}

function changeSecrets(
  stored: SharedSecrets,
  input: SettingsPatch["sharedSecret"],
  problems: SettingsProblem[],
): SharedSecrets {
  if (input === undefined) return stored;
  if (input === null) return NO_SECRETS;
  if (typeof input === "string" && input !== MASK) {
    // The same secret once more is no change: it must not end a rotation under way.
    return input === stored.active ? stored : { ...NO_SECRETS, active: input };
  }
  const isSet = stored.active !== null;
  const claimsSet = input === MASK || input.set;
  if (claimsSet !== isSet) {
    problems.push({
      path: ["sharedSecret"],
      message: isSet
        ? "a shared secret is set: send null to remove it"
        : "no shared secret is stored that this could keep: send the secret itself",
    });
  }
  return stored;
}

function changeUrls(
  stored: readonly WebhookUrl[],
  input: NonNullable<SettingsPatch["urls"]>,
  problems: SettingsProblem[],
): readonly WebhookUrl[] {
  return input.map(({ url, headers }, index) => {
    // The URL must be the same: a stored value must not follow a mask to another address.
    const kept = stored.find((candidate) => candidate.url === url)?.headers ?? {};
    const values = Object.entries(headers).map(([name, value]): [string, string] => {
      if (value !== MASK) return [name, value];
      const storedValue = headerValue(kept, name);
      if (storedValue === undefined) {
        problems.push({
          path: ["urls", index, "headers", name],
          message: `${url}: header ${JSON.stringify(name)} has no stored value that "${MASK}" could keep: send the value itself`,
        });
      }
      return [name, storedValue ?? ""];
    });
    return { url, headers: Object.fromEntries(values) };
  });
}

/** Header names are compared as HTTP does, without case. */
function headerValue(headers: Readonly<Record<string, string>>, name: string): string | undefined {
  const wanted = name.toLowerCase();
  return Object.entries(headers).find(([stored]) => stored.toLowerCase() === wanted)?.[1];
}
