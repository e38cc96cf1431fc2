/** The options that say which dead letters; the same for all that is done with them. */
import type { Command } from "commander";
import { collect, moment, queryOf } from "../options.ts";

export interface DeadLetterFilter {
  readonly destinationId?: string;
  readonly reason?: string;
  readonly error?: string;
  readonly type?: string;
  readonly userId?: string;
  readonly sourceId?: string;
  readonly event?: string;
  readonly since?: string;
  readonly until?: string;
}

/** Those that can be named one by one, too. */
export interface NamedDeadLetters extends DeadLetterFilter {
  readonly messageIds?: readonly string[];
  readonly places?: readonly string[];
}

export function withDeadLetterFilter(command: Command): Command {
  return command
    .option("--destination-id <id>", "only those of this destination")
    .option("--reason <reason>", "only those with this reason, such as window_expired or rejected_by_receiver")
    .option(
      "--error <error>",
      "only those of which a URL came to this: a status such as 503, or a code such as timeout",
    )
    .option("--type <type>", "only those of events of this type, such as track")
    .option("--user-id <id>", "only those of this user")
    .option("--source-id <id>", "only those of this source")
    .option("--event <name>", "only those of events of this name")
    .option("--since <time>", "only from this moment on: 10m ago, or ISO 8601", moment)
    .option("--until <time>", "only before this moment", moment);
}

export function withNamedDeadLetters(command: Command): Command {
  return withDeadLetterFilter(command)
    .option("--message-ids <ids>", "only these messages, divided by commas", collect)
    .option("--places <places>", "only those at these places, as lists show them, divided by commas", collect);
}

export function deadLetterFilterQuery(filter: DeadLetterFilter): Record<string, string> {
  const { destinationId, reason, error, type, userId, sourceId, event, since, until } = filter;
  return queryOf({ destinationId, reason, error, type, userId, sourceId, event, since, until });
}

export function deadLetterBody({ messageIds, places, ...filter }: NamedDeadLetters): Record<string, unknown> {
  return {
    ...deadLetterFilterQuery(filter),
    ...(messageIds === undefined ? {} : { messageIds }),
    ...(places === undefined ? {} : { places }),
  };
}
