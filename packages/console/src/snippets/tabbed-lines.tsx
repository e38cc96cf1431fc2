import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { CopyButton } from "../elements/copied.tsx";
import type { LinesIn } from "./snippet-texts.ts";
import styles from "./snippets.module.css";

/** The same in several languages, one at a time; copied as it stands. */
export function TabbedLines({ languages }: { readonly languages: readonly LinesIn[] }) {
  return (
    <Tabs className={styles["snippets"] ?? ""}>
      <TabList aria-label="Language" className={styles["tabs"] ?? ""}>
        {languages.map(({ id, name }) => (
          <Tab key={id} id={id} className={styles["tab"] ?? ""}>
            {name}
          </Tab>
        ))}
      </TabList>
      {languages.map(({ id, name, text }) => (
        <TabPanel key={id} id={id} className={styles["panel"] ?? ""}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable text is reached by the keyboard */}
          <pre tabIndex={0}>{text}</pre>
          <CopyButton what={`lines for ${name}`} text={text} />
        </TabPanel>
      ))}
    </Tabs>
  );
}
