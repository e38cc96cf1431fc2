/**
 * Reads settings from the environment: once, checked by zod, and frozen. An error names every variable at fault and the
 * expected value.
 */
import { z } from "zod";

/** Says that the settings cannot be read; its message has a line for each variable. The start must stop. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`settings cannot be read:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

/**
 * Reads the settings that `schema` names from `env`. An empty variable counts as absent, as in a compose file.
 * Throws ConfigError naming each variable that cannot be read.
 */
export function readConfig<Schema extends z.ZodObject>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<z.infer<Schema>> {
  const named: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const value = env[name];
    if (value !== undefined && value !== "") named[name] = value;
  }
  const result = schema.safeParse(named);
  if (result.success) return Object.freeze(result.data);
  throw new ConfigError(
    result.error.issues.map((issue) => {
      const name = issue.path.map(String).join(".");
      const given = named[name];
      return given === undefined ? `${name} is not set: ${issue.message}` : `${name}: ${issue.message}`;
    }),
  );
}

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Returns the milliseconds of `250ms`, `10s`, `5m`, `4h` or `14d`; undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d+)(ms|s|m|h|d)$/.exec(text.trim());
  if (!match) return undefined;
  return Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS];
}

/** A setting such as `10s`, in ms. */
export const duration = () =>
  z.string().transform((text, context) => {
    const ms = parseDuration(text);
    if (ms !== undefined) return ms;
    context.addIssue({ code: "custom", message: "expected a duration such as 250ms, 10s, 5m or 4h" });
    return z.NEVER;
  });

/** A setting such as `10s,30s,1m`, in ms. */
export const durations = () =>
  z.string().transform((text, context) => {
    const all = text.split(",").map(parseDuration);
    if (all.length > 0 && all.every((ms) => ms !== undefined)) return all as readonly number[];
    context.addIssue({ code: "custom", message: "expected durations divided by commas, such as 10s,30s,1m" });
    return z.NEVER;
  });

/** A setting such as `a,b`: a list with at least one entry. */
export const commaList = () =>
  z
    .string("expected a list divided by commas")
    .transform((text) =>
      text
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== ""),
    )
    .refine((items) => items.length > 0, "expected a list divided by commas, with at least one entry");

const isOrigin = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text;
};

/** A setting such as `http://control:8090`. */
export const origin = () => z.string().refine(isOrigin, "expected an origin such as http://control:8090");

/** A setting such as `https://posthaste.example,…`: origins, each as a browser sends it in `Origin`. */
export const origins = () =>
  commaList().refine(
    (items) => items.every(isOrigin),
    "expected origins divided by commas, such as https://posthaste.example",
  );

const isHostPort = (text: string): boolean => {
  const [, digits] = /^[^\s/[\]]+:(\d{1,5})$/.exec(text) ?? [];
  return Number(digits) >= 1 && Number(digits) <= 65_535;
};

/** A setting such as `a:9092,b:9092`: the addresses of some servers. */
export const hostPorts = () =>
  commaList().refine(
    (items) => items.every(isHostPort),
    "expected host:port of each, divided by commas, such as a:9092,b:9092",
  );

/** A setting with a TCP port; with 0 the system chooses one. */
export const port = () =>
  z.coerce
    .number("expected a port")
    .int("expected a port")
    .min(0, "expected a port")
    .max(65_535, "expected a port up to 65535");

/** A setting with a whole number within bounds. */
export const wholeNumber = (min: number, max: number) => {
  const expected = `expected a whole number from ${min} to ${max}`;
  return z.coerce.number(expected).int(expected).min(min, expected).max(max, expected);
};

/** A setting with `true` or `false`. */
export const flag = () => z.enum(["true", "false"], "expected true or false").transform((text) => text === "true");

/**
 * A setting that another module's parser reads. The error of the parser is shown as it is, so its message must hold no
 * secret.
 */
export const parsedBy = <T>(parse: (text: string) => T, expected: string) =>
  z.string(expected).transform((text, context): T => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
      return z.NEVER;
    }
  });
