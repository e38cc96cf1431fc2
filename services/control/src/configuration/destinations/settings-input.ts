/** A destination's settings, made from a caller's fields and the stored settings. */
import { changeSettings, type DestinationSettings } from "@posthaste/core/config/destination-change";
import type { SettingsPatch } from "@posthaste/core/config/destination-settings";
import { formatPath, invalidInput } from "@posthaste/http-kit/problem";

/** Throws a Problem for a mask in whose place nothing is stored. */
export function settingsFrom(stored: DestinationSettings, patch: SettingsPatch): DestinationSettings {
  const change = changeSettings(stored, patch);
  if (change.outcome === "changed") return change.settings;
  throw invalidInput(
    change.problems.map(({ path, message }) => ({ path: formatPath(["settings", ...path]), message })),
  );
}
