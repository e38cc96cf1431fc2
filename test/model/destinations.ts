/** The destinations as control writes them, and every past version of each. */
import { type Destination, WEBHOOKS } from "@posthaste/core/config/destination";
import { SOURCE_ID } from "./installation.ts";
import type { DestinationHistory } from "./outcome-check.ts";
import type { Receivers } from "./receivers.ts";
import type { ConfigChange, Scenario } from "./scenario.ts";

/** One record of the destinations' topic. */
export interface ConfigWrite {
  readonly id: string;
  /** Null when it was removed. */
  readonly destination: Destination | null;
  readonly revision: number;
}

const MOST_DESTINATIONS = 5;

export class Destinations {
  readonly #receivers: Receivers;
  readonly #write: (write: ConfigWrite) => void;
  readonly #all: Kept[];

  constructor({ destinations }: Scenario, receivers: Receivers, write: (write: ConfigWrite) => void) {
    this.#receivers = receivers;
    this.#write = write;
    this.#all = destinations.map((plan, index) => {
      const id = `dst-${index}`;
      const urls = plan.behaviours.map((behaviour, url) => {
        const name = `https://${id}.example/${url}`;
        receivers.set(name, behaviour);
        return name;
      });
      return {
        ...{ id, settle: plan.settle, rateLimitPerSecond: plan.rateLimitPerSecond, urls, revision: 0 },
        ...{ exists: !plan.isMadeLate, enabled: true, isSteady: !plan.isMadeLate, hasSteadyUrls: true },
        ...{ wasRemoved: false, wasSwitchedOff: false, newest: null, writtenBefore: null },
      };
    });
  }

  writeFirst(): void {
    for (const kept of this.#all) if (kept.exists) this.#put(kept);
  }

  /** One more, of one URL that takes everything. */
  add(): void {
    if (this.#all.length >= MOST_DESTINATIONS) return;
    const id = `dst-${this.#all.length}`;
    const kept: Kept = {
      ...{ id, settle: "any", rateLimitPerSecond: null, urls: [`https://${id}.example/0`], revision: 0 },
      ...{ exists: true, enabled: true, isSteady: false, hasSteadyUrls: true },
      ...{ wasRemoved: false, wasSwitchedOff: false, newest: null, writtenBefore: null },
    };
    this.#all.push(kept);
    this.#put(kept);
  }

  histories(): readonly DestinationHistory[] {
    return this.#all;
  }

  setBehaviour(destination: number, url: number, behaviour: Parameters<Receivers["set"]>[1]): void {
    const kept = this.#all[destination % this.#all.length];
    const name = kept?.urls[url % kept.urls.length];
    if (name !== undefined) this.#receivers.set(name, behaviour);
  }

  change(destination: number, change: ConfigChange): void {
    const kept = this.#all[destination % this.#all.length];
    if (kept === undefined) return;
    if (change === "written_late") {
      // P5: a write that was given up is written after a newer one; a table ignores it.
      const older = kept.writtenBefore;
      if (older !== null) this.#write({ id: kept.id, destination: older, revision: older.revision });
      return;
    }
    if (change === "remove") {
      if (!kept.exists) return;
      kept.exists = false;
      kept.wasRemoved = true;
      kept.isSteady = false;
      kept.revision += 1;
      this.#write({ id: kept.id, destination: null, revision: kept.revision });
      return;
    }
    if (change === "make") kept.exists = true;
    else if (!kept.exists) return;
    if (change === "switch_on" || change === "switch_off") {
      kept.enabled = change === "switch_on";
      if (!kept.enabled) kept.isSteady = false;
      kept.wasSwitchedOff ||= !kept.enabled;
    } else if (change === "urls") {
      kept.urls = [...kept.urls.slice(1), `https://${kept.id}.example/new-${kept.revision}`];
      kept.hasSteadyUrls = false;
    } else if (change === "rate") kept.rateLimitPerSecond = kept.rateLimitPerSecond === null ? 10 : null;
    this.#put(kept);
  }

  #put(kept: Kept): void {
    const { id, settle, rateLimitPerSecond, urls, enabled } = kept;
    kept.revision += 1;
    const { revision } = kept;
    const destination: Destination = {
      ...{ id, revision, type: WEBHOOKS, name: id, sourceIds: [SOURCE_ID], enabled, settle, rateLimitPerSecond },
      ...{
        standardWebhooks: false,
        responseLog: "failures",
        payload: "documented",
        secrets: { active: null, next: null, previous: null },
      },
      urls: urls.map((url) => ({ url, headers: {} })),
      ...{ createdAtMs: 0, updatedAtMs: 0, missingKeyIds: null },
    };
    this.#write({ id, destination, revision });
    kept.writtenBefore = kept.newest;
    kept.newest = destination;
  }
}

interface Kept {
  readonly id: string;
  readonly settle: "any" | "each";
  rateLimitPerSecond: number | null;
  urls: readonly string[];
  revision: number;
  exists: boolean;
  enabled: boolean;
  isSteady: boolean;
  hasSteadyUrls: boolean;
  wasRemoved: boolean;
  wasSwitchedOff: boolean;
  newest: Destination | null;
  /** Before the newest. */
  writtenBefore: Destination | null;
}
