import type { RequestError } from "@posthaste/core/delivery/outcome";
import { testDestination } from "@posthaste/testbed/test-destination";
import { expect, it } from "vitest";
import { reachCheck } from "./reach-check.ts";

const destination = (id: string, ...urls: readonly string[]) =>
  testDestination(id, { name: `name of ${id}`, urls: urls.map((url) => ({ url, headers: {} })) });

it("asks each server once, leaves out what is off, and names those that cannot be reached, without the path", async () => {
  const asked: string[] = [];
  const errors: Readonly<Record<string, RequestError>> = {
    "https://b.example": "tls_failure",
    "https://c.example:8443": "address_refused",
  };
  const check = reachCheck({
    destinations: () => [
      destination("dst_1", "https://a.example/one", "https://b.example/secret"),
      destination("dst_2", "https://b.example/two", "https://c.example:8443/three"),
      { ...destination("dst_3", "https://off.example/"), enabled: false },
    ],
    reach: async (url) => {
      asked.push(url);
      return errors[url] ?? null;
    },
  });
  const findings = await check.look();
  expect(asked.toSorted()).toEqual(["https://a.example", "https://b.example", "https://c.example:8443"]);
  expect(findings).toEqual([
    {
      state: "wrong",
      what: "https://b.example cannot be reached: tls_failure. It is a server of name of dst_1 (dst_1) and 1 more.",
      remedy: expect.stringMatching(/POSTHASTE_EXTRA_CA.*posthaste send dst_1$/),
    },
    {
      state: "wrong",
      what: "https://c.example:8443 cannot be reached: address_refused. It is a server of name of dst_2 (dst_2).",
      remedy: expect.stringContaining("POSTHASTE_ALLOW_NETWORKS"),
    },
  ]);
});
