import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import type { EventPage } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { searchOf } from "../../listing/filter.ts";
import { allDestinations, allSources } from "../../names/names.ts";

/** A text that is no known message id, found as a user, as an event's name, or as a destination or source. */
export function OtherFinds({ text }: { readonly text: string }) {
  const byUser = useQuery(asked("GET /v1/events", { query: { userId: text, limit: 1 } }));
  const byName = useQuery(asked("GET /v1/events", { query: { event: text, limit: 1 } }));
  const { data: destinations = [] } = useQuery(allDestinations);
  const { data: sources = [] } = useQuery(allSources);
  const isIt = ({ id, name }: { readonly id: string; readonly name: string }) => id === text || name === text;
  const finds = [
    ...(hasSome(byUser) ? [["Events of the user", `/events${searchOf({ userId: text })}`]] : []),
    ...(hasSome(byName) ? [["Events with the name", `/events${searchOf({ event: text })}`]] : []),
    ...destinations.filter(isIt).map(({ id }) => ["The destination", `/destinations/${id}`]),
    ...sources.filter(isIt).map(({ id }) => ["The source", `/sources/${id}`]),
  ] as const;
  if (finds.length === 0) return null;
  return (
    <ul aria-label="Found otherwise">
      {finds.map(([words, href]) => (
        <li key={href}>
          <a href={href}>
            {words} {text}
          </a>
        </li>
      ))}
    </ul>
  );
}

function hasSome({ data }: Pick<UseQueryResult<EventPage>, "data">): boolean {
  return data !== undefined && data.data.length > 0;
}
