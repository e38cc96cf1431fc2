/**
 * A logger as the project uses it, with an event name and fields. pino's Logger is one; tests pass a list or nothing.
 */
export interface Log {
  readonly debug: (fields: Readonly<Record<string, unknown>>, message?: string) => void;
  readonly info: (fields: Readonly<Record<string, unknown>>, message?: string) => void;
  readonly warn: (fields: Readonly<Record<string, unknown>>, message?: string) => void;
  readonly error: (fields: Readonly<Record<string, unknown>>, message?: string) => void;
}

const ignore = () => {};

/** Writes nowhere. */
export const SILENT_LOG: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
