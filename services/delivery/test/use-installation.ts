/** The installation and the receiver of a test. */
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterEach, beforeEach } from "vitest";
import { createInstallation, type Installation } from "./installation.ts";

/** The installation of the running test. */
export let installation: Installation;
export let receiver: Receiver;

/** To be called at the top of a test file: each of its tests has topics and a receiver of its own. */
export function useInstallation(delaysMs: readonly number[]): void {
  beforeEach(async () => {
    receiver = await startReceiver();
    installation = await createInstallation(delaysMs);
  });
  afterEach(async () => {
    await installation.remove();
    await receiver.close();
  });
}
