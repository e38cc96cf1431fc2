// Made from openapi.json by `npm run console:api`; not to be edited.

export type SourceInput = { readonly name: string; readonly kind: "web" | "mobile" | "server"; readonly enabled?: boolean | undefined };

export type SourcePatch = { readonly revision?: number | undefined; readonly name?: string | undefined; readonly kind?: "web" | "mobile" | "server" | undefined; readonly enabled?: boolean | undefined };

export type WriteKeyRotation = { readonly oldKeySeconds?: number | undefined };

export type SampleInput = { readonly type?: "identify" | "track" | "page" | "screen" | "group" | "alias" | undefined };

export type DestinationInput = { readonly type: "Webhooks"; readonly name: string; readonly sourceIds?: readonly (string)[] | undefined; readonly enabled?: boolean | undefined; readonly settings: { readonly sharedSecret?: (string) | ("***") | ({ readonly set: boolean }) | (null) | undefined; readonly settle?: "any" | "each" | undefined; readonly rateLimitPerSecond?: (number) | (null) | undefined; readonly standardWebhooks?: boolean | undefined; readonly responseLog?: "failures" | "all" | "off" | undefined; readonly payload?: "documented" | "full" | undefined; readonly urls: readonly ({ readonly url: string; readonly headers?: { readonly [key: string]: string } | undefined })[] } };

export type DestinationPatch = { readonly revision?: number | undefined; readonly type?: "Webhooks" | undefined; readonly name?: string | undefined; readonly sourceIds?: readonly (string)[] | undefined; readonly enabled?: boolean | undefined; readonly settings?: { readonly sharedSecret?: (string) | ("***") | ({ readonly set: boolean }) | (null) | undefined; readonly settle?: "any" | "each" | undefined; readonly rateLimitPerSecond?: (number) | (null) | undefined; readonly standardWebhooks?: boolean | undefined; readonly responseLog?: "failures" | "all" | "off" | undefined; readonly payload?: "documented" | "full" | undefined; readonly urls?: readonly ({ readonly url: string; readonly headers?: { readonly [key: string]: string } | undefined })[] | undefined } | undefined };

export type NextSecret = { readonly sharedSecret: string };

export type Nothing = {  };

export type TestInput = { readonly type?: "page" | "screen" | "identify" | "track" | "alias" | "group" | "delete" | undefined; readonly signWith?: "active" | "next" | undefined };

export type SettingsTestInput = { readonly settings: { readonly sharedSecret?: (string) | ("***") | ({ readonly set: boolean }) | (null) | undefined; readonly settle?: "any" | "each" | undefined; readonly rateLimitPerSecond?: (number) | (null) | undefined; readonly standardWebhooks?: boolean | undefined; readonly responseLog?: "failures" | "all" | "off" | undefined; readonly payload?: "documented" | "full" | undefined; readonly urls?: readonly ({ readonly url: string; readonly headers?: { readonly [key: string]: string } | undefined })[] | undefined }; readonly type?: "page" | "screen" | "identify" | "track" | "alias" | "group" | "delete" | undefined; readonly destinationId?: string | undefined };

export type DeletionInput = { readonly userId?: string | undefined; readonly userIds?: readonly (string)[] | undefined; readonly sourceIds?: readonly (string)[] | undefined; readonly id?: string | undefined; readonly suppress?: boolean | undefined };

export type ResendInput = { readonly messageId: string; readonly destinationId: string; readonly sourceId?: string | undefined };

export type ReplayInput = { readonly plan?: string | undefined; readonly destinationId?: string | undefined; readonly reason?: "window_expired" | "rejected_by_receiver" | "address_refused" | "destination_disabled" | "destination_removed" | "suppressed" | "other" | undefined; readonly error?: string | undefined; readonly type?: "page" | "screen" | "identify" | "track" | "alias" | "group" | "delete" | "other" | undefined; readonly userId?: string | undefined; readonly sourceId?: string | undefined; readonly event?: string | undefined; readonly since?: string | undefined; readonly until?: string | undefined; readonly messageIds?: readonly (string)[] | undefined; readonly places?: readonly (string)[] | undefined; readonly again?: boolean | undefined; readonly ratePerSecond?: number | undefined; readonly dryRun?: boolean | undefined };

export type PurgeInput = { readonly plan?: string | undefined; readonly destinationId?: string | undefined; readonly reason?: "window_expired" | "rejected_by_receiver" | "address_refused" | "destination_disabled" | "destination_removed" | "suppressed" | "other" | undefined; readonly error?: string | undefined; readonly type?: "page" | "screen" | "identify" | "track" | "alias" | "group" | "delete" | "other" | undefined; readonly userId?: string | undefined; readonly sourceId?: string | undefined; readonly event?: string | undefined; readonly since?: string | undefined; readonly until?: string | undefined; readonly messageIds?: readonly (string)[] | undefined; readonly places?: readonly (string)[] | undefined; readonly dryRun?: boolean | undefined };

