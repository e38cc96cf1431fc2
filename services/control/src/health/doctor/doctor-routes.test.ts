import type { RouteRequest } from "@posthaste/http-kit/route";
import { expect, it } from "vitest";
import { createDoctor, doctorRoutes } from "./doctor-routes.ts";

const looks: string[] = [];
const check = (name: string) => ({
  name,
  look: () => {
    looks.push(name);
    return [];
  },
});
const doctor = createDoctor([check("topics"), check("keys")], [check("reach")]);
const [route] = doctorRoutes(doctor, () => ({ asOfMs: 0, complete: true }));

async function ask(query: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const asked = { params: {}, query } as unknown as RouteRequest;
  const answer = (await route?.run(asked)) as { readonly checks: readonly { readonly name: string }[] };
  return answer.checks.map(({ name }) => name);
}

it("runs the checks that are named, or all; reach where it is asked for", async () => {
  expect(await ask({})).toEqual(["topics", "keys"]);
  expect(await ask({ only: "keys" })).toEqual(["keys"]);
  expect(await ask({ only: "keys, topics" })).toEqual(["topics", "keys"]);
  expect(await ask({ reach: "true" })).toEqual(["topics", "keys", "reach"]);
  expect(await ask({ only: "keys", reach: "true" })).toEqual(["keys", "reach"]);
  looks.length = 0;
  await doctor.lookAround();
  expect(looks).toEqual(["topics", "keys"]);
});

it("names the checks that there are, where one is asked for that is none", async () => {
  await expect(ask({ only: "keys,clock" })).rejects.toThrow(
    "only: no check is named clock; there are topics, keys, reach",
  );
});
