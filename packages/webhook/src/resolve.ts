/**
 * Resolves names to addresses without Node's thread pool.
 *
 * `dns.lookup` runs in a pool of four threads: four names whose servers do not answer would hold up the names of all
 * other destinations. So the resolver asks the DNS servers directly, and passes only names that DNS does not know to
 * `dns.lookup`: names of /etc/hosts, and short names that need a search domain. For a name in both, DNS decides.
 */
import { lookup, Resolver } from "node:dns/promises";

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Returns all addresses of a name in the order of preference. Rejects with a Node error that has a resolver's code. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export interface ResolveOptions {
  /** DNS servers as `address:port`; when absent, the system's servers. */
  readonly servers?: readonly string[];
  /** How long a try may take; by default 1.5 s, so that all tries end within the 5 s of a request. */
  readonly queryTimeoutMs?: number;
}

const QUERY_TRIES = 2;

export function createResolve({ servers, queryTimeoutMs = 1_500 }: ResolveOptions = {}): Resolve {
  const resolver = new Resolver({ timeout: queryTimeoutMs, tries: QUERY_TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  const asking = new Map<string, Promise<readonly ResolvedAddress[]>>();

  async function ask(hostname: string): Promise<readonly ResolvedAddress[]> {
    if (!hostname.includes(".")) return askSystem(hostname);
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses: ResolvedAddress[] = [];
    if (ipv4.status === "fulfilled") for (const address of ipv4.value) addresses.push({ address, family: 4 });
    if (ipv6.status === "fulfilled") for (const address of ipv6.value) addresses.push({ address, family: 6 });
    if (addresses.length > 0) return addresses;
    // A server that does not answer here would not answer the system either, and would hold one of the four threads.
    const unanswered = [ipv4, ipv6].find((result) => result.status === "rejected" && isTimeout(result.reason));
    if (unanswered?.status === "rejected") throw unanswered.reason;
    return askSystem(hostname);
  }

  return (hostname) => {
    const known = asking.get(hostname);
    if (known !== undefined) return known;
    const answer = ask(hostname).finally(() => asking.delete(hostname));
    asking.set(hostname, answer);
    return answer;
  };
}

async function askSystem(hostname: string): Promise<readonly ResolvedAddress[]> {
  const found = await lookup(hostname, { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && "code" in reason && reason.code === "ETIMEOUT";
}
