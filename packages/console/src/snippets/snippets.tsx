import { useQuery } from "@tanstack/react-query";
import { statusQuery } from "../status/status.ts";
import { SNIPPETS } from "./snippet-texts.ts";
import { TabbedLines } from "./tabbed-lines.tsx";

/** Where control was not told where ingest is. */
const UNKNOWN_INGEST = "https://ingest.example.com";

/** Lines to send from, in the languages of the clients. */
export function Snippets({ writeKey }: { readonly writeKey: string }) {
  const { data } = useQuery(statusQuery);
  const ingestUrl = (data?.ingestUrl ?? UNKNOWN_INGEST).replace(/\/$/, "");
  const languages = SNIPPETS.map(({ id, name, textOf }) => ({ id, name, text: textOf({ writeKey, ingestUrl }) }));
  return <TabbedLines languages={languages} />;
}
