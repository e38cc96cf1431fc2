/** The installation and the receiver of a whole test file. */

import type { ServiceName } from "@posthaste/local-stack/services";
import type { StackProcess } from "@posthaste/local-stack/stack-process";
import { eventually } from "@posthaste/testkit/eventually";
import { type Receiver, type ReceiverOptions, startReceiver } from "@posthaste/testkit/receiver";
import { afterAll, beforeAll, expect } from "vitest";
import { type Installation, type InstallationOptions, startInstallation } from "./installation.ts";
import { sharedInstallation, tidy } from "./shared-installation.ts";

/** The installation of the running file. */
export let installation: Installation;
export let receiver: Receiver;

/** To be called at the top of a test file: it has the installation of its process (shared-installation.ts). */
export function useInstallation(options: ReceiverOptions = {}): void {
  beforeAll(async () => {
    [installation, receiver] = await Promise.all([sharedInstallation(), startReceiver(options)]);
  });
  afterAll(async () => {
    await tidy(installation);
    await receiver.close();
  });
}

/** The same with one of its own, with settings or brokers that no other has. */
export function useOwnInstallation(options: InstallationOptions = {}): void {
  beforeAll(async () => {
    [installation, receiver] = await Promise.all([startInstallation(options), startReceiver()]);
  });
  afterAll(async () => {
    await installation.close();
    await receiver.close();
    expect(installation.unexpectedExits).toEqual([]);
  });
}

/** A control that was started answers a moment after it is alive. */
function untilControlAnswers(): Promise<unknown> {
  return eventually(() => installation.control.call("GET", "/v1/sources"), { timeoutMs: 60_000 });
}

/**
 * For the tests of a `describe` or a file: a process with other settings in the place of one of the installation's
 * services. The answer is there once the tests run.
 */
export function useServiceWith(name: ServiceName, settings: Readonly<Record<string, string>>): () => StackProcess {
  let other: StackProcess;
  beforeAll(async () => {
    other = installation.system.another(name, { settings });
    await installation.system.process(name).stop();
    await other.start();
    await untilControlAnswers();
  });
  afterAll(async () => {
    await other.stop();
    await installation.system.process(name).start();
    await untilControlAnswers();
  });
  return () => other;
}
