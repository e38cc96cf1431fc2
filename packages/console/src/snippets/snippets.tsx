import { useQuery } from "@tanstack/react-query";
import { statusQuery } from "../status/status.ts";
import { SNIPPETS } from "./snippet-texts.ts";
import styles from "./snippets.module.css";
import { TabbedLines } from "./tabbed-lines.tsx";

/** Where control was not told where ingest is. */
const UNKNOWN_INGEST = "https://ingest.example.com";

/** Lines to send from, in the languages of the clients. */
export function Snippets({ writeKey }: { readonly writeKey: string }) {
  const { data } = useQuery(statusQuery);
  const ingestUrl = (data?.ingestUrl ?? UNKNOWN_INGEST).replace(/\/$/, "");
  // A token that may only read gets the beginning of it.
  const isCut = writeKey.endsWith("…");
  const input = { writeKey: isCut ? "WRITE_KEY" : writeKey, ingestUrl };
  const languages = SNIPPETS.map(({ id, name, textOf }) => ({ id, name, text: textOf(input) }));
  return (
    <>
      {isCut && (
        <p className={styles["note"]}>
          Your token may not see the write key: put the source's in the place of <code>WRITE_KEY</code>.
        </p>
      )}
      <TabbedLines languages={languages} />
    </>
  );
}
