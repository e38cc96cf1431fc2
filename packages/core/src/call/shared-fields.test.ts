import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isJsonObject, type JsonObject, MAX_NESTING } from "./json-fragment.ts";
import { parseJson } from "./parse-json.ts";
import { mergedFragment, mergedIntegrations, shareContext, shareIntegrations } from "./shared-fields.ts";

const LEVELS = MAX_NESTING - 1;
/** Few keys, so that they meet; among them those that objects order or treat in their own way. */
const object = fc
  .dictionary(
    fc.constantFrom("a", "b", "10", "9", "0", "07", "4294967294", "4294967295", "__proto__", "x y", "traits", ""),
    fc.jsonValue(),
    { maxKeys: 6 },
  )
  .map((made) => parseJson(JSON.stringify(made)) as JsonObject);

describe("what stands beside a batch's calls", () => {
  it("is merged into a call as a spread of the two would be", () => {
    fc.assert(
      fc.property(object, object, (context, own) => {
        const shared = shareContext(context);
        expect(shared).not.toBeNull();
        expect(mergedFragment(shared, own, LEVELS)).toBe(JSON.stringify({ ...context, ...own }));
        expect(shared?.traitsJson ?? null).toBe(
          isJsonObject(context["traits"]) ? JSON.stringify(context["traits"]) : null,
        );
        expect(mergedIntegrations(shareIntegrations(context), own)).toEqual(
          mergedIntegrations(null, { ...context, ...own }),
        );
      }),
      { numRuns: 1000 },
    );
  });

  it("is serialised once, whatever the calls say themselves", () => {
    let serialised = 0;
    const counted = {
      toJSON: () => {
        serialised++;
        return { large: true };
      },
    };
    const shared = shareContext({ a: counted, b: 1 });
    for (const own of [{}, { c: 1 }, { b: 2 }, { "1": 1 }, { "1": 1, b: 2, c: 3 }]) {
      for (let call = 0; call < 100; call++) mergedFragment(shared, own, LEVELS);
    }
    expect(serialised).toBe(1);
    expect(mergedFragment(shared, { b: 2 }, LEVELS)).toBe(`{"a":{"large":true},"b":2}`);
  });
});
