/** The names of sources and destinations in sentences. */

import type { ConfigStore } from "@posthaste/configuration/config-store";
import type { Destination } from "@posthaste/core/config/destination";
import { OPERATIONS_SOURCE, type Source } from "@posthaste/core/config/source";
import type { Names } from "./verdict-sentences.ts";

export interface NamedConfig {
  readonly sources: ConfigStore<Source>;
  readonly destinations: ConfigStore<Destination>;
}

/** Names a source or destination by its name in quotes, and a removed one by its id. */
export function configuredNames({ sources, destinations }: NamedConfig): Names {
  return {
    source: (id) => quoted(id === OPERATIONS_SOURCE.id ? OPERATIONS_SOURCE.name : sources.get(id)?.name, id),
    destination: (id) => quoted(destinations.get(id)?.name, id),
  };
}

function quoted(name: string | undefined, id: string): string {
  return name === undefined ? id : `"${name}"`;
}
