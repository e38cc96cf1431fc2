/**
 * What stands beside a batch's calls for all of them, prepared once: a call that says nothing itself takes it as it is,
 * so that a batch of thousands of calls serialises its context once and not thousands of times.
 */
import { isJsonObject, type JsonObject, MAX_NESTING, toFragment } from "./json-fragment.ts";
import { setOwn } from "./own-property.ts";
import { toWellFormed } from "./well-formed.ts";

export interface SharedContext {
  /** The whole as a fragment. */
  readonly json: string;
  /** Where each of its members (`"key":value`) stands in that, by its key. */
  readonly members: ReadonlyMap<string, Place>;
  /** Its keys that objects put first, in their order: as numbers. */
  readonly indexes: readonly number[];
  /** Where its other members begin; null when it has none. */
  readonly othersStart: number | null;
  /** The fragment of its `traits`, where they are an object. */
  readonly traitsJson: string | null;
}

/** A part of a text, in UTF-16 units. */
interface Place {
  readonly start: number;
  readonly end: number;
}

export interface SharedIntegrations {
  /** The destinations that they switch on and off. */
  readonly enabled: Readonly<Record<string, boolean>>;
}

/** What a batch's context may nest itself: it stands in a call. */
const CONTEXT_LEVELS = MAX_NESTING - 1;

/** Null when it nests deeper than a call may. */
export function shareContext(context: JsonObject): SharedContext | null {
  const members = new Map<string, Place>();
  const indexes: number[] = [];
  let othersStart: number | null = null;
  let json = "{";
  for (const [key, value] of Object.entries(context)) {
    const fragment = toFragment(value, CONTEXT_LEVELS - 1);
    if (fragment === null) return null;
    if (members.size > 0) json += ",";
    const start = json.length;
    json += `${JSON.stringify(key)}:${fragment}`;
    members.set(key, { start, end: json.length });
    if (isIndex(key)) indexes.push(Number(key));
    else othersStart ??= start;
  }
  const traits =
    Object.hasOwn(context, "traits") && isJsonObject(context["traits"]) ? members.get("traits") : undefined;
  const traitsJson = traits === undefined ? null : json.slice(traits.start + `"traits":`.length, traits.end);
  return { json: `${json}}`, members, indexes, othersStart, traitsJson };
}

export function shareIntegrations(integrations: JsonObject): SharedIntegrations {
  return { enabled: toIntegrations(integrations) };
}

/**
 * The fragment of a call's own object with what is shared where it has no such key: of `{...shared, ...own}`. Null when
 * its own nests deeper than `levels`. Takes as long as the own keys are many, and not the shared ones.
 */
export function mergedFragment(shared: SharedContext | null, own: JsonObject, levels: number): string | null {
  if (shared === null) return toFragment(own, levels);
  const keys = Object.keys(own);
  if (keys.length === 0) return shared.json;
  const ownJson = toFragment(own, levels);
  if (ownJson === null || shared.members.size === 0) return ownJson;
  if (!keys.some((key) => shared.members.has(key) || isIndex(key))) {
    return `${shared.json.slice(0, -1)},${ownJson.slice(1)}`;
  }
  return withMembers(shared, own, keys);
}

/** The shared fragment with the own members where an object has them: in the place of those of the same key. */
function withMembers(shared: SharedContext, own: JsonObject, keys: readonly string[]): string {
  const { json, members } = shared;
  const changes: { readonly place: Place; readonly text: string }[] = [];
  let appended = "";
  // Of the own keys, too, those that are numbers come first, in their order.
  for (const key of keys) {
    const member = `${JSON.stringify(key)}:${JSON.stringify(own[key])}`;
    const place = members.get(key);
    const start = place === undefined && isIndex(key) ? startAfterIndex(shared, Number(key)) : null;
    if (place !== undefined) changes.push({ place, text: member });
    else if (start !== null) changes.push({ place: { start, end: start }, text: `${member},` });
    else appended += `,${member}`;
  }
  let merged = "";
  let done = 0;
  for (const { place, text } of changes.sort((one, other) => one.place.start - other.place.start)) {
    merged += json.slice(done, place.start) + text;
    done = place.end;
  }
  return `${merged}${json.slice(done, -1)}${appended}}`;
}

/** Where the first member begins that an object has after one whose key is that number; null when none is. */
function startAfterIndex({ members, indexes, othersStart }: SharedContext, index: number): number | null {
  let from = 0;
  let to = indexes.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((indexes[middle] ?? 0) < index) from = middle + 1;
    else to = middle;
  }
  return members.get(String(indexes[from]))?.start ?? othersStart;
}

const CANONICAL_NUMBER = /^(?:0|[1-9]\d{0,9})$/;
const MOST_INDEX = 2 ** 32 - 2;

/** Whether an object puts the key first, whatever its place: by the number that it is. */
function isIndex(key: string): boolean {
  return CANONICAL_NUMBER.test(key) && Number(key) <= MOST_INDEX;
}

/**
 * Which destinations are switched on and off by a call and what is shared. What is shared was read once (`enabled`),
 * and is copied here and not read again.
 */
export function mergedIntegrations(
  shared: SharedIntegrations | null,
  own: JsonObject,
): Readonly<Record<string, boolean>> {
  if (shared === null) return toIntegrations(own);
  const names = Object.keys(own);
  if (names.length === 0) return shared.enabled;
  const merged: Record<string, boolean> = { ...shared.enabled };
  const absent: string[] = [];
  for (const name of names) {
    const value = own[name];
    if (value === null) absent.push(name);
    else setOwn(merged, toWellFormed(name), value !== false);
  }
  for (const name of absent) delete merged[toWellFormed(name)];
  return merged;
}

/**
 * A destination's options object switches it on, as `true` does; null says nothing. Written key by key, since
 * `Object.fromEntries` takes five times as long for thousands.
 */
function toIntegrations(integrations: JsonObject): Readonly<Record<string, boolean>> {
  const enabled: Record<string, boolean> = {};
  for (const name of Object.keys(integrations)) {
    const value = integrations[name];
    if (value !== null) setOwn(enabled, toWellFormed(name), value !== false);
  }
  return enabled;
}