export type AudienceInput = { readonly name: string; readonly sourceId: string };

export type Members = readonly (((string) | (number)) | ({ readonly userId: (string) | (number) }))[];

export type MembersPatch = { readonly add?: readonly ((string) | (number))[] | undefined; readonly remove?: readonly ((string) | (number))[] | undefined };

export type ComputedTraitInput = { readonly sourceId: string; readonly values: { readonly [key: string]: unknown } };

export type ReproduceInput = { readonly topic?: string | undefined; readonly reason?: "not_framed" | "unknown_schema" | "not_of_schema" | undefined; readonly places?: readonly (string)[] | undefined; readonly dryRun?: boolean | undefined };

export type TokenInput = { readonly link?: boolean | undefined; readonly name: string; readonly scopes: readonly ("read" | "write" | "replay")[] };

export type SessionKey = ({ readonly code: string }) | ({ readonly token: string });

export type Catalog = readonly ({ readonly name: string; readonly description: string; readonly settings: { readonly [key: string]: unknown } })[];

export type SourcePage = { readonly data: readonly (Source)[]; readonly nextCursor: (string) | (null); readonly asOf: (string) | (null); readonly complete: boolean };

export type Source = { readonly id: string; readonly name: string; readonly kind: "web" | "mobile" | "server"; readonly writeKey: string; readonly oldWriteKeys: readonly ({ readonly writeKey: string; readonly expiresAt: string })[]; readonly enabled: boolean; readonly revision: number; readonly createdAt: string; readonly updatedAt: string };

export type SourceCalls = { readonly data: readonly ({ readonly id: string; readonly time: string; readonly what: "taken" | "rejected" | "refused"; readonly code: (string) | (null); readonly advice: (string) | (null); readonly message: (string) | (null); readonly status: (number) | (null); readonly type: (string) | (null); readonly event: (string) | (null); readonly userKey: (string) | (null); readonly messageIds: readonly (string)[]; readonly path: (string) | (null); readonly bytes: (number) | (null); readonly userAgent: (string) | (null); readonly unknownKey: (string) | (null) })[]; readonly counts: { readonly since: string; readonly accepted: number; readonly lastAcceptedAt: (string) | (null); readonly rejected: readonly ({ readonly code: string; readonly count: number; readonly advice: string })[]; readonly refused: readonly ({ readonly code: string; readonly count: number; readonly advice: string })[] }; readonly asOf: (string) | (null); readonly complete: boolean };

export type SampleAnswer = { readonly messageId: string; readonly type: "identify" | "track" | "page" | "screen" | "group" | "alias"; readonly taken: boolean; readonly status: (number) | (null); readonly code: (string) | (null); readonly message: (string) | (null) };

export type DestinationPage = { readonly data: readonly (Destination)[]; readonly nextCursor: (string) | (null); readonly asOf: (string) | (null); readonly complete: boolean };

export type Destination = { readonly id: string; readonly type: "Webhooks"; readonly name: string; readonly sourceIds: readonly (string)[]; readonly enabled: boolean; readonly settings: { readonly sharedSecret: { readonly set: boolean }; readonly settle: "any" | "each"; readonly rateLimitPerSecond: (number) | (null); readonly standardWebhooks: boolean; readonly responseLog: "failures" | "all" | "off"; readonly payload: "documented" | "full"; readonly urls: readonly ({ readonly url: string; readonly headers: { readonly [key: string]: "***" } })[] }; readonly secretStage: "none" | "active" | "next" | "switched"; readonly missingKeyIds: (readonly (string)[]) | (null); readonly revision: number; readonly createdAt: string; readonly updatedAt: string };

export type TestAnswer = { readonly messageId: string; readonly type: "page" | "screen" | "identify" | "track" | "alias" | "group" | "delete"; readonly urls: readonly ({ readonly url: string; readonly outcome: "delivered" | "retryable" | "permanent"; readonly status: (number) | (null); readonly error: (string) | (null); readonly durationMs: number; readonly headers: { readonly [key: string]: string }; readonly body: string; readonly answer: (string) | (null) })[] };

export type Deletion = { readonly id: string; readonly notifications: number; readonly suppressed?: number | undefined };

export type DeletionPage = { readonly data: readonly ({ readonly id: string; readonly state: "requested" | "sent"; readonly users: number; readonly sourceIds: readonly (string)[]; readonly notifications: number; readonly suppress: boolean; readonly suppressionEndsAt: (string) | (null); readonly createdAt: string; readonly sentAt: (string) | (null) })[]; readonly nextCursor: (string) | (null); readonly asOf: (string) | (null); readonly complete: boolean };

export type DeletionStatus = { readonly id: string; readonly state: "requested" | "sent"; readonly users: number; readonly sourceIds: readonly (string)[]; readonly notifications: number; readonly suppress: boolean; readonly suppressionEndsAt: (string) | (null); readonly createdAt: string; readonly sentAt: (string) | (null); readonly states: { readonly sent: number; readonly retrying: number; readonly delivered: number; readonly dead: number }; readonly asOf: (string) | (null); readonly complete: boolean };

