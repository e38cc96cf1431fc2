/** Which hosts are this machine itself, so that traffic to them leaves no machine. Pure. */
import { BlockList, isIP } from "node:net";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** `host` is a name or an address; an IPv6 address may have brackets. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  const version = isIP(bare);
  if (version === 0) return bare === "localhost" || bare.endsWith(".localhost");
  return LOOPBACK.check(bare, version === 4 ? "ipv4" : "ipv6");
}
