/** Passing a request on to a receiver of one's own, byte for byte. */
import type { Entry } from "../entries.ts";

/** As long as a delivery waits. */
const TIMEOUT_MS = 5_000;
/** Those that are of one connection; fetch makes its own. */
const OWN_HEADERS = ["host", "connection", "content-length", "transfer-encoding", "date", "expect"];
/** Control's text in the place of an operator's own header. */
const MASK = "***";

/** The receiver's answer, or the reason why there was none. A redirect is told and not followed. */
export async function forward(url: string, { method, headers }: Entry, body: Buffer): Promise<number | string> {
  try {
    const hasBody = method !== "GET" && method !== "HEAD";
    const response = await fetch(url, {
      method: String(method),
      headers: forwardedHeaders(headers),
      ...(hasBody ? { body: new Uint8Array(body) } : {}),
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    if (error instanceof DOMException && error.name === "TimeoutError") return `no answer in ${TIMEOUT_MS} ms`;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return cause instanceof Error ? cause.message : String(cause);
  }
}

function forwardedHeaders(headers: unknown): Record<string, string> {
  if (typeof headers !== "object" || headers === null) return {};
  return Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => !OWN_HEADERS.includes(name) && value !== MASK),
  );
}
