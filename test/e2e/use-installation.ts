/** The installation and the receiver of a whole test file. */
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterAll, beforeAll, expect } from "vitest";
import { type Installation, type InstallationOptions, startInstallation } from "./installation.ts";

/** Those of the file that runs. */
export let installation: Installation;
export let receiver: Receiver;

/** To be called at the top of a test file: no process of its installation may end before it. */
export function useInstallation(options: InstallationOptions = {}): void {
  beforeAll(async () => {
    [installation, receiver] = await Promise.all([startInstallation(options), startReceiver()]);
  });
  afterAll(async () => {
    await installation.close();
    await receiver.close();
    expect(installation.unexpectedExits).toEqual([]);
  });
}
