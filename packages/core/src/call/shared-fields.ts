/**
 * What stands beside a batch's calls for all of them, prepared once: a call that says nothing itself takes it as it is,
 * so that a batch of thousands of calls serialises its context once and not thousands of times.
 */
import { isJsonObject, type JsonObject, MAX_NESTING, toFragment } from "./json-fragment.ts";
import { toWellFormed } from "./well-formed.ts";

export interface SharedContext {
  readonly object: JsonObject;
  /** The whole as a fragment, and each of its members (`"key":value`) by its key. */
  readonly json: string;
  readonly members: ReadonlyMap<string, string>;
  /** The fragment of its `traits`, where they are an object. */
  readonly traitsJson: string | null;
}

export interface SharedIntegrations {
  readonly object: JsonObject;
  readonly enabled: Readonly<Record<string, boolean>>;
}

/** What a batch's context may nest itself: it stands in a call. */
const CONTEXT_LEVELS = MAX_NESTING - 1;

/** Null when it nests deeper than a call may. */
export function shareContext(context: JsonObject): SharedContext | null {
  const members = new Map<string, string>();
  for (const [key, value] of Object.entries(context)) {
    const fragment = toFragment(value, CONTEXT_LEVELS - 1);
    if (fragment === null) return null;
    members.set(key, `${JSON.stringify(key)}:${fragment}`);
  }
  const hasTraits = Object.hasOwn(context, "traits") && isJsonObject(context["traits"]);
  return {
    object: context,
    json: `{${[...members.values()].join(",")}}`,
    members,
    traitsJson: hasTraits ? (members.get("traits") ?? "").slice(`"traits":`.length) : null,
  };
}

export function shareIntegrations(integrations: JsonObject): SharedIntegrations {
  return { object: integrations, enabled: toIntegrations(integrations) };
}

/**
 * The fragment of a call's own object with what is shared where it has no such key: of `{...shared, ...own}`. Null when
 * its own nests deeper than `levels`.
 */
export function mergedFragment(shared: SharedContext | null, own: JsonObject, levels: number): string | null {
  if (shared === null) return toFragment(own, levels);
  const keys = Object.keys(own);
  if (keys.length === 0) return shared.json;
  const ownJson = toFragment(own, levels);
  if (ownJson === null || shared.members.size === 0) return ownJson;
  if (!keys.some((key) => shared.members.has(key) || INTEGER_LIKE.test(key))) {
    return `${shared.json.slice(0, -1)},${ownJson.slice(1)}`;
  }
  // Spreading defines own properties, so that a key `__proto__` stays a key, and puts keys that are numbers in their
  // place.
  const merged: JsonObject = { ...shared.object, ...own };
  const members = Object.keys(merged).map((key) =>
    Object.hasOwn(own, key) ? `${JSON.stringify(key)}:${JSON.stringify(own[key])}` : shared.members.get(key),
  );
  return `{${members.join(",")}}`;
}

/** Keys that an object puts first, whatever their place. */
const INTEGER_LIKE = /^\d+$/;

/** Which destinations are switched on and off by a call and what is shared. */
export function mergedIntegrations(
  shared: SharedIntegrations | null,
  own: JsonObject,
): Readonly<Record<string, boolean>> {
  if (shared === null) return toIntegrations(own);
  return Object.keys(own).length === 0 ? shared.enabled : toIntegrations({ ...shared.object, ...own });
}

/** A destination's options object switches it on, as `true` does; null says nothing. */
function toIntegrations(integrations: JsonObject): Readonly<Record<string, boolean>> {
  const enabled: [string, boolean][] = [];
  for (const [name, value] of Object.entries(integrations)) {
    if (value !== null) enabled.push([toWellFormed(name), value !== false]);
  }
  return Object.fromEntries(enabled);
}
