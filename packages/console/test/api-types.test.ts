import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { apiTypes } from "../build/api-types.ts";

describe("the types of the API", () => {
  it("are those of openapi.json; where they are not, run: npm run console:api", async () => {
    const types = apiTypes(JSON.parse(await readFile(new URL("../openapi.json", import.meta.url), "utf8")));
    await expect(types).toMatchFileSnapshot(fileURLToPath(new URL("../src/api/api-types.ts", import.meta.url)));
  });

  it("are refused for a schema that they have no words for", () => {
    const schemas = { Odd: { type: "tuple" } };
    expect(() => apiTypes({ paths: {}, components: { schemas } })).toThrow("of the type tuple");
  });
});
