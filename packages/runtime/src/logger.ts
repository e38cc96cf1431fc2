/** Logs: JSON lines on stderr, one line a decision, an event name and fields. Never a body, never a secret. */
import pino, { type DestinationStream, type Logger } from "pino";

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

export interface LoggerOptions {
  readonly service: string;
  readonly level: LogLevel;
  /** Where the lines go; stderr by default, written at once so that the last line before an exit is not lost. */
  readonly destination?: DestinationStream;
}

/** A logger whose every line names the service. */
export function createLogger({ service, level, destination }: LoggerOptions): Logger {
  return pino(
    { level, base: { service }, redact: { paths: REDACTED, censor: "***" }, timestamp: pino.stdTimeFunctions.isoTime },
    destination ?? pino.destination({ dest: 2, sync: true }),
  );
}
