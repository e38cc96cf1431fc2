import { useQuery } from "@tanstack/react-query";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { CopyButton } from "../elements/copied.tsx";
import { statusQuery } from "../status/status.ts";
import { SNIPPETS } from "./snippet-texts.ts";
import styles from "./snippets.module.css";

/** Where control was not told where ingest is. */
const UNKNOWN_INGEST = "https://ingest.example.com";

/** Lines to send from, in the languages of the clients; copied as they stand. */
export function Snippets({ writeKey }: { readonly writeKey: string }) {
  const { data } = useQuery(statusQuery);
  const ingestUrl = (data?.ingestUrl ?? UNKNOWN_INGEST).replace(/\/$/, "");
  return (
    <Tabs className={styles["snippets"] ?? ""}>
      <TabList aria-label="Language" className={styles["tabs"] ?? ""}>
        {SNIPPETS.map(({ id, name }) => (
          <Tab key={id} id={id} className={styles["tab"] ?? ""}>
            {name}
          </Tab>
        ))}
      </TabList>
      {SNIPPETS.map(({ id, name, textOf }) => {
        const text = textOf({ writeKey, ingestUrl });
        return (
          <TabPanel key={id} id={id} className={styles["panel"] ?? ""}>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled is reached by the keyboard */}
            <pre tabIndex={0}>{text}</pre>
            <CopyButton what={`lines for ${name}`} text={text} />
          </TabPanel>
        );
      })}
    </Tabs>
  );
}
