/** That no event is routed by a part of the destinations. */
import type { Codec } from "@posthaste/contracts/codec";
import type { DestinationRecord } from "@posthaste/contracts/destination-codec";
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import { RoutingTable } from "@posthaste/core/routing/routing";
import { testDestinationRecord } from "@posthaste/testbed/test-destination";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { afterEach, beforeEach, expect, it } from "vitest";
import { followDestinations } from "../src/destinations.ts";

const SOURCE = "src_1";

let topics: TestTopics;

beforeEach(async () => {
  topics = await createTestTopics("destinations");
});

afterEach(() => topics.remove());

/** The codec, which knows no schema before `release`; `asked` resolves when it was asked for one. */
function heldCodec(codec: Codec<DestinationRecord>) {
  const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const held: Codec<DestinationRecord> = {
    ...codec,
    prefetch: () => {
      asked.resolve();
      return released.promise;
    },
  };
  return { held, asked: asked.promise, release: () => released.resolve() };
}

it("are followed when the topic was read to its end, and not before", async () => {
  const { connection, names, producer, openCodec } = topics;
  const codec = await openCodec<DestinationRecord>("destination");
  const record = testDestinationRecord("dst", { revision: 1, sourceIds: [SOURCE] });
  const [topic, headers] = [names.destinationConfig, { [REVISION_HEADER]: "1" }];
  await producer.send([{ topic, key: "dst", value: codec.encode(record), headers }]);
  const { held, asked, release } = heldCodec(codec);
  const routing = new RoutingTable();
  const failures: Error[] = [];
  const followed = followDestinations(connection, {
    ...{ topic, codec: held, routing, terms: undefined },
    onFailure: (reason) => failures.push(reason),
  }).then((destinations) => ({ destinations, known: routing.destinationsOf(SOURCE).map(({ id }) => id) }));
  await asked;
  // The longest step that does not wait for the schema: the brokers' answer for the topic's end.
  await connection.withAdmin((admin) => admin.fetchTopicOffsets(topic));
  release();
  const { destinations, known } = await followed;
  expect([known, failures]).toEqual([["dst"], []]);
  await destinations.close();
});
