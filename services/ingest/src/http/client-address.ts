/** The caller's address: the socket's, or the address that a trusted proxy names. */
import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

export interface ClientAddresses {
  /**
   * The caller's address: `X-Forwarded-For` is read from the right while the hops are trusted. Null when there is none.
   */
  addressOf(socketAddress: string | undefined, forwardedFor: string | undefined): string | null;
}

/** `trustedProxies`: addresses and networks such as `10.0.0.0/8`. */
export function createClientAddresses(trustedProxies: readonly string[]): ClientAddresses {
  const trusted = new BlockList();
  for (const network of trustedProxies) {
    const [address = "", prefix] = network.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (prefix === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(prefix), family);
  }
  const isTrusted = (address: string) => trusted.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");

  return {
    addressOf: (socketAddress, forwardedFor) => {
      const peer = plainAddress(socketAddress);
      if (peer === null || forwardedFor === undefined || trustedProxies.length === 0) return peer;
      let nearest = peer;
      for (const hop of forwardedFor.split(",").reverse()) {
        if (!isTrusted(nearest)) break;
        const address = plainAddress(hop.trim());
        if (address === null) break;
        nearest = address;
      }
      return nearest;
    },
  };
}

/** The address that a request comes from. */
export function requestAddress(
  { headers, socket }: Pick<IncomingMessage, "headers" | "socket">,
  addresses: ClientAddresses,
): string | null {
  const forwardedFor = headers["x-forwarded-for"];
  return addresses.addressOf(socket.remoteAddress, Array.isArray(forwardedFor) ? forwardedFor.join(",") : forwardedFor);
}

/** An address without the prefix that an IPv4 address has on an IPv6 socket; null for a text that is no address. */
function plainAddress(text: string | undefined): string | null {
  if (text === undefined) return null;
  const plain = text.startsWith("::ffff:") && text.includes(".") ? text.slice("::ffff:".length) : text;
  return isIP(plain) === 0 ? null : plain;
}
