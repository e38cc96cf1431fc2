import { expect, it } from "vitest";
import { ownStrings } from "./string-member.ts";

const NAMES = ["userId", "messageId", "name", "anonymousId"];
const found = (object: string) => ownStrings(Buffer.from(object), NAMES);
const OWN = `"event":"userId","userId" : "é\\u0061" ,"messageId":7,"name":"n"`;
const NO_OWN = `"properties":{"userId":"inner","a":["userId"]},"note":"{\\"anonymousId\\":\\"no\\"}","x\\"anonymousId":"no"`;

it("the strings of an object itself are found among any others, and nothing that only looks like one", () => {
  for (const object of [`{${NO_OWN},${OWN}}`, `{${OWN},${NO_OWN}}`]) {
    expect(found(object)).toEqual({ userId: "éa", name: "n" });
  }
  expect(found(`{${NO_OWN}}`)).toEqual({});
});

it("they are found before and behind what is large, and not far within it", () => {
  const large = `"large":["{",${`{"userId":"inner"},`.repeat(5_000)}"}"]`;
  expect(found(`{${OWN},${large}}`)).toEqual({ userId: "éa", name: "n" });
  expect(found(`{${large},${OWN}}`)).toEqual({ userId: "éa", name: "n" });
  expect(found(`{${large},${OWN},${large}}`)).toEqual({});
  expect(found(`{${large},${NO_OWN}}`)).toEqual({});
});
