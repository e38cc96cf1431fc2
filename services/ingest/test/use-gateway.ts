/** The gateway of a whole test file. */
import { afterAll, beforeAll, beforeEach } from "vitest";
import { startTestGateway, type TestGateway } from "./test-gateway.ts";

/** The gateway of the running file. */
export let gateway: TestGateway;

/** To be called at the top of a test file: each of its tests finds nothing sent, and brokers that take everything. */
export function useGateway(): void {
  beforeAll(async () => {
    gateway = await startTestGateway();
  });
  afterAll(() => gateway.close());
  beforeEach(() => {
    gateway.producer.sent.length = 0;
    Object.assign(gateway.producer, { pendingBytes: 0, acknowledge: () => Promise.resolve() });
  });
}
