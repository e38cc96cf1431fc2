/** Whether a request's calls are taken at this moment, and whose they are. */
import type { Source } from "@posthaste/core/source";
import type { Producer } from "@posthaste/kafka/producer";
import { type Refusal, rateLimited, unavailable } from "./answer.ts";
import type { Authenticate, Authentication } from "./authenticate.ts";
import { ACKNOWLEDGE_TIMEOUT_MS } from "./limits.ts";
import type { RateLimit } from "./rate-limit.ts";

export interface AdmitParts {
  readonly authenticate: Authenticate;
  readonly rateLimit: RateLimit;
  readonly producer: Pick<Producer, "pendingBytes" | "oldestPendingMs">;
  /** Bytes that may wait for the brokers. */
  readonly maxPendingBytes: number;
  readonly acknowledgeTimeoutMs?: number | undefined;
}

export type Admission = { readonly source: Source } | { readonly refusal: Refusal };

export interface Admittance {
  /** What every request is answered while the brokers lag behind, whatever is in it; null while they do not. */
  busy(): Refusal | null;
  /** Answers at once, but for a key that is not known yet. */
  admit(writeKey: string | null, calls: number): Admission | Promise<Admission>;
}

const BUSY = unavailable("unavailable", "More calls arrive than the brokers take at the moment; send again.");

export function createAdmittance(parts: AdmitParts): Admittance {
  const { authenticate, rateLimit, producer, maxPendingBytes, acknowledgeTimeoutMs = ACKNOWLEDGE_TIMEOUT_MS } = parts;

  const withinRate = (authentication: Authentication, calls: number): Admission => {
    if ("refusal" in authentication) return authentication;
    const waitMs = rateLimit.take(authentication.source.id, calls);
    return waitMs > 0 ? { refusal: rateLimited(Math.ceil(waitMs / 1000)) } : authentication;
  };

  const busy = () =>
    producer.pendingBytes > maxPendingBytes || producer.oldestPendingMs > acknowledgeTimeoutMs ? BUSY : null;

  return {
    busy,
    admit: (writeKey, calls) => {
      const refusal = busy();
      if (refusal !== null) return { refusal };
      const authentication = authenticate(writeKey);
      return authentication instanceof Promise
        ? authentication.then((found) => withinRate(found, calls))
        : withinRate(authentication, calls);
    },
  };
}
