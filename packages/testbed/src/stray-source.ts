/** A record for topics that are not its own. */
import type { SourceRecord } from "@posthaste/contracts/source-codec";

/** A source whose schema the registry knows and which stands, encoded, where a service expects another schema. */
export const STRAY_SOURCE: SourceRecord = {
  id: "src_1",
  revision: 9,
  name: "stray",
  kind: "server",
  writeKeys: [],
  enabled: true,
  createdAtMs: 0,
  updatedAtMs: 0,
};
