/** Codecs whose schema registry does not answer while a test wants so. */
import type { Codec, OpenCodec } from "@posthaste/contracts/codec";
import type { SchemaName } from "@posthaste/contracts/topics";
import { PosthasteError } from "@posthaste/core/errors";

export interface SilentRegistry {
  /** For a control of the test's own. */
  readonly openCodec: OpenCodec;
  /** From now on no reader of the schema's records goes on, until `answer`. */
  silence(): void;
  answer(): void;
  /** How often it was asked in vain since `silence`. */
  readonly asksInVain: number;
}

/** `silent`: the schema of which the registry tells nothing. */
export function silenceable(open: OpenCodec, silent: SchemaName): SilentRegistry {
  let isSilent = false;
  let asksInVain = 0;
  const refuse = (): Promise<void> => {
    asksInVain += 1;
    return Promise.reject(new PosthasteError("registry_unavailable", "no answer", { retryable: true }));
  };
  return {
    openCodec: async <T>(schema: SchemaName): Promise<Codec<T>> => {
      const codec = await open<T>(schema);
      const prefetch = (bytes: Buffer) => (isSilent ? refuse() : codec.prefetch(bytes));
      return schema === silent ? { ...codec, prefetch } : codec;
    },
    silence: () => {
      isSilent = true;
      asksInVain = 0;
    },
    answer: () => {
      isSilent = false;
    },
    get asksInVain() {
      return asksInVain;
    },
  };
}
