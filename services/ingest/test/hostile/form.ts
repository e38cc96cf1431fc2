/** The possible forms of a hostile request: one value for each thing that its sender may choose. */
import fc from "fast-check";
import { FILLERS, type Filler, hasEscapedKeys } from "./fillers.ts";

export const PLACES = [
  "properties",
  "traits",
  "context",
  "integrations",
  "rest",
  "timestamp",
  "messageId",
  "userId",
  "event",
  "shared context",
  "shared integrations",
  "sentAt",
  "calls",
  "beside",
] as const;
export type Place = (typeof PLACES)[number];

/** One value in one place. The content of a call stands in each of a batch. */
export interface Filling {
  readonly place: Place;
  readonly filler: Filler;
  readonly bytes: number;
}

const PATHS = [
  "/v1/track",
  "/v1/identify",
  "/v1/alias",
  "/v1/batch",
  "/v1/import",
  "/v1/pixel/track",
  "/v1/pixel/identify",
  "/pixel/v1/track",
  "/v1/projects",
  "/v1/m",
  "/nothing",
] as const;

const KEY_PLACES = ["header", "query", "body", "nowhere"] as const;
const KEYS = ["known", "unknown", "written with escapes", "long"] as const;
const ENCODINGS = ["identity", "gzip", "deflate", "br"] as const;
/** The fault of a batch's calls, all of them or every second one. */
const FAULTS = ["none", "no type", "no user", "too deep", "no object"] as const;
const NAMES = ["flat", "dotted", "deep", "escaped", "plus"] as const;

export interface Form {
  readonly path: (typeof PATHS)[number];
  readonly keyAt: (typeof KEY_PLACES)[number];
  readonly key: (typeof KEYS)[number];
  readonly encoding: (typeof ENCODINGS)[number];
  readonly fillings: readonly Filling[];
  /** Calls of a batch; fewer are sent where they would be more than a request may have. */
  readonly calls: number;
  readonly fault: (typeof FAULTS)[number];
  /** Every call has a context and integrations of one key. */
  readonly ownObjects: boolean;
  readonly parameters: number;
  readonly names: (typeof NAMES)[number];
  readonly headers: number;
  readonly headerBytes: number;
}

/** A whole number whose order of magnitude is drawn. */
function upTo(most: number): fc.Arbitrary<number> {
  const steps = Math.ceil(Math.log(most) / Math.log(1.1));
  return fc.integer({ min: 0, max: steps }).map((step) => Math.min(most, Math.round(1.1 ** step)));
}

const filling: fc.Arbitrary<Filling> = fc.record({
  place: fc.constantFrom(...PLACES),
  filler: fc.constantFrom(...(Object.keys(FILLERS) as Filler[])),
  bytes: upTo(510_000),
});

/** Each of a form's choices by itself, so that one of them can be changed. */
export const GENES: { readonly [Gene in keyof Form]: fc.Arbitrary<Form[Gene]> } = {
  path: fc.constantFrom(...PATHS, "/v1/batch", "/v1/batch", "/v1/batch", "/v1/track", "/v1/track"),
  keyAt: fc.constantFrom(...KEY_PLACES, "header", "body"),
  key: fc.constantFrom(...KEYS, "known", "known", "known"),
  encoding: fc.constantFrom(...ENCODINGS, "gzip", "gzip"),
  fillings: fc.array(filling, { maxLength: 3 }),
  calls: upTo(20_000),
  fault: fc.constantFrom(...FAULTS, "none", "none"),
  ownObjects: fc.boolean(),
  parameters: upTo(1_000),
  names: fc.constantFrom(...NAMES),
  headers: upTo(1_000),
  headerBytes: upTo(15_000),
};

export const forms: fc.Arbitrary<Form> = fc.record(GENES);

/** A plain call, for forms that are written down: fields that they do not name are as an honest sender has them. */
export const PLAIN: Form = {
  path: "/v1/track",
  keyAt: "header",
  key: "known",
  encoding: "gzip",
  fillings: [],
  calls: 1,
  fault: "none",
  ownObjects: false,
  parameters: 1,
  names: "flat",
  headers: 1,
  headerBytes: 1,
};

export const KINDS = [
  "without a key",
  "queries",
  "headers",
  "contexts",
  "keys",
  "batches",
  "compressed calls",
  "plain calls",
] as const;
export type Kind = (typeof KINDS)[number];

export function hasKnownKey({ keyAt, key, path }: Form): boolean {
  if (key === "unknown" || key === "long" || keyAt === "nowhere") return false;
  return keyAt !== "body" || (path !== "/pixel/v1/track" && path !== "/v1/projects");
}

export function isBatch({ path }: Form): boolean {
  return path === "/v1/batch" || path === "/v1/import";
}

/** The kind of a form, by the cause of its cost. */
export function kindOf(form: Form): Kind {
  if (!hasKnownKey(form)) return "without a key";
  if (form.path.includes("pixel")) return "queries";
  if (isBatch(form) && form.fillings.some(({ place }) => place.startsWith("shared"))) return "contexts";
  if (form.fillings.some(({ filler }) => hasEscapedKeys(filler))) return "keys";
  if (isBatch(form)) return "batches";
  if (form.headers > 20 || form.headerBytes > 2_000 || form.parameters > 20) return "headers";
  return form.encoding === "identity" ? "plain calls" : "compressed calls";
}
