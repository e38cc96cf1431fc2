/** Pictures in few bytes: a page has few colours, and a PNG that lists them is a third of one that does not. */
import { crc32, deflateSync } from "node:zlib";
import type { PNG } from "pngjs";

const MOST_COLOURS = 256;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** A PNG of at most 256 colours: where the picture has more, the rarest become the nearest of the others. */
export function encodeFewColours({ width, height, data }: Pick<PNG, "width" | "height" | "data">): Buffer {
  const counts = new Map<number, number>();
  const colourAt = (pixel: number): number => data.readUIntBE(pixel * 4, 3);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    counts.set(colourAt(pixel), (counts.get(colourAt(pixel)) ?? 0) + 1);
  }
  const byCount = [...counts].sort(([a, aCount], [b, bCount]) => bCount - aCount || a - b).map(([colour]) => colour);
  const palette = byCount.slice(0, MOST_COLOURS);
  const indexes = new Map(byCount.map((colour) => [colour, nearest(palette, colour)]));
  // Each line begins with the number of its filter, here none: deflate finds the repeats.
  const lines = Buffer.alloc((width + 1) * height);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    lines[pixel + Math.floor(pixel / width) + 1] = indexes.get(colourAt(pixel)) ?? 0;
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits a pixel, each the index of a colour.
  head.set([8, 3], 8);
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", head),
    chunk("PLTE", colours),
    chunk("IDAT", deflateSync(lines, { level: 9, memLevel: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function nearest(palette: readonly number[], colour: number): number {
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  for (const [index, other] of palette.entries()) {
    const far = [16, 8, 0].reduce((sum, shift) => sum + (((colour >> shift) & 255) - ((other >> shift) & 255)) ** 2, 0);
    if (far < least) [best, least] = [index, far];
    if (far === 0) break;
  }
  return best;
}

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
