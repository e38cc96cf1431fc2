/**
 * A set of up to ten million texts that holds only 128 bits of each text's digest, that is, 16 bytes in an array of
 * numbers. Two texts with the same 128 bits would count as one; among ten million texts the odds are one in 10^24.
 *
 * Owns: the shards, each a hash table of its own, so that growing one takes a few milliseconds at the most.
 * DS1  A text is in the set from `add` until `delete`, and no other text is.
 * DS2  A shard is never more than three quarters full, so that a search ends after a few slots, which lie side by side.
 * DS3  A removal closes the gap that it leaves: no search passes marks of removed digests, however many come and go.
 * DS4  An empty set answers without making a digest, the costly part of a look-up.
 */

/**
 * The digest of a text, as text with one byte in each character, of which the first 16 stand for the whole. SHA-256 in
 * Node's `binary` encoding has this form. An attacker who chooses texts must not be able to find two of one digest.
 */
export type DigestOf = (text: string) => string;

/** A shard for each value of a digest's first byte. */
const SHARDS = 256;
/** The 32-bit words of 128 bits. */
const WORDS = 4;
const FIRST_SLOTS = 8;
const MAX_FILL = 0.75;
/** How many characters of a digest the set holds. */
export const DIGEST_LENGTH = 16;

export class DigestSet {
  readonly #digestOf: DigestOf;
  readonly #shards: (Shard | undefined)[] = new Array(SHARDS);
  #size = 0;

  constructor(digestOf: DigestOf) {
    this.#digestOf = digestOf;
  }

  get size(): number {
    return this.#size;
  }

  /** How many bytes the arrays take. */
  get bytes(): number {
    return this.#shards.reduce((sum, shard) => sum + (shard?.bytes ?? 0), 0);
  }

  has(text: string): boolean {
    return this.#size > 0 && this.hasDigest(this.#digestOf(text));
  }

  /** Whether the set has the text with this digest. */
  hasDigest(digest: string): boolean {
    return this.#shards[digest.charCodeAt(0)]?.has(digest) ?? false;
  }

  /** Adds the text; false when it was there. */
  add(text: string): boolean {
    const digest = this.#digestOf(text);
    const index = digest.charCodeAt(0);
    const shard = this.#shards[index] ?? new Shard();
    this.#shards[index] = shard;
    if (!shard.add(digest)) return false;
    this.#size += 1;
    return true;
  }

  /** Removes the text; false when it was not there. */
  delete(text: string): boolean {
    const digest = this.#digestOf(text);
    if (!this.#shards[digest.charCodeAt(0)]?.delete(digest)) return false;
    this.#size -= 1;
    return true;
  }
}

/**
 * A hash table with linear probing and four words a slot. A slot of four zeros is empty; a digest of zeros is held as
 * 1.
 */
class Shard {
  #words = new Uint32Array(FIRST_SLOTS * WORDS);
  #size = 0;

  get bytes(): number {
    return this.#words.byteLength;
  }

  has(digest: string): boolean {
    return !this.#isEmpty(this.#slotOf(digest));
  }

  add(digest: string): boolean {
    if (!this.#isEmpty(this.#slotOf(digest))) return false;
    if ((this.#size + 1) * WORDS > this.#words.length * MAX_FILL) this.#grow();
    const slot = this.#slotOf(digest);
    for (let word = 0; word < WORDS; word++) this.#words[slot * WORDS + word] = wordOf(digest, word);
    this.#size += 1;
    return true;
  }

  delete(digest: string): boolean {
    const slot = this.#slotOf(digest);
    if (this.#isEmpty(slot)) return false;
    this.#closeGap(slot);
    this.#size -= 1;
    return true;
  }

  /** The slot of the digest, or the empty slot where it would go. */
  #slotOf(digest: string): number {
    const first = wordOf(digest, 0);
    const second = wordOf(digest, 1);
    const third = wordOf(digest, 2);
    const fourth = wordOf(digest, 3);
    const words = this.#words;
    const mask = words.length / WORDS - 1;
    let slot = second & mask;
    while (!this.#isEmpty(slot)) {
      const at = slot * WORDS;
      const isIt =
        words[at] === first && words[at + 1] === second && words[at + 2] === third && words[at + 3] === fourth;
      if (isIt) return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #isEmpty(slot: number): boolean {
    const words = this.#words;
    const at = slot * WORDS;
    return words[at] === 0 && words[at + 1] === 0 && words[at + 2] === 0 && words[at + 3] === 0;
  }

  /** DS3: moves digests from behind the gap into it, but none to before the slot where its search begins. */
  #closeGap(from: number): void {
    const words = this.#words;
    const mask = words.length / WORDS - 1;
    let gap = from;
    for (let slot = (gap + 1) & mask; !this.#isEmpty(slot); slot = (slot + 1) & mask) {
      const home = (words[slot * WORDS + 1] ?? 0) & mask;
      if (((slot - home) & mask) < ((slot - gap) & mask)) continue;
      words.copyWithin(gap * WORDS, slot * WORDS, (slot + 1) * WORDS);
      gap = slot;
    }
    words.fill(0, gap * WORDS, (gap + 1) * WORDS);
  }

  #grow(): void {
    const old = this.#words;
    this.#words = new Uint32Array(old.length * 2);
    const mask = this.#words.length / WORDS - 1;
    for (let at = 0; at < old.length; at += WORDS) {
      const words = old.subarray(at, at + WORDS);
      if (words.every((word) => word === 0)) continue;
      let slot = (words[1] ?? 0) & mask;
      while (!this.#isEmpty(slot)) slot = (slot + 1) & mask;
      this.#words.set(words, slot * WORDS);
    }
  }
}

/** A word of the digest. The last is never 0, so that no digest looks like an empty slot. */
function wordOf(digest: string, word: number): number {
  const at = word * 4;
  const value =
    ((digest.charCodeAt(at) << 24) |
      (digest.charCodeAt(at + 1) << 16) |
      (digest.charCodeAt(at + 2) << 8) |
      digest.charCodeAt(at + 3)) >>>
    0;
  return word === WORDS - 1 && value === 0 ? 1 : value;
}
