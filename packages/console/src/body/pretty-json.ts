/** JSON over several lines, as `JSON.stringify` has it with two spaces; its strings and numbers stand as they came. */

/** A part between white space: a string, one of the signs, or a number, true, false, null. */
const PART = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:]|[^\s"[\]{},:]+/g;

/**
 * Null where it is no JSON. It ends once it is longer than `most`: with deep nesting it may else be a hundred times as
 * long as the text.
 */
export function prettyJson(text: string, most = Number.POSITIVE_INFINITY): string | null {
  if (!isJson(text)) return null;
  let [pretty, depth, isOpened] = ["", 0, false];
  const newLine = (): string => `\n${"  ".repeat(depth)}`;
  for (const [part] of text.matchAll(PART)) {
    if (pretty.length > most) break;
    if (part === "}" || part === "]") {
      depth -= 1;
      pretty += isOpened ? part : `${newLine()}${part}`;
      isOpened = false;
    } else if (part === ",") {
      pretty += `,${newLine()}`;
    } else if (part === ":") {
      pretty += ": ";
    } else {
      pretty += isOpened ? `${newLine()}${part}` : part;
      isOpened = part === "{" || part === "[";
      if (isOpened) depth += 1;
    }
  }
  return pretty;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
