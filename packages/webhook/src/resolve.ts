/**
 * Names to addresses without the thread pool.
 *
 * `dns.lookup` runs in Node's pool of four threads: four names whose servers do not answer would hold up every other
 * destination's. So names are asked of the DNS servers directly, and `dns.lookup` has only those that DNS does not
 * know: names of /etc/hosts, and short names that need a search domain. A name in both is what DNS says it is.
 */
import { lookup, Resolver } from "node:dns/promises";

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** All addresses of a name, in the order of preference; rejects with a Node error whose code is a resolver's. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export interface ResolveOptions {
  /** DNS servers as `address:port`; the system's when absent. */
  readonly servers?: readonly string[];
  /** How long one try may take; default 1.5 s, so that all of them end within the 5 s of a request. */
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
    // A server that does not answer would not answer the system either, and would hold one of the four threads.
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
