/** A long text in blocks of lines, so that a browser lays out those alone that are seen. */

/** The box that a body is read in shows twenty lines: the first block fills it. */
const BLOCK_LINES = 100;

/** The blocks together are the text; each but the last ends with a line's end. */
export function lineBlocks(text: string): readonly string[] {
  const blocks: string[] = [];
  let [begin, lines] = [0, 0];
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", end + 1)) {
    lines += 1;
    if (lines % BLOCK_LINES !== 0) continue;
    blocks.push(text.slice(begin, end + 1));
    begin = end + 1;
  }
  if (begin < text.length || blocks.length === 0) blocks.push(text.slice(begin));
  return blocks;
}
