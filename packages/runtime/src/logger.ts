/**
 * Writes logs as JSON lines on stderr: a line for each decision, with an event's name and fields, without bodies and
 * secrets. Warnings and errors that repeat one another are counted (LG1 of repeated-lines.ts).
 */
import pino, { type DestinationStream } from "pino";
import { redact } from "./redact.ts";
import { redactText } from "./redact-text.ts";
import { RepeatedLines } from "./repeated-lines.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Writes a line of fields and a message for people. This is not pino's own type, by which values could be put into the
 * message, where they would stand unmasked.
 */
export type WriteLine = (fields: Readonly<Record<string, unknown>>, message?: string) => void;
export type Logger = Readonly<Record<Exclude<LogLevel, "silent">, WriteLine>>;

/** pino's numbers of `warn` and `error`. */
const TROUBLES: ReadonlySet<number> = new Set([40, 50]);
/** The fields that name the subject of an event; the others tell more about it. */
const SUBJECTS = [
  ...["topic", "partition", "group", "broker", "registry", "subject", "producer", "task", "route"],
  ...["id", "destinationId", "sourceId", "audienceId", "deletionId", "replayId"],
];

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
  const repeated = new RepeatedLines();
  return pino(
    {
      level,
      base: { service },
      // The error is a plain copy at this point, which pino's own serializer would take for another error.
      serializers: { err: (copy: unknown) => copy },
      hooks: {
        logMethod([fields, message], write, level) {
          const line = redactLine(fields as object, message);
          if (!TROUBLES.has(level)) return write.apply(this, line);
          repeated.take(subjectOf(line[0]), (skipped) =>
            write.apply(this, skipped === 0 ? line : [{ ...line[0], skipped }, line[1]]),
          );
        },
      },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination ?? pino.destination({ dest: 2, sync: true }),
  );
}

/** Masks a line before pino sees it, since pino takes an error's message for the line's message where there is none. */
function redactLine(fields: object, message: unknown): [Readonly<Record<string, unknown>>, string | undefined] {
  return [redact(fields), typeof message === "string" ? redactText(message) : undefined];
}

function subjectOf(fields: Readonly<Record<string, unknown>>): string {
  return JSON.stringify([fields["event"], ...SUBJECTS.map((name) => fields[name])]);
}
