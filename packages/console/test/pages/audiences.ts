import { exampleOf, problem } from "../fake-control.ts";
import type { TestedPage } from "./tested-page.ts";

const LIST = Object(exampleOf("GET /v1/audiences").body);
const SYNC = {
  ...{ startedAt: "2026-11-22T14:02:10.000Z", endedAt: "2026-11-22T14:02:12.000Z" },
  ...{ added: 1204, removed: 17, unchanged: 40_311 },
};
const FIGURES = { name: "VIP customers", trait: "vip_customers", size: 41_515, lastSync: SYNC };
const WORDS = ["vip_customers", "41,515", "1,204 added, 17 removed, 40,311 unchanged"];

/** The examples' audience, with the figures of one that is used. */
export const AUDIENCE = Object.assign({}, exampleOf("GET /v1/audiences/{id}").body, FIGURES) as typeof FIGURES & {
  readonly id: string;
};

export const audiencesPage: TestedPage = {
  ...{ route: "/audiences", path: "/audiences", title: "Audiences · Posthaste", reads: "GET /v1/audiences" },
  empty: { "GET /v1/audiences": { body: { ...LIST, data: [] } } },
  live: { "GET /v1/audiences": { body: { ...LIST, data: [AUDIENCE] } } },
  shows: [...WORDS, "Last sync", "lifetime_value", "Last values", "1 changed, 0 unchanged"],
};

export const audiencePage: TestedPage = {
  ...{ route: "/audiences/$audienceId", path: `/audiences/${AUDIENCE.id}`, title: "VIP customers · Posthaste" },
  reads: "GET /v1/audiences/{id}",
  empty: { "GET /v1/audiences/{id}": problem(404, `there is no audience ${AUDIENCE.id}`) },
  live: { "GET /v1/audiences/{id}": { body: AUDIENCE } },
  shows: [
    ...WORDS,
    "Identifies waiting",
    `posthaste audiences sync ${AUDIENCE.id} members.ndjson`,
    "-T members.ndjson",
  ],
};
