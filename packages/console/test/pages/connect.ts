import { problem } from "../fake-control.ts";
import type { TestedPage } from "./tested-page.ts";

export const connectPage: TestedPage = {
  ...{ route: "/connect", path: "/connect", title: "Connect · Posthaste", reads: "GET /v1/catalog" },
  empty: { "GET /v1/catalog": { body: [] } },
  live: {},
  shows: ["Connect a webhook", "Save and turn on"],
};

export const firstEventPage: TestedPage = {
  ...{ route: "/connect/$destinationId", path: "/connect/dst_4k2v8m1n0p3q5r7s", title: "First event · Posthaste" },
  reads: "GET /v1/destinations/{id}",
  empty: { "GET /v1/destinations/{id}": problem(404, "there is no destination dst_4k2v8m1n0p3q5r7s") },
  live: {},
  shows: ["Waiting for the first event", "Send a sample event", "curl -u '7zve1z2r23axm4r4ht9h51em3sxdz3sg:'"],
};

export const testReceiversPage: TestedPage = {
  ...{ route: "/test-receivers", path: "/test-receivers", title: "Test receivers · Posthaste" },
  reads: "GET /v1/test-receivers",
  empty: { "GET /v1/test-receivers": { body: { data: [] } } },
  live: {},
  shows: ["/receive/rcv_4k2v8m1n0p3q5r7s", "signature not checked", "It answers with"],
};
