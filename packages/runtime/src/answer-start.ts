/** Reads as much of an answer as is looked at, whatever its server sends. */

/** The answer's text up to the piece with which it has more than `maxLength` characters; the rest is not read. */
export async function readStart({ body }: Response, maxLength: number): Promise<string> {
  if (body === null) return "";
  let text = "";
  // Leaving the loop cancels the rest of the body.
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.length > maxLength) break;
  }
  return text;
}
