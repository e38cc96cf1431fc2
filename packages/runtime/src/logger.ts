/** Logs: JSON lines on stderr, one line a decision, an event name and fields. Never a body, never a secret. */
import pino, { type DestinationStream, type LogFn } from "pino";
import { redact } from "./redact.ts";
import { redactText } from "./redact-text.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Writes a line of fields and a message for people. Not pino's own type: it takes values into the message, and would
 * write them as they are.
 */
export type WriteLine = (fields: Readonly<Record<string, unknown>>, message?: string) => void;
export type Logger = Readonly<Record<Exclude<LogLevel, "silent">, WriteLine>>;

export interface LoggerOptions {
  readonly service: string;
  readonly level: LogLevel;
  /** Where the lines go; stderr by default, written at once so that the last line before an exit is not lost. */
  readonly destination?: DestinationStream;
}

/**
 * A logger whose every line names the service. What may be a secret is masked in it, should a caller pass one by
 * mistake.
 */
export function createLogger({ service, level, destination }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: { service },
      // An error is a plain copy by then; pino's own serializer would take it for one more error.
      serializers: { err: (copy: unknown) => copy },
      hooks: { logMethod: redactLine },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination ?? pino.destination({ dest: 2, sync: true }),
  );
}

/** Before pino sees it, since pino takes an error's message for the line's where there is none. */
function redactLine(this: pino.Logger, [fields, message]: Parameters<LogFn>, write: LogFn): void {
  // By `WriteLine`.
  const copy = redact(fields as object);
  write.call(this, copy, typeof message === "string" ? redactText(message) : undefined);
}
