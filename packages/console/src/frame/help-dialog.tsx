import { useState } from "react";
import { Button } from "../elements/button.tsx";
import { Checked } from "../elements/checked.tsx";
import { Dialog } from "../elements/dialog.tsx";
import { areLettersOn, switchLetters } from "../keys/keys.ts";
import styles from "./frame.module.css";
import { PLACES } from "./places.ts";

const KEYS: readonly (readonly [string, string])[] = [
  ["/", "Search: a message id, a name, a page, a command"],
  ["Ctrl k", "Search, from a field too"],
  ["?", "These keys"],
  ...PLACES.map(({ key, name }) => [`g ${key}`, `Go to ${name}`] as const),
  ["j k", "Next row, row before"],
  ["Enter", "Open the row"],
  ["r", "Send the row again, or the event"],
  ["c", "Copy the id of the row, or of the event"],
  ["f", "Filter the list"],
  ["l", "Pause what comes live, or go on"],
  ["Esc", "Close"],
];

/** Which keys there are, and the switch for those that are one letter. */
export function HelpDialog({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const [areOn, setOn] = useState(areLettersOn);
  return (
    <Dialog title="Keys" isOpen={isOpen} onClose={onClose} actions={<Button onPress={onClose}>Close</Button>}>
      <dl className={styles["keys"]}>
        {KEYS.map(([keys, does]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p>A message id that is pasted anywhere but into a field is looked for at once.</p>
      <Checked
        isSelected={areOn}
        onChange={(isOn) => {
          switchLetters(isOn);
          setOn(isOn);
        }}
      >
        Keys of a single character
      </Checked>
    </Dialog>
  );
}
