/** Settings of the ingest service. */
import { BlockList, isIP } from "node:net";
import { DEFAULT_TOPIC_PREFIX } from "@posthaste/contracts/topics";
import { commaList, port, wholeNumber } from "@posthaste/runtime/config";
import { withConnections } from "@posthaste/runtime/connection-settings";
import { z } from "zod";

/** Addresses and networks such as `10.0.0.0/8`, divided by commas. */
const networks = () =>
  commaList().refine(
    (items) => items.every(isNetwork),
    "expected addresses or networks divided by commas, such as 10.0.0.0/8,::1",
  );

export const ingestSettings = withConnections({
  POSTHASTE_TOPIC_PREFIX: z.string().default(DEFAULT_TOPIC_PREFIX),
  /** The port that callers send to. */
  POSTHASTE_INGEST_PORT: port().default(8080),
  /** Proxies whose X-Forwarded-For is believed. */
  POSTHASTE_TRUSTED_PROXIES: networks().default([]),
  /**
   * How many calls a second one process accepts from one source before it answers 429: about half of the single calls
   * that it can accept.
   */
  POSTHASTE_SOURCE_CALLS_PER_SECOND: wholeNumber(1, 10_000_000).default(10_000),
  /** How many bytes of bodies a second, after decompression: about a quarter of what the process can accept. */
  POSTHASTE_SOURCE_BYTES_PER_SECOND: wholeNumber(1, 10_000_000_000).default(16_000_000),
  /** How many bytes of events may wait for the brokers before ingest answers 503. */
  POSTHASTE_INGEST_PENDING_BYTES: wholeNumber(1_000_000, 10_000_000_000).default(64 * 1024 * 1024),
});

function isNetwork(text: string): boolean {
  const [address = "", prefix, ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  if (!/^\d{1,3}$/.test(prefix)) return false;
  try {
    new BlockList().addSubnet(address, Number(prefix), version === 4 ? "ipv4" : "ipv6");
    return true;
  } catch {
    return false;
  }
}