export type DeletionNotificationPage = { readonly data: readonly ({ readonly userId: string; readonly sourceId: string; readonly destinationId: string; readonly messageId: string; readonly state: "sent" | "retrying" | "delivered" | "dead"; readonly attempts: number; readonly firstAttemptAt: (string) | (null); readonly lastAttemptAt: (string) | (null); readonly deliveredAt: (string) | (null); readonly deadAt: (string) | (null) })[]; readonly nextCursor: (string) | (null); readonly asOf: (string) | (null); readonly complete: boolean };

export type Suppressions = { readonly userId: string; readonly sourceIds: readonly (string)[] };

export type EndedSuppressions = { readonly userId: string; readonly ended: readonly (string)[] };

export type EventPage = { readonly data: readonly ({ readonly messageId: string; readonly sourceId: string; readonly type: ("page" | "screen" | "identify" | "track" | "alias" | "group" | "delete" | "other") | (null); readonly event: (string) | (null); readonly userKey: (string) | (null); readonly receivedAt: (string) | (null); readonly cause: "refused" | "rejected_in_batch" | "dead_letter" | "destination_off" | "no_destination" | "integration_off" | "suppressed" | "waiting_retry" | "deferred" | "in_pipeline" | "unknown" | "duplicate_of" | "delivered_elsewhere" | "delivered"; readonly sentence: string })[]; readonly nextCursor: (string) | (null); readonly asOf: (string) | (null); readonly complete: boolean; readonly searchedTo: (string) | (null) };

export type EventVerdict = { readonly messageId: string; readonly cause: "refused" | "rejected_in_batch" | "dead_letter" | "destination_off" | "no_destination" | "integration_off" | "suppressed" | "waiting_retry" | "deferred" | "in_pipeline" | "unknown" | "duplicate_of" | "delivered_elsewhere" | "delivered"; readonly sentence: string; readonly command: (string) | (null); readonly events: readonly ({ readonly sourceId: string; readonly origin: ({ readonly partition: number; readonly offset: number }) | (null); readonly type: ("page" | "screen" | "identify" | "track" | "alias" | "group" | "delete" | "other") | (null); readonly event: (string) | (null); readonly userKey: (string) | (null); readonly receivedAt: (string) | (null); readonly cause: "refused" | "rejected_in_batch" | "dead_letter" | "destination_off" | "no_destination" | "integration_off" | "suppressed" | "waiting_retry" | "deferred" | "in_pipeline" | "unknown" | "duplicate_of" | "delivered_elsewhere" | "delivered"; readonly sentence: string; readonly command: (string) | (null); readonly pipeline: ({ readonly before: "router" | "delivery"; readonly records: number; readonly seconds: number }) | (null); readonly destinations: readonly ({ readonly destinationId: string; readonly cause: "refused" | "rejected_in_batch" | "dead_letter" | "destination_off" | "no_destination" | "integration_off" | "suppressed" | "waiting_retry" | "deferred" | "in_pipeline" | "unknown" | "duplicate_of" | "delivered_elsewhere" | "delivered"; readonly sentence: string; readonly command: (string) | (null); readonly since: (string) | (null); readonly by: (string) | (null); readonly due: (string) | (null); readonly deadline: (string) | (null); readonly tries: (number) | (null); readonly place: (string) | (null); readonly pipeline: ({ readonly before: "router" | "delivery"; readonly records: number; readonly seconds: number }) | (null) })[]; readonly timeline: readonly ({ readonly time: string; readonly what: "received" | "routed" | "rejected" | "unrouted" | "attempt" | "deferred" | "dead_letter"; readonly destinationId: (string) | (null); readonly detail: string })[] })[]; readonly cut: boolean; readonly search: ({ readonly state: "searched" | "stopped" | "busy" | "failed"; readonly records: number; readonly stopped: readonly ({ readonly topic: string; readonly partition: number; readonly next: number; readonly end: number })[] }) | (null); readonly asOf: (string) | (null); readonly complete: boolean };

export type DeliveryPage = { readonly data: readonly ({ readonly time: string; readonly destinationId: string; readonly sourceId: string; readonly messageId: string; readonly type: "page" | "screen" | "identify" | "track" | "alias" | "group" | "delete" | "other"; readonly event: (string) | (null); readonly userKey: (string) | (null); readonly receivedAt: (string) | (null); readonly origin: ({ readonly partition: number; readonly offset: number }) | (null); readonly configOffset: (number) | (null); readonly record: ({ readonly delayMs: number; readonly partition: number; readonly offset: number; readonly time: string }) | (null); readonly deferrals: number; readonly replayId: (string) | (null); readonly attempt: number; readonly outcome: "delivered" | "retryable" | "permanent" | "other"; readonly urls: readonly ({ readonly url: string; readonly status: (number) | (null); readonly error: (string) | (null); readonly durationMs: number; readonly answer: (string) | (null) })[]; readonly followUps: readonly ({ readonly kind: "retry" | "dead_letter" | "other"; readonly urls: (readonly (string)[]) | (null); readonly delayMs: (number) | (null); readonly due: (string) | (null); readonly deadline: (string) | (null); readonly reason: (string) | (null) })[] })[]; readonly nextCursor: (string) | (null); readonly asOf: (string) | (null); readonly complete: boolean; readonly searchedTo: (string) | (null) };

