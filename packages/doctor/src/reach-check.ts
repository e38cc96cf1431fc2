/** Checks, on request, that receivers can be reached: a connection to each of their servers, and nothing sent. */
import type { Destination } from "@posthaste/core/config/destination";
import type { RequestError } from "@posthaste/core/delivery/outcome";
import type { Check, Finding } from "./check.ts";

/** A connection ends within five seconds, and there may be a thousand servers. */
const TIMEOUT_MS = 60_000;
const AT_ONCE = 32;

export interface ReachParts {
  readonly destinations: () => Iterable<Pick<Destination, "id" | "name" | "enabled" | "urls">>;
  /** Why the server of a URL cannot be reached; null where it can. */
  readonly reach: (url: string) => Promise<RequestError | null>;
}

export function reachCheck({ destinations, reach }: ReachParts): Check {
  return {
    name: "reach",
    timeoutMs: TIMEOUT_MS,
    look: async () => {
      const servers = serversOf(destinations());
      const findings: Finding[] = [];
      const next = servers.entries();
      const work = async (): Promise<void> => {
        for (const [server, users] of next) {
          const error = await reach(server);
          if (error !== null) findings.push(findingOf(server, users, error));
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      return findings.sort((a, b) => a.what.localeCompare(b.what));
    },
  };
}

interface User {
  readonly id: string;
  readonly name: string;
}

/** The servers of the destinations that are switched on, each with its destinations. A path may hold a secret. */
function serversOf(destinations: ReturnType<ReachParts["destinations"]>): ReadonlyMap<string, readonly User[]> {
  const servers = new Map<string, Map<string, User>>();
  for (const { id, name, enabled, urls } of destinations) {
    if (!enabled) continue;
    for (const { url } of urls) {
      const { origin } = new URL(url);
      const users = servers.get(origin) ?? new Map<string, User>();
      servers.set(origin, users.set(id, { id, name }));
    }
  }
  return new Map([...servers].map(([origin, users]) => [origin, [...users.values()]]));
}

function findingOf(server: string, users: readonly User[], error: RequestError): Finding {
  const [first] = users;
  const others = users.length > 1 ? ` and ${users.length - 1} more` : "";
  return {
    state: "wrong",
    what: `${server} cannot be reached: ${error}. It is a server of ${first?.name} (${first?.id})${others}.`,
    remedy: `${REMEDIES[error] ?? "Tell its owner, or see what a request is answered"}: posthaste send ${first?.id}`,
  };
}

const REMEDIES: Partial<Readonly<Record<RequestError, string>>> = {
  address_refused: "Name its network in POSTHASTE_ALLOW_NETWORKS of delivery and control, or change the URL; then",
  dns_failure: "See whether its name resolves on this network, or change the URL; then",
  tls_failure: "Have its owner mend the certificate, or name its authority in POSTHASTE_EXTRA_CA; then",
};
