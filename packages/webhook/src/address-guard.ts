/**
 * The guard against server-side request forgery: which addresses webhooks may reach.
 *
 * It judges addresses, not names, at the moment of connecting: whatever the URL looked like when it was stored, and whatever
 * DNS said the last time, what counts is the address that the socket is about to be opened to.
 */
import { PosthasteError } from "@posthaste/core/errors";
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

/** The only block of IPv6 that is handed out for use on the internet; `ipaddr.js` calls the rest of the space unicast too. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("2000::"), 3];

/** NAT64's well-known prefix: the last 32 bits are the IPv4 address that is reached. */
const NAT64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("64:ff9b::"), 96];

export interface AddressGuard {
  /** True when webhooks may reach this address, given as text; text that is no address may not be reached. */
  readonly allows: (address: string) => boolean;
}

/**
 * A guard that lets public unicast addresses pass, and those of the operator's networks.
 * Throws PosthasteError `invalid_config` for a network that is not a CIDR.
 */
export function createAddressGuard(allowNetworks: readonly string[]): AddressGuard {
  const networks = allowNetworks.map(parseNetwork);
  return {
    allows(text) {
      if (!ipaddr.isValid(text)) return false;
      const address = reached(ipaddr.parse(text));
      return isPublic(address) || networks.some((network) => contains(network, address));
    },
  };
}

/**
 * The networks of a setting, CIDRs divided by commas.
 * Throws PosthasteError `invalid_config` for a network that is not a CIDR.
 */
export function parseNetworks(text: string): readonly string[] {
  const networks = text
    .split(",")
    .map((network) => network.trim())
    .filter((network) => network !== "");
  networks.forEach(parseNetwork);
  return networks;
}

/** The address that packets end up at: the IPv4 address inside an IPv4-mapped or NAT64 one. */
function reached(address: Address): Address {
  if (address instanceof ipaddr.IPv4) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  if (address.match(NAT64)) return ipaddr.fromByteArray(address.toByteArray().slice(12));
  return address;
}

/**
 * True for an ordinary address of the internet. `range()` names every special block; 6to4, Teredo and the local NAT64
 * prefix are refused whole, since they hide an address that cannot be judged from here.
 */
function isPublic(address: Address): boolean {
  if (address.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}

function contains([network, bits]: Network, address: Address): boolean {
  return network.kind() === address.kind() && address.match([network, bits] as [ipaddr.IPv4, number]);
}

function parseNetwork(text: string): Network {
  if (!ipaddr.isValidCIDR(text)) {
    throw new PosthasteError(
      "invalid_config",
      `"${text}" is not a network: expected a CIDR such as 10.0.0.0/8 or fd00::/8`,
    );
  }
  return ipaddr.parseCIDR(text);
}
