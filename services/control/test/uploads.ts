/** Uploads of audiences for tests, and the revision that tells an audience from an earlier one of its name. */
import { request } from "node:http";
import type { TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { expect } from "vitest";
import { ADMIN_TOKEN, type Answer, type TestControl } from "./control.ts";

export const NDJSON = { "content-type": "application/x-ndjson" };

/** One value a line. */
export function sendLines(control: TestControl, path: string, values: readonly unknown[]): Promise<Answer> {
  return control.call("PUT", path, values.map((value) => `${JSON.stringify(value)}\n`).join(""), NDJSON);
}

/** An upload that goes on for as long as the test lets it. */
export function openUpload({ url }: TestControl, path: string) {
  const answered = Promise.withResolvers<{ status: number; text: string }>();
  answered.promise.catch(() => undefined);
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, ...NDJSON };
  const outgoing = request(`${url}${path}`, { method: "PUT", headers }, (response) => {
    let text = "";
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => {
      text += chunk;
    });
    response.on("end", () => answered.resolve({ status: response.statusCode ?? 0, text }));
    response.on("error", answered.reject);
  });
  outgoing.on("error", answered.reject);
  return { outgoing, answered: answered.promise };
}

/** The revision that an audience was made with. */
export async function bornRevisionOf(topics: TestTopics, id: string): Promise<number> {
  const found: number[] = [];
  await topics.follow<{ id: string; bornRevision: number }>(topics.names.audienceConfig, (audience) => {
    if (audience.id === id) found.push(audience.bornRevision);
  });
  await eventually(() => expect(found.length).toBeGreaterThan(0));
  return found[0] ?? 0;
}
