/** What each operation needs: the one table of it. */
import type { Need } from "../http/caller.ts";

/** By operation, as in `/openapi.json`. What is not here cannot be served. */
export const ROUTE_NEEDS: Readonly<Record<string, Need>> = {
  getCatalog: "read",

  listSources: "read",
  getSource: "read",
  createSource: "write",
  changeSource: "write",
  removeSource: "write",
  rotateWriteKey: "write",

  listDestinations: "read",
  getDestination: "read",
  createDestination: "write",
  changeDestination: "write",
  removeDestination: "write",
  nameNextSecret: "write",
  switchSecret: "write",
  undoRotation: "write",
  retireSecret: "write",
  testDestination: "write",
  testSettings: "write",

  listDeletions: "read",
  getDeletion: "read",
  listDeletionNotifications: "read",
  createDeletion: "write",
  getSuppressions: "read",
  endSuppressions: "write",

  getEvent: "read",
  listDeliveries: "read",
  listLatestDeliveries: "read",
  getDeliveryRecord: "read",
  resendDelivery: "replay",
  listDeadLetters: "read",
  countDeadLetters: "read",
  groupDeadLetters: "read",
  getDeadLetter: "read",
  exportDeadLetters: "read",
  replayDeadLetters: { scope: "replay", dryRun: "read" },
  purgeDeadLetters: "write",
  listReplays: "read",
  getReplay: "read",
  pauseReplay: "replay",
  resumeReplay: "replay",
  cancelReplay: "replay",

  listAudiences: "read",
  getAudience: "read",
  getAudienceMember: "read",
  createAudience: "write",
  removeAudience: "write",
  setAudienceMembers: "write",
  changeAudienceMembers: "write",
  listComputedTraits: "read",
  setComputedTrait: "write",
  removeComputedTrait: "write",

  listUnreadable: "read",
  reproduceUnreadable: { scope: "replay", dryRun: "read" },

  listAudit: "read",
  openLive: "read",

  openSession: "none",
  getSession: "any",
  endSession: "any",
  createOwnToken: "any",
  createOwnLink: "any",

  listTokens: "read",
  createToken: "write",
  revokeToken: "write",
};