export type LatestDeliveryPage = { readonly data: readonly ({ readonly time: string; readonly messageId: string; readonly destinationId: string; readonly sourceId: string; readonly type: "page" | "screen" | "identify" | "track" | "alias" | "group" | "delete" | "other"; readonly event: (string) | (null); readonly userKey: (string) | (null); readonly receivedAt: (string) | (null); readonly origin: ({ readonly partition: number; readonly offset: number }) | (null); readonly replayId: (string) | (null); readonly sentAgain: (string) | (null); readonly state: "delivered" | "waiting_retry" | "deferred" | "dead_letter" | "suppressed" | "other"; readonly attempts: number; readonly due: (string) | (null); readonly deadline: (string) | (null); readonly error: (string) | (null); readonly lastAttempt: ({ readonly time: (string) | (null); readonly outcome: ("delivered" | "retryable" | "permanent" | "other") | (null); readonly urls: readonly ({ readonly url: string; readonly status: (number) | (null); readonly error: (string) | (null); readonly durationMs: (number) | (null) })[] }) | (null); readonly deferral: ({ readonly cause: string; readonly since: string }) | (null); readonly deadLetter: ({ readonly time: string; readonly reason: string; readonly reasonClass: (string) | (null); readonly place: (string) | (null) }) | (null) })[]; readonly nextCursor: (string) | (null); readonly asOf: (string) | (null); readonly complete: boolean; readonly searchedTo: (string) | (null) };

export type DeliveryRecord = { readonly messageId: string; readonly destinationId: string; readonly sourceId: string; readonly type: "page" | "screen" | "identify" | "track" | "alias" | "group" | "delete" | "other"; readonly event: (string) | (null); readonly receivedAt: string; readonly replayId: (string) | (null); readonly attempts: number; readonly place: { readonly topic: string; readonly partition: number; readonly offset: number; readonly time: string }; readonly body: string; readonly rest: (string) | (null); readonly requests: readonly ({ readonly url: string; readonly headers: { readonly [key: string]: string } })[] };

export type Resent = { readonly replayId: string; readonly copyWaits: boolean };

export type DeadLetterPage = { readonly data: readonly ({ readonly place: string; readonly time: string; readonly reason: "window_expired" | "rejected_by_receiver" | "address_refused" | "destination_disabled" | "destination_removed" | "suppressed" | "other"; readonly reasonClass: "receiver" | "configuration" | "pipeline" | "other"; readonly destinationId: string; readonly sourceId: string; readonly messageId: string; readonly type: "page" | "screen" | "identify" | "track" | "alias" | "group" | "delete" | "other"; readonly event: (string) | (null); readonly userKey: (string) | (null); readonly receivedAt: string; readonly attempts: number; readonly deferrals: number; readonly windowStart: (string) | (null); readonly lastAttempt: readonly ({ readonly url: string; readonly status: (number) | (null); readonly error: (string) | (null); readonly durationMs: number })[]; readonly replayId: (string) | (null); readonly replays: number })[]; readonly nextCursor: (string) | (null); readonly asOf: (string) | (null); readonly complete: boolean; readonly leftOut: { readonly suppressed: number; readonly purged: number }; readonly searchedTo: (string) | (null) };

export type DeadLetterCountPage = { readonly data: readonly ({ readonly destinationId: string; readonly reason: "window_expired" | "rejected_by_receiver" | "address_refused" | "destination_disabled" | "destination_removed" | "suppressed" | "other"; readonly count: number })[]; readonly nextCursor: (string) | (null); readonly asOf: (string) | (null); readonly complete: boolean; readonly leftOut: { readonly suppressed: number; readonly purged: number } };

export type DeadLetterGroups = { readonly data: readonly ({ readonly destinationId: string; readonly reason: "window_expired" | "rejected_by_receiver" | "address_refused" | "destination_disabled" | "destination_removed" | "suppressed" | "other"; readonly reasonClass: "receiver" | "configuration" | "pipeline" | "other"; readonly error: (string) | (null); readonly count: number; readonly firstAt: string; readonly lastAt: string; readonly hours: readonly ({ readonly at: string; readonly count: number })[]; readonly sample: string; readonly remedy: string })[]; readonly asOf: (string) | (null); readonly complete: boolean };

