import { expect, it } from "vitest";
import { isLoopback } from "./loopback.ts";

it.each(["127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost", "LOCALHOST", "kafka.localhost"])(
  "%s is this machine",
  (host) => {
    expect(isLoopback(host)).toBe(true);
  },
);

it.each(["10.0.0.1", "128.0.0.1", "::2", "kafka", "localhost.example", "127.0.0.1.example"])("%s is not", (host) => {
  expect(isLoopback(host)).toBe(false);
});
