/** The control of a whole test file, over topics of the file's own. */
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { afterAll, beforeAll } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";

/** Those of the file that runs. */
export let topics: TestTopics;
export let control: TestControl;

/** To be called at the top of a test file. */
export function useControl(): void {
  beforeAll(async () => {
    topics = await createTestTopics("control");
    control = await startTestControl(topics);
  });
  afterAll(async () => {
    await control.stop();
    await topics.remove();
  });
}