export type WholeDeadLetter = { readonly place: string; readonly time: string; readonly reason: "window_expired" | "rejected_by_receiver" | "address_refused" | "destination_disabled" | "destination_removed" | "suppressed" | "other"; readonly reasonClass: "receiver" | "configuration" | "pipeline" | "other"; readonly destinationId: string; readonly sourceId: string; readonly messageId: string; readonly type: "page" | "screen" | "identify" | "track" | "alias" | "group" | "delete" | "other"; readonly event: (string) | (null); readonly userKey: (string) | (null); readonly receivedAt: string; readonly attempts: number; readonly deferrals: number; readonly windowStart: (string) | (null); readonly lastAttempt: readonly ({ readonly url: string; readonly status: (number) | (null); readonly error: (string) | (null); readonly durationMs: number })[]; readonly replayId: (string) | (null); readonly replays: number; readonly firstAttemptAt: (string) | (null); readonly history: readonly ({ readonly attempt: number; readonly replayId: (string) | (null); readonly startedAt: string; readonly urls: readonly ({ readonly url: string; readonly status: (number) | (null); readonly error: (string) | (null); readonly durationMs: number })[] })[]; readonly origin: ({ readonly topic: string; readonly partition: number; readonly offset: number }) | (null); readonly body: string; readonly rest: (string) | (null) };

export type ReplayStart = { readonly id: (string) | (null); readonly plan: (string) | (null); readonly matched: number; readonly leftOut: { readonly deliveredSince: number; readonly replayedBefore: number; readonly suppressed: number; readonly destinationOff: number; readonly destinationRemoved: number; readonly purged: number; readonly expired: number }; readonly expiresAt: (string) | (null); readonly counts: readonly ({ readonly destinationId: string; readonly reason: string; readonly error: (string) | (null); readonly type: string; readonly count: number })[]; readonly samples: readonly ({ readonly place: string; readonly time: string; readonly messageId: string; readonly destinationId: string; readonly reason: string; readonly type: string })[] };

export type ReplayPage = { readonly data: readonly (Replay)[]; readonly nextCursor: (string) | (null); readonly asOf: (string) | (null); readonly complete: boolean };

export type Replay = { readonly id: string; readonly state: "planned" | "waiting" | "running" | "paused" | "cancelled" | "done" | "failed"; readonly matched: number; readonly replayed: number; readonly leftOut: { readonly deliveredSince: number; readonly replayedBefore: number; readonly suppressed: number; readonly destinationOff: number; readonly destinationRemoved: number; readonly purged: number; readonly expired: number }; readonly leftOutSince: { readonly deliveredSince: number; readonly replayedBefore: number; readonly suppressed: number; readonly destinationOff: number; readonly destinationRemoved: number; readonly purged: number; readonly expired: number }; readonly ratePerSecond: (number) | (null); readonly filter: { readonly destinationId?: string | undefined; readonly reason?: "window_expired" | "rejected_by_receiver" | "address_refused" | "destination_disabled" | "destination_removed" | "suppressed" | "other" | undefined; readonly error?: string | undefined; readonly type?: "page" | "screen" | "identify" | "track" | "alias" | "group" | "delete" | "other" | undefined; readonly userId?: string | undefined; readonly sourceId?: string | undefined; readonly event?: string | undefined; readonly since?: string | undefined; readonly until?: string | undefined; readonly messageIds?: readonly (string)[] | undefined; readonly places?: readonly (string)[] | undefined }; readonly again: boolean; readonly offsets: { readonly passed: number; readonly of: number }; readonly takeovers: number; readonly createdAt: string; readonly startedAt: (string) | (null); readonly endedAt: (string) | (null) };

export type Purge = { readonly id: (string) | (null); readonly plan: (string) | (null); readonly matched: number; readonly leftOut: { readonly deliveredSince: number; readonly replayedBefore: number; readonly suppressed: number; readonly destinationOff: number; readonly destinationRemoved: number; readonly purged: number; readonly expired: number }; readonly expiresAt: (string) | (null); readonly counts: readonly ({ readonly destinationId: string; readonly reason: string; readonly error: (string) | (null); readonly type: string; readonly count: number })[]; readonly samples: readonly ({ readonly place: string; readonly time: string; readonly messageId: string; readonly destinationId: string; readonly reason: string; readonly type: string })[]; readonly bytesKeptUntil: (string) | (null) };

export type AudiencePage = { readonly data: readonly (AudienceEntry)[]; readonly nextCursor: (string) | (null); readonly asOf: (string) | (null); readonly complete: boolean };

export type AudienceEntry = { readonly id: string; readonly name: string; readonly trait: string; readonly sourceId: string; readonly size: number; readonly syncing: ({ readonly since: string; readonly received: (number) | (null); readonly compared: (number) | (null) }) | (null); readonly lastSync: ({ readonly startedAt: string; readonly endedAt: string; readonly added: number; readonly removed: number; readonly unchanged: number }) | (null); readonly createdAt: string };

