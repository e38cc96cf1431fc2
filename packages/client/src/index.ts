/** `@posthaste/client`: sends identify, track, page, screen, group and alias calls to Posthaste. */
export { Analytics } from "./client.ts";
export { ANALYTICS_ERROR_CODES, AnalyticsError, type AnalyticsErrorCode } from "./errors.ts";
export type {
  AliasCall,
  CallType,
  CommonFields,
  GroupCall,
  IdentifyCall,
  Identity,
  Message,
  PageCall,
  ScreenCall,
  TrackCall,
} from "./message.ts";
export type { AnalyticsOptions } from "./options.ts";
