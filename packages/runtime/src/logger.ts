/**
 * Writes logs as JSON lines on stderr: a line for each decision, with an event's name and fields, without bodies and
 * secrets.
 */
import pino, { type DestinationStream, type LogFn } from "pino";
import { redact } from "./redact.ts";
import { redactText } from "./redact-text.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Writes a line of fields and a message for people. This is not pino's own type, by which values could be put into the
 * message, where they would stand unmasked.
 */
export type WriteLine = (fields: Readonly<Record<string, unknown>>, message?: string) => void;
export type Logger = Readonly<Record<Exclude<LogLevel, "silent">, WriteLine>>;

export interface LoggerOptions {
  readonly service: string;
  readonly level: LogLevel;
  /** The lines' destination; stderr by default, written at once, so that the last line before an exit is not lost. */
  readonly destination?: DestinationStream;
}

/**
 * Makes a logger that names the service in every line. The logger masks values that may be secrets, in case a caller
 * passes one by mistake.
 */
export function createLogger({ service, level, destination }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: { service },
      // The error is a plain copy at this point, which pino's own serializer would take for another error.
      serializers: { err: (copy: unknown) => copy },
      hooks: { logMethod: redactLine },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination ?? pino.destination({ dest: 2, sync: true }),
  );
}

/** Masks a line before pino sees it, since pino takes an error's message for the line's message where there is none. */
function redactLine(this: pino.Logger, [fields, message]: Parameters<LogFn>, write: LogFn): void {
  // By the type `WriteLine` the fields are an object.
  const copy = redact(fields as object);
  write.call(this, copy, typeof message === "string" ? redactText(message) : undefined);
}
