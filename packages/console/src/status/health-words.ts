/** States of destinations in words, and how each is to be taken. */
import type { DestinationHealth } from "../api/api-types.ts";
import type { Tone } from "../verdict/cause.ts";

export const HEALTH_WORDS: Readonly<Record<DestinationHealth["state"], readonly [words: string, tone: Tone]>> = {
  open: ["paused by failures", "bad"],
  failing: ["failing", "waiting"],
  healthy: ["healthy", "good"],
  off: ["off", "off"],
};

/** `94.4 %`; a dash where nothing was sent. */
export function shareOf(share: number | null): string {
  return share === null ? "–" : `${SHARE.format(share * 100)} %`;
}

const SHARE = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 1 });
