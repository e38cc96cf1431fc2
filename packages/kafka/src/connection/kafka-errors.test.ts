import { PosthasteError } from "@posthaste/core/errors";
import kafkajs from "kafkajs";
import { describe, expect, it } from "vitest";
import {
  describe as describeError,
  isPassingFailure,
  isRefusedRecord,
  isTopicExisting,
  toPosthasteError,
} from "./kafka-errors.ts";

const { KafkaJSConnectionError, KafkaJSNonRetriableError, KafkaJSNumberOfRetriesExceeded, KafkaJSProtocolError } =
  kafkajs;

function answer(type: string, retriable: boolean) {
  return new KafkaJSProtocolError({ name: "KafkaJSProtocolError", message: type, type, code: 1, retriable } as never);
}

describe("kafkajs's errors", () => {
  it("pass when the connection failed, however deep kafkajs wrapped it", () => {
    const connection = new KafkaJSConnectionError("refused", { broker: "b:1", code: "ECONNREFUSED" } as never);
    const wrapped = new KafkaJSNumberOfRetriesExceeded(connection, { retryCount: 1, retryTime: 1 });
    expect(toPosthasteError(wrapped, "asking")).toMatchObject({
      code: "broker_unavailable",
      retryable: true,
      cause: wrapped,
    });
  });

  it("give back one of ours that kafkajs wrapped, with what it says", () => {
    const ours = new PosthasteError("internal", "the batch at offset 41 is compressed");
    const wrapped = Object.assign(new KafkaJSNonRetriableError(ours), { cause: ours });
    expect(toPosthasteError(wrapped, "the consumer crashed")).toBe(ours);
  });

  it("pass for an election and for too few replicas", () => {
    expect(isPassingFailure(answer("NOT_LEADER_FOR_PARTITION", true))).toBe(true);
    expect(isPassingFailure(answer("NOT_ENOUGH_REPLICAS", true))).toBe(true);
  });

  it("do not pass for a topic that is not there, and name it missing", () => {
    const missing = answer("UNKNOWN_TOPIC_OR_PARTITION", true);
    expect(isPassingFailure(missing)).toBe(false);
    expect(toPosthasteError(missing, "asking")).toMatchObject({ code: "topic_missing", retryable: false });
  });

  it("tell a refused record from a failed send", () => {
    expect(isRefusedRecord(answer("MESSAGE_TOO_LARGE", false))).toBe(true);
    expect(isRefusedRecord(answer("REQUEST_TIMED_OUT", true))).toBe(false);
  });

  it("tell that all topics exist already from that one could not be made", () => {
    const exists = answer("TOPIC_ALREADY_EXISTS", false);
    expect(isTopicExisting({ errors: [exists, exists] })).toBe(true);
    expect(isTopicExisting({ errors: [exists, answer("INVALID_REPLICATION_FACTOR", false)] })).toBe(false);
  });

  it("leave ours as they are", () => {
    const ours = new PosthasteError("closed", "closed");
    expect(toPosthasteError(ours, "asking")).toBe(ours);
  });

  it("are named in a log line by the protocol's word for them", () => {
    const wrapped = new KafkaJSNumberOfRetriesExceeded(answer("NOT_LEADER_FOR_PARTITION", true), {
      retryCount: 1,
      retryTime: 1,
    });
    expect(describeError(wrapped)).toBe("NOT_LEADER_FOR_PARTITION");
    expect(describeError(new TypeError("no"))).toBe("TypeError: no");
  });
});
