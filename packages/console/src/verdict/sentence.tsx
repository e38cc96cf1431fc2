import { MomentText } from "../moment/moment-text.tsx";

/** As control writes one into a sentence; in an address or a text of a receiver's nothing is a moment. */
const MOMENT = /(?<=\s)(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)(?=[\s,;.)]|$)/;

export interface SentenceProps {
  readonly children: string;
}

/** Control's sentence, its moments told as all others are: in the reader's zone, with how far each is. */
export function Sentence({ children }: SentenceProps) {
  // The captured texts stand at the odd places.
  return children.split(MOMENT).map((part, at) => {
    if (at % 2 === 0) return part;
    // biome-ignore lint/suspicious/noArrayIndexKey: a part is told apart by its place alone
    return <MomentText key={at} at={part} isShort withDistance />;
  });
}
