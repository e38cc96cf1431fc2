/** Logs: JSON lines on stderr, one line a decision, an event name and fields. Never a body, never a secret. */
import pino, { type Logger } from "pino";

export type { Logger } from "pino";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What may hold a secret is masked at whatever depth pino's paths reach, should a caller pass it by mistake. */
const REDACTED = [
  "authorization",
  "*.authorization",
  "writeKey",
  "*.writeKey",
  "sharedSecret",
  "*.sharedSecret",
  "headers",
  "*.headers",
  "body",
  "*.body",
];

/** A logger whose every line names the service. */
export function createLogger({ service, level }: { readonly service: string; readonly level: LogLevel }): Logger {
  return pino(
    { level, base: { service }, redact: { paths: REDACTED, censor: "***" }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  );
}
