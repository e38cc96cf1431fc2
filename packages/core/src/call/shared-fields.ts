/**
 * The fields that a batch has for all of its calls, prepared once: a call without such fields of its own takes them as
 * they are, so that a batch of thousands of calls serialises its context once and not thousands of times.
 */
import { isJsonObject, type JsonObject, MAX_NESTING, toFragment } from "./json-fragment.ts";
import { setOwn } from "./own-property.ts";
import { toWellFormed } from "./well-formed.ts";

export interface SharedContext {
  /** The whole context as a fragment. */
  readonly json: string;
  /** Where each member (`"key":value`) stands in `json`, by its key. */
  readonly members: ReadonlyMap<string, Place>;
  /** The keys that JavaScript's objects put first, as numbers, in their order. */
  readonly indexes: readonly number[];
  /** Where the members with other keys begin in `json`; null when there is none. */
  readonly othersStart: number | null;
  /** The fragment of the context's `traits`, where they are an object. */
  readonly traitsJson: string | null;
}

/** A part of a text, in UTF-16 units. */
interface Place {
  readonly start: number;
  readonly end: number;
}

export interface SharedIntegrations {
  /** Which destinations the batch's integrations switch on and off. */
  readonly enabled: Readonly<Record<string, boolean>>;
}

/** How deep a batch's context may nest: it becomes a field of each call. */
const CONTEXT_LEVELS = MAX_NESTING - 1;

/** Prepares a batch's context; null when it nests too deep. */
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
 * The fragment of `{...shared, ...own}`. Null when `own` nests deeper than `levels`. Takes time for each of the own
 * keys, and none for each of the shared ones.
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

/**
 * The shared fragment with the own members in the places that an object gives them: an overridden key keeps its place.
 */
function withMembers(shared: SharedContext, own: JsonObject, keys: readonly string[]): string {
  const { json, members } = shared;
  const changes: { readonly place: Place; readonly text: string }[] = [];
  let appended = "";
  // Among the own keys those that are indexes come first, in their order.
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

/** Where the first member begins that comes behind a key of this number in an object; null when none does. */
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

/** Whether an object puts the key before all others, in the order of its number. */
function isIndex(key: string): boolean {
  return CANONICAL_NUMBER.test(key) && Number(key) <= MOST_INDEX;
}

/**
 * Which destinations a call and its batch switch on and off; the call goes first. The batch's integrations were read
 * once (`enabled`) and are copied here.
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
 * Reads which destinations are switched on and off: an options object switches one on, as `true` does; null says
 * nothing. The loop stands for `Object.fromEntries`, which takes five times as long for thousands of keys.
 */
function toIntegrations(integrations: JsonObject): Readonly<Record<string, boolean>> {
  const enabled: Record<string, boolean> = {};
  for (const name of Object.keys(integrations)) {
    const value = integrations[name];
    if (value !== null) setOwn(enabled, toWellFormed(name), value !== false);
  }
  return enabled;
}