export type Audience = { readonly id: string; readonly name: string; readonly trait: string; readonly sourceId: string; readonly size: number; readonly syncing: ({ readonly since: string; readonly received: (number) | (null); readonly compared: (number) | (null) }) | (null); readonly lastSync: ({ readonly startedAt: string; readonly endedAt: string; readonly added: number; readonly removed: number; readonly unchanged: number }) | (null); readonly createdAt: string; readonly identifiesWaiting: number };

export type AudienceMember = { readonly userId: string; readonly member: boolean; readonly since: (string) | (null) };

export type MembersChange = { readonly added: number; readonly removed: number; readonly unchanged: number };

export type ValuesChange = { readonly changed: number; readonly unchanged: number };

export type UnreadablePage = { readonly data: readonly ({ readonly place: string; readonly topic: string; readonly partition: number; readonly offset: number; readonly reason: "not_framed" | "unknown_schema" | "not_of_schema"; readonly error: string; readonly time: string; readonly by: string; readonly bytes: (number) | (null); readonly reproduced: boolean })[]; readonly nextCursor: (string) | (null); readonly asOf: (string) | (null); readonly complete: boolean };

export type Reproduced = { readonly matched: number; readonly reproduced: number };

export type TokenPage = { readonly data: readonly ({ readonly id: string; readonly name: string; readonly scopes: readonly ("read" | "write" | "replay")[]; readonly createdAt: string; readonly createdBy: string })[]; readonly nextCursor: (string) | (null); readonly asOf: (string) | (null); readonly complete: boolean };

export type TokenWithKey = { readonly id: string; readonly name: string; readonly scopes: readonly ("read" | "write" | "replay")[]; readonly createdAt: string; readonly createdBy: string; readonly token: (string) | (null); readonly link: (string) | (null) };

export type Session = { readonly name: string; readonly tokenId: (string) | (null); readonly scopes: readonly ("read" | "write" | "replay")[]; readonly expiresAt: (string) | (null) };

export type MadeToken = { readonly id: string; readonly name: string; readonly scopes: readonly ("read" | "write" | "replay")[]; readonly createdAt: string; readonly createdBy: string; readonly token: string };

export type MadeLink = { readonly link: string; readonly expiresAt: string };

export type AuditPage = { readonly data: readonly ({ readonly id: number; readonly time: string; readonly actor: string; readonly tokenId: (string) | (null); readonly way: "console" | "cli" | "api" | "other"; readonly operation: string; readonly target: string; readonly changes: readonly ({ readonly field: string; readonly from: (string) | (null); readonly to: (string) | (null) })[]; readonly requestId: string })[]; readonly nextCursor: (string) | (null); readonly asOf: (string) | (null); readonly complete: boolean; readonly searchedTo: (string) | (null) };

export type Problem = { readonly type: string; readonly title: string; readonly status: number; readonly detail: string; readonly errors: readonly ({ readonly path: string; readonly message: string })[]; readonly requestId: string };

