/**
 * Controls that test files share, over topics of the process's own. A file makes its own sources, destinations, tokens
 * and users there, and asks about those alone. It sends three wrong tokens at the most, since ten a minute shut out the
 * address.
 *
 * Owns: the topics and two controls, which end with the process. The second control begins when a file asks for it.
 */
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { afterAll, beforeAll } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";

export let topics: TestTopics;
export let control: TestControl;
/** A second process of control over the same topics, for files that call `useControls`. */
export let other: TestControl;

let sharedTopics: Promise<TestTopics> | undefined;
const shared: Promise<TestControl>[] = [];

/** To be called at the top of a test file. */
export function useControl(): void {
  beforeAll(() => open(1));
  afterAll(async () => {
    await topics.unfollow();
    for (const each of await Promise.all(shared)) each.assertWell();
  });
}

/** The same with two processes of control. */
export function useControls(): void {
  beforeAll(() => open(2));
  useControl();
}

async function open(count: number): Promise<void> {
  sharedTopics ??= begin();
  topics = await sharedTopics;
  while (shared.length < count) shared.push(startTestControl(topics));
  const [first, second] = await Promise.all(shared);
  if (first !== undefined) control = first;
  if (second !== undefined) other = second;
}

function begin(): Promise<TestTopics> {
  // Vitest ends a process that has no more files by this signal, and kills it half a second later.
  process.once("SIGTERM", async () => {
    await Promise.all(shared.map(async (each) => (await each).stop()));
    await (await sharedTopics)?.remove();
    process.exit();
  });
  return createTestTopics("control");
}
