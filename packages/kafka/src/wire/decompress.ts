/**
 * Decompresses a fetched batch of records by each of Kafka's codecs: the `compression.type` of a topic or of a cluster
 * may make the broker compress records that their producer sent uncompressed.
 */
import { promisify } from "node:util";
import { gunzip, zstdDecompress } from "node:zlib";
import { PosthasteError } from "@posthaste/core/errors";
import { decompressLz4 } from "./lz4.ts";
import { decompressSnappy } from "./snappy.ts";

/** A broker takes 1 MB of compressed records by default, so a batch that grows beyond this is not this system's. */
const MAX_BYTES = 256 * 1024 * 1024;

const CODEC_MASK = 0x07;
const NONE = 0;

interface Codec {
  readonly name: string;
  readonly decompress: (bytes: Buffer) => Promise<Buffer>;
}

const unzip = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip);
const unzstd = promisify<Buffer, { maxOutputLength: number }, Buffer>(zstdDecompress);

/** The codecs by their number in a batch's attributes. */
const CODECS: Readonly<Record<number, Codec>> = {
  1: { name: "gzip", decompress: (bytes) => unzip(bytes, { maxOutputLength: MAX_BYTES }) },
  2: { name: "snappy", decompress: async (bytes) => decompressSnappy(bytes, MAX_BYTES) },
  3: { name: "lz4", decompress: async (bytes) => decompressLz4(bytes, MAX_BYTES) },
  4: { name: "zstd", decompress: (bytes) => unzstd(bytes, { maxOutputLength: MAX_BYTES }) },
};

/** The batch that holds the bytes, as far as it is needed here. */
interface CompressedBatch {
  readonly attributes: number;
  readonly firstOffset: string;
}

/**
 * Returns null, at no cost, for a batch that is not compressed. Rejects with `internal` for a codec that Kafka did not
 * have when this was written, and for bytes that are not the codec's; kafkajs does not fetch such a batch again.
 */
export function decompressRecords(bytes: Buffer, batch: CompressedBatch): Promise<Buffer> | null {
  const number = batch.attributes & CODEC_MASK;
  if (number === NONE) return null;
  const codec = CODECS[number];
  if (codec === undefined)
    return Promise.reject(unreadable(batch, `codec ${number}, which this version does not know`));
  return codec.decompress(bytes).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw unreadable(batch, `${codec.name} and cannot be read: ${reason}`);
  });
}

function unreadable({ firstOffset }: CompressedBatch, how: string): PosthasteError {
  const error = new PosthasteError("internal", `the batch at offset ${firstOffset} is compressed by ${how}`);
  // kafkajs reads this field; without it kafkajs would fetch the same batch for ever.
  return Object.assign(error, { retriable: false });
}
