import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  ConfigError,
  duration,
  durations,
  flag,
  hostPorts,
  parsedBy,
  port,
  readConfig,
  wholeNumber,
} from "./config.ts";

const schema = z.object({
  POSTHASTE_PORT: port().default(8080),
  POSTHASTE_SCHEDULE: durations().default([10_000]),
  POSTHASTE_WINDOW: duration().default(1),
  POSTHASTE_ON: flag().default(false),
  POSTHASTE_COUNT: wholeNumber(1, 10).default(3),
  KAFKA_BROKERS: hostPorts(),
});

const problemsOf = (env: Record<string, string>): readonly string[] => {
  try {
    readConfig(schema, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
};

describe("readConfig", () => {
  it("reads numbers, durations, lists and flags, and leaves other variables alone", () => {
    const config = readConfig(schema, {
      KAFKA_BROKERS: "a:1, b:2",
      POSTHASTE_SCHEDULE: "250ms,10s,5m,4h,2d",
      POSTHASTE_WINDOW: "4h",
      POSTHASTE_ON: "true",
      PATH: "/bin",
    });
    expect(config).toEqual({
      POSTHASTE_PORT: 8080,
      POSTHASTE_SCHEDULE: [250, 10_000, 300_000, 14_400_000, 172_800_000],
      POSTHASTE_WINDOW: 14_400_000,
      POSTHASTE_ON: true,
      POSTHASTE_COUNT: 3,
      KAFKA_BROKERS: ["a:1", "b:2"],
    });
    expect(Object.isFrozen(config)).toBe(true);
  });

  it("takes an empty variable for an absent one", () => {
    expect(readConfig(schema, { KAFKA_BROKERS: "a:1", POSTHASTE_PORT: "" }).POSTHASTE_PORT).toBe(8080);
  });

  it("names every variable at fault with what was expected", () => {
    const problems = problemsOf({ POSTHASTE_PORT: "70000", POSTHASTE_SCHEDULE: "10s,soon", POSTHASTE_COUNT: "2.5" });
    expect(problems).toEqual([
      "POSTHASTE_PORT: expected a port up to 65535",
      "POSTHASTE_SCHEDULE: expected durations divided by commas, such as 10s,30s,1m",
      "POSTHASTE_COUNT: expected a whole number from 1 to 10",
      "KAFKA_BROKERS is not set: expected a list divided by commas",
    ]);
  });

  it("refuses a list without entries, a flag that is neither word and a duration without a unit", () => {
    expect(problemsOf({ KAFKA_BROKERS: " , ", POSTHASTE_ON: "yes", POSTHASTE_WINDOW: "10" })).toEqual([
      "POSTHASTE_WINDOW: expected a duration such as 250ms, 10s, 5m or 4h",
      "POSTHASTE_ON: expected true or false",
      "KAFKA_BROKERS: expected a list divided by commas, with at least one entry",
    ]);
  });

  it.each(["broker", "a:9092,b", "PLAINTEXT://a:9092", ":9092", "a:0", "a:65536", "a:http", "a b:9092", "[::1]:9092"])(
    "refuses %j for where servers listen",
    (text) => {
      expect(problemsOf({ KAFKA_BROKERS: text })).toEqual([
        "KAFKA_BROKERS: expected host:port of each, divided by commas, such as a:9092,b:9092",
      ]);
    },
  );

  it("takes names, addresses of both kinds and every port for where servers listen", () => {
    const given = "kafka-0.kafka:9092,127.0.0.1:1,::1:65535";
    expect(readConfig(schema, { KAFKA_BROKERS: given }).KAFKA_BROKERS).toEqual(given.split(","));
  });

  it("says what a parser of another module says", () => {
    const digits = (text: string): number => {
      if (!/^\d+$/.test(text)) throw new Error(`"${text}" has more than digits in it`);
      return Number(text);
    };
    const parsed = z.object({ POSTHASTE_DIGITS: parsedBy(digits, "expected digits") });
    expect(readConfig(parsed, { POSTHASTE_DIGITS: "12" })).toEqual({ POSTHASTE_DIGITS: 12 });
    expect(() => readConfig(parsed, { POSTHASTE_DIGITS: "1x" })).toThrow(
      'POSTHASTE_DIGITS: "1x" has more than digits in it',
    );
    expect(() => readConfig(parsed, {})).toThrow("POSTHASTE_DIGITS is not set: expected digits");
  });
});