export interface Operations {
  "GET /v1/catalog": { params: {  }; query: {  }; body: undefined; answer: Catalog };
  "GET /v1/sources": { params: {  }; query: { limit?: number; cursor?: string }; body: undefined; answer: SourcePage };
  "POST /v1/sources": { params: {  }; query: {  }; body: SourceInput; answer: Source };
  "GET /v1/sources/{id}": { params: { id: string }; query: {  }; body: undefined; answer: Source };
  "PATCH /v1/sources/{id}": { params: { id: string }; query: {  }; body: SourcePatch; answer: Source };
  "DELETE /v1/sources/{id}": { params: { id: string }; query: {  }; body: undefined; answer: undefined };
  "POST /v1/sources/{id}/write-key": { params: { id: string }; query: {  }; body: WriteKeyRotation; answer: Source };
  "GET /v1/sources/{id}/calls": { params: { id: string }; query: { limit?: number; since?: string }; body: undefined; answer: SourceCalls };
  "POST /v1/sources/{id}/sample": { params: { id: string }; query: {  }; body: SampleInput; answer: SampleAnswer };
  "GET /v1/destinations": { params: {  }; query: { limit?: number; cursor?: string }; body: undefined; answer: DestinationPage };
  "POST /v1/destinations": { params: {  }; query: {  }; body: DestinationInput; answer: Destination };
  "GET /v1/destinations/{id}": { params: { id: string }; query: {  }; body: undefined; answer: Destination };
  "PATCH /v1/destinations/{id}": { params: { id: string }; query: {  }; body: DestinationPatch; answer: Destination };
  "DELETE /v1/destinations/{id}": { params: { id: string }; query: {  }; body: undefined; answer: undefined };
  "POST /v1/destinations/{id}/secret/next": { params: { id: string }; query: {  }; body: NextSecret; answer: Destination };
  "POST /v1/destinations/{id}/secret/switch": { params: { id: string }; query: {  }; body: Nothing; answer: Destination };
  "POST /v1/destinations/{id}/secret/undo": { params: { id: string }; query: {  }; body: Nothing; answer: Destination };
  "POST /v1/destinations/{id}/secret/retire": { params: { id: string }; query: {  }; body: Nothing; answer: Destination };
  "POST /v1/destinations/{id}/test": { params: { id: string }; query: {  }; body: TestInput; answer: TestAnswer };
  "POST /v1/destinations/test": { params: {  }; query: {  }; body: SettingsTestInput; answer: TestAnswer };
  "POST /v1/deletions": { params: {  }; query: {  }; body: DeletionInput; answer: Deletion };
  "GET /v1/deletions": { params: {  }; query: { limit?: number; cursor?: string }; body: undefined; answer: DeletionPage };
  "GET /v1/deletions/{id}": { params: { id: string }; query: {  }; body: undefined; answer: DeletionStatus };
  "GET /v1/deletions/{id}/notifications": { params: { id: string }; query: { limit?: number; cursor?: string }; body: undefined; answer: DeletionNotificationPage };
  "GET /v1/suppressions": { params: {  }; query: { userId?: string; sourceId?: string }; body: undefined; answer: Suppressions };
  "DELETE /v1/suppressions": { params: {  }; query: { userId?: string; sourceId?: string }; body: undefined; answer: EndedSuppressions };
  "GET /v1/events": { params: {  }; query: { userId?: string; event?: string; sourceId?: string; since?: string; until?: string; limit?: number; cursor?: string }; body: undefined; answer: EventPage };
  "GET /v1/events/{messageId}": { params: { messageId: string }; query: { messageId?: string; sourceId?: string; userId?: string }; body: undefined; answer: EventVerdict };
  "GET /v1/events/{messageId}/scan": { params: { messageId: string }; query: { messageId?: string }; body: undefined; answer: undefined };
  "GET /v1/deliveries": { params: {  }; query: { limit?: number; cursor?: string; destinationId?: string; outcome?: "delivered" | "retryable" | "permanent"; messageId?: string; type?: "page" | "screen" | "identify" | "track" | "alias" | "group" | "delete"; sourceId?: string; userId?: string; event?: string; replayId?: string; attempt?: number; error?: string; statusClass?: "1xx" | "2xx" | "3xx" | "4xx" | "5xx"; since?: string; until?: string }; body: undefined; answer: DeliveryPage };
  "GET /v1/deliveries/latest": { params: {  }; query: { limit?: number; cursor?: string; destinationId?: string; outcome?: "delivered" | "retryable" | "permanent"; messageId?: string; type?: "page" | "screen" | "identify" | "track" | "alias" | "group" | "delete"; sourceId?: string; userId?: string; event?: string; replayId?: string; attempt?: number; error?: string; statusClass?: "1xx" | "2xx" | "3xx" | "4xx" | "5xx"; since?: string; until?: string; state?: "delivered" | "waiting_retry" | "deferred" | "dead_letter" | "suppressed" | "other" }; body: undefined; answer: LatestDeliveryPage };
  "GET /v1/deliveries/record": { params: {  }; query: { messageId?: string; destinationId?: string; sourceId?: string }; body: undefined; answer: DeliveryRecord };
  "POST /v1/deliveries/resend": { params: {  }; query: {  }; body: ResendInput; answer: Resent };
  "GET /v1/dead-letters": { params: {  }; query: { limit?: number; cursor?: string; destinationId?: string; reason?: "window_expired" | "rejected_by_receiver" | "address_refused" | "destination_disabled" | "destination_removed" | "suppressed" | "other"; error?: string; type?: "page" | "screen" | "identify" | "track" | "alias" | "group" | "delete" | "other"; userId?: string; sourceId?: string; event?: string; since?: string; until?: string }; body: undefined; answer: DeadLetterPage };
  "GET /v1/dead-letters/counts": { params: {  }; query: { limit?: number; cursor?: string; destinationId?: string; reason?: "window_expired" | "rejected_by_receiver" | "address_refused" | "destination_disabled" | "destination_removed" | "suppressed" | "other"; error?: string; type?: "page" | "screen" | "identify" | "track" | "alias" | "group" | "delete" | "other"; userId?: string; sourceId?: string; event?: string; since?: string; until?: string }; body: undefined; answer: DeadLetterCountPage };
  "GET /v1/dead-letters/groups": { params: {  }; query: { destinationId?: string; reason?: "window_expired" | "rejected_by_receiver" | "address_refused" | "destination_disabled" | "destination_removed" | "suppressed" | "other"; error?: string; type?: "page" | "screen" | "identify" | "track" | "alias" | "group" | "delete" | "other"; userId?: string; sourceId?: string; event?: string; since?: string; until?: string }; body: undefined; answer: DeadLetterGroups };
  "GET /v1/dead-letters/export": { params: {  }; query: { destinationId?: string; reason?: "window_expired" | "rejected_by_receiver" | "address_refused" | "destination_disabled" | "destination_removed" | "suppressed" | "other"; error?: string; type?: "page" | "screen" | "identify" | "track" | "alias" | "group" | "delete" | "other"; userId?: string; sourceId?: string; event?: string; since?: string; until?: string; format?: "ndjson" | "csv" | "parquet" }; body: undefined; answer: undefined };
  "GET /v1/dead-letters/{place}": { params: { place: string }; query: {  }; body: undefined; answer: WholeDeadLetter };
  "POST /v1/dead-letters/replay": { params: {  }; query: {  }; body: ReplayInput; answer: ReplayStart };
  "GET /v1/replays": { params: {  }; query: { limit?: number; cursor?: string }; body: undefined; answer: ReplayPage };
  "GET /v1/replays/{id}": { params: { id: string }; query: {  }; body: undefined; answer: Replay };
  "POST /v1/replays/{id}/pause": { params: { id: string }; query: {  }; body: undefined; answer: Replay };
  "POST /v1/replays/{id}/resume": { params: { id: string }; query: {  }; body: undefined; answer: Replay };
  "POST /v1/replays/{id}/cancel": { params: { id: string }; query: {  }; body: undefined; answer: Replay };
  "POST /v1/dead-letters/purge": { params: {  }; query: {  }; body: PurgeInput; answer: Purge };
  "GET /v1/audiences": { params: {  }; query: { limit?: number; cursor?: string }; body: undefined; answer: AudiencePage };
  "POST /v1/audiences": { params: {  }; query: {  }; body: AudienceInput; answer: AudienceEntry };
  "GET /v1/audiences/{id}": { params: { id: string }; query: {  }; body: undefined; answer: Audience };
  "DELETE /v1/audiences/{id}": { params: { id: string }; query: {  }; body: undefined; answer: undefined };
  "GET /v1/audiences/{id}/members/{userId}": { params: { id: string; userId: string }; query: {  }; body: undefined; answer: AudienceMember };
  "PUT /v1/audiences/{id}/members": { params: { id: string }; query: {  }; body: Members; answer: MembersChange };
  "PATCH /v1/audiences/{id}/members": { params: { id: string }; query: {  }; body: MembersPatch; answer: MembersChange };
  "GET /v1/computed-traits": { params: {  }; query: { limit?: number; cursor?: string }; body: undefined; answer: AudiencePage };
  "PUT /v1/computed-traits/{name}": { params: { name: string }; query: { sourceId?: string }; body: ComputedTraitInput; answer: ValuesChange };
  "DELETE /v1/computed-traits/{name}": { params: { name: string }; query: { sourceId?: string }; body: undefined; answer: undefined };
  "GET /v1/unreadable": { params: {  }; query: { limit?: number; cursor?: string; topic?: string; reason?: "not_framed" | "unknown_schema" | "not_of_schema"; reproduced?: "true" | "false" }; body: undefined; answer: UnreadablePage };
  "POST /v1/unreadable/reproduce": { params: {  }; query: {  }; body: ReproduceInput; answer: Reproduced };
  "GET /v1/tokens": { params: {  }; query: { limit?: number; cursor?: string }; body: undefined; answer: TokenPage };
  "POST /v1/tokens": { params: {  }; query: {  }; body: TokenInput; answer: TokenWithKey };
  "DELETE /v1/tokens/{id}": { params: { id: string }; query: {  }; body: undefined; answer: undefined };
  "POST /v1/session": { params: {  }; query: {  }; body: SessionKey; answer: Session };
  "GET /v1/session": { params: {  }; query: {  }; body: undefined; answer: Session };
  "DELETE /v1/session": { params: {  }; query: {  }; body: undefined; answer: undefined };
  "POST /v1/session/token": { params: {  }; query: {  }; body: undefined; answer: MadeToken };
  "POST /v1/session/link": { params: {  }; query: {  }; body: undefined; answer: MadeLink };
  "GET /v1/audit": { params: {  }; query: { limit?: number; cursor?: string; actor?: string; target?: string; operation?: string; since?: string; until?: string }; body: undefined; answer: AuditPage };
  "GET /v1/live": { params: {  }; query: { topics?: string; lastEventId?: string; destinationId?: string; messageId?: string; outcome?: "delivered" | "retryable" | "permanent"; type?: "page" | "screen" | "identify" | "track" | "alias" | "group" | "delete"; sourceId?: string; userId?: string; event?: string; replayId?: string; attempt?: number; error?: string; statusClass?: "1xx" | "2xx" | "3xx" | "4xx" | "5xx"; reason?: "window_expired" | "rejected_by_receiver" | "address_refused" | "destination_disabled" | "destination_removed" | "suppressed" | "other"; actor?: string; target?: string; operation?: string }; body: undefined; answer: undefined };
}

