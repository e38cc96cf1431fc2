/** Waiting records that are deleted before their time, and the way on without them. */
import { retryTopicName } from "@posthaste/contracts/topics";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { expect } from "vitest";
import type { Installation } from "./installation.ts";

/** Deletes the records of one partition of the retry topic, accepts the loss, and starts delivery again. */
export async function loseAndAccept(
  { control, names, system }: Installation,
  connection: KafkaConnection,
  delayMs: number,
): Promise<void> {
  const delivery = system.process("delivery");
  await delivery.stop();
  const topic = retryTopicName(names, delayMs);
  await connection.withAdmin(async (admin) => {
    const written = (await admin.fetchTopicOffsets(topic)).find(({ high }) => Number(high) > 0);
    const { partition = -1, high = "" } = written ?? {};
    await admin.setOffsets({ groupId: names.retryGroup, topic, partitions: [{ partition, offset: "0" }] });
    await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: high }] });
  });
  const call = (body: object) => control.call("POST", "/v1/topics/accept-loss", body);
  const { losses } = (await call({})) as { readonly losses: readonly (object & { readonly records: number })[] };
  expect(losses).toMatchObject([{ topic, from: 0 }]);
  expect(await call({ losses: losses.map(({ records: _, ...loss }) => loss) })).toMatchObject({ accepted: true });
  await delivery.start();
  expect(await call({})).toEqual({ losses: [], accepted: false });
}
