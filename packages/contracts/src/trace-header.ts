/**
 * The header that carries a trace, in records and in the requests of ingest's callers: W3C's `traceparent`. Records
 * have it only while traces are on.
 */
import { headerText, type IncomingHeaders } from "./headers.ts";

export const TRACEPARENT_HEADER = "traceparent";

/** The text of the header as it came; the reader of it decides whether it is well-formed. */
export function traceparentIn(headers: IncomingHeaders | undefined): string | undefined {
  return headerText(headers, TRACEPARENT_HEADER);
}

/** Returns the records with the header, beside those that they have. */
export function withTraceparent<Outgoing extends { readonly headers?: object }>(
  records: readonly Outgoing[],
  traceparent: string,
): readonly Outgoing[] {
  return records.map((record) => ({ ...record, headers: { ...record.headers, [TRACEPARENT_HEADER]: traceparent } }));
}
