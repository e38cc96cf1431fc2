import { staticHeaderProblem } from "@posthaste/core/config/static-headers";
import { Trash2 } from "lucide-react";
import { Button } from "../elements/button.tsx";
import { Field } from "../elements/field.tsx";
import type { DraftUrl } from "./destination-draft.ts";
import styles from "./destination-form.module.css";

type Headers = DraftUrl["headers"];

export interface HeaderFieldsProps {
  readonly headers: Headers;
  readonly onChange: (headers: Headers) => void;
  readonly onTakenAway: () => void;
}

/** The headers that go with each request to a URL. */
export function HeaderFields({ headers, onChange, onTakenAway }: HeaderFieldsProps) {
  return headers.map(([name, value], place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a header that is being typed is told apart by its place
    <div key={place} className={styles["header"]}>
      <Field
        label={`Header ${place + 1}`}
        mono
        value={name}
        error={faultAt(headers, place)}
        onChange={(typed) => onChange(headers.with(place, [typed, value]))}
      />
      <Field label="Value" mono value={value} onChange={(typed) => onChange(headers.with(place, [name, typed]))} />
      <Button
        aria-label={`Take away header ${place + 1}`}
        onPress={() => {
          onChange(headers.toSpliced(place, 1));
          onTakenAway();
        }}
      >
        <Trash2 size={16} aria-hidden />
      </Button>
    </div>
  ));
}

/** Why the header at a place can not be sent, while it is typed; null where it can, or where nothing stands yet. */
function faultAt(headers: Headers, place: number): string | null {
  const [name, value] = headers[place] ?? ["", ""];
  if (name === "") return null;
  const isKnown = headers.slice(0, place).some(([other]) => other.toLowerCase() === name.toLowerCase());
  const problem = isKnown ? "is given twice" : staticHeaderProblem(name, value);
  return problem === null ? null : `${name} ${problem}`;
}
