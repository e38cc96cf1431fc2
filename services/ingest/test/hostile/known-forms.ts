/** Forms that were dear once, or are the dearest still, by name. */
import { type Form, PLAIN } from "./form.ts";

const BATCH: Form = { ...PLAIN, path: "/v1/batch" };
const half = 500_000;

export const KNOWN_FORMS: Readonly<Record<string, Form>> = {
  "an honest call": { ...PLAIN, encoding: "identity", fillings: [{ place: "properties", filler: "keys", bytes: 800 }] },
  "a tree of 11 MB in 600 bytes, key unknown, in the body": {
    ...PLAIN,
    keyAt: "body",
    key: "unknown",
    fillings: [{ place: "properties", filler: "objects", bytes: half }],
  },
  "the same, key in the header": {
    ...PLAIN,
    key: "unknown",
    fillings: [{ place: "properties", filler: "objects", bytes: half }],
  },
  "the same, key known": { ...PLAIN, fillings: [{ place: "properties", filler: "objects", bytes: half }] },
  "a tree of 11 MB as the calls of a batch": {
    ...BATCH,
    fillings: [{ place: "calls", filler: "objects", bytes: half }],
  },
  "a tree of 11 MB beside the calls of a batch": {
    ...BATCH,
    fillings: [{ place: "beside", filler: "objects", bytes: half }],
  },
  "a tree of 11 MB in fifteen calls": {
    ...BATCH,
    calls: 15,
    fillings: [{ place: "properties", filler: "objects", bytes: 32_000 }],
  },
  "half a megabyte of keys with escapes, key unknown": {
    ...PLAIN,
    keyAt: "body",
    key: "unknown",
    fillings: [{ place: "properties", filler: "keys with escapes", bytes: half }],
  },
  "half a megabyte of keys with escapes": {
    ...BATCH,
    fillings: [{ place: "beside", filler: "keys with escapes", bytes: half }],
  },
  "half a megabyte of keys with a backslash": {
    ...BATCH,
    fillings: [{ place: "beside", filler: "keys with a backslash", bytes: half }],
  },
  "one key with an escape in eighty thousand objects": {
    ...BATCH,
    fillings: [{ place: "beside", filler: "one key with an escape in many objects", bytes: half }],
  },
  "a context with 81,000 numbers and 2,500 calls": {
    ...BATCH,
    calls: 2_500,
    fillings: [{ place: "shared context", filler: "zeros", bytes: 162_000 }],
  },
  "a context of 32 KB and 2,500 calls": {
    ...BATCH,
    calls: 2_500,
    fillings: [{ place: "shared context", filler: "keys with an object", bytes: 32_000 }],
  },
  "the same with refused calls": {
    ...BATCH,
    calls: 1_500,
    fault: "too deep",
    fillings: [{ place: "shared context", filler: "keys with an object", bytes: 32_000 }],
  },
  "a context of thousands of keys, and one in each call": {
    ...BATCH,
    calls: 2_500,
    ownObjects: true,
    fillings: [{ place: "shared context", filler: "keys", bytes: 32_000 }],
  },
  "a call of half a megabyte of keys": { ...BATCH, fillings: [{ place: "properties", filler: "keys", bytes: half }] },
  "fifteen calls of keys": { ...BATCH, calls: 15, fillings: [{ place: "properties", filler: "keys", bytes: 32_000 }] },
  "fifteen calls of keys with escapes": {
    ...BATCH,
    calls: 15,
    fillings: [{ place: "properties", filler: "keys with escapes", bytes: 32_000 }],
  },
  "fifteen calls with thousands of integrations": {
    ...BATCH,
    calls: 15,
    fillings: [{ place: "integrations", filler: "keys", bytes: 32_000 }],
  },
  "calls that are too large, of letters and one of three bytes": {
    ...BATCH,
    encoding: "br",
    calls: 15,
    fillings: [{ place: "properties", filler: "letters and one of three bytes", bytes: 33_000 }],
  },
  "message ids of 4 KB of letters and one of three bytes": {
    ...BATCH,
    path: "/v1/import",
    encoding: "br",
    calls: 142,
    fillings: [{ place: "messageId", filler: "letters and one of three bytes", bytes: 4_000 }],
  },
  "the same of 16 KB in gzip": {
    ...BATCH,
    calls: 142,
    fillings: [{ place: "messageId", filler: "letters and one of three bytes", bytes: 16_000 }],
  },
  "half a megabyte of gzip that compresses badly, without a key": {
    ...PLAIN,
    keyAt: "nowhere",
    fillings: [{ place: "properties", filler: "strings of their own", bytes: half }],
  },
  "the same in brotli": {
    ...PLAIN,
    keyAt: "nowhere",
    encoding: "br",
    fillings: [{ place: "properties", filler: "strings of their own", bytes: half }],
  },
  "the same, not compressed": {
    ...PLAIN,
    keyAt: "nowhere",
    encoding: "identity",
    fillings: [{ place: "properties", filler: "strings of their own", bytes: half }],
  },
  "a pixel with 900 names, key unknown": {
    ...PLAIN,
    path: "/pixel/v1/track",
    keyAt: "query",
    key: "unknown",
    parameters: 900,
    names: "dotted",
  },
  "a pixel with 190 deep names": {
    ...PLAIN,
    path: "/pixel/v1/track",
    keyAt: "query",
    parameters: 190,
    names: "deep",
  },
  "a call of 17 KB of arrays in one another": {
    ...PLAIN,
    path: "/v1/identify",
    fillings: [{ place: "traits", filler: "arrays in one another", bytes: 17_000 }],
  },
  "a call of 27 KB of what is as deep as may be": {
    ...PLAIN,
    path: "/v1/identify",
    encoding: "deflate",
    ownObjects: true,
    fillings: [{ place: "event", filler: "as deep as may be", bytes: 26_855 }],
  },
  "half a megabyte of calls of arrays in one another": {
    ...BATCH,
    encoding: "identity",
    calls: 2_500,
    fillings: [{ place: "traits", filler: "arrays in one another", bytes: 8_500 }],
  },
  "the same for /v1/import, beside keys with escapes and many headers": {
    ...BATCH,
    path: "/v1/import",
    encoding: "identity",
    calls: 2_500,
    fillings: [
      { place: "timestamp", filler: "keys with escapes", bytes: 2_700 },
      { place: "context", filler: "integer keys far apart", bytes: 5_800 },
      { place: "event", filler: "arrays in one another", bytes: 9_400 },
    ],
    headers: 650,
    headerBytes: 14_000,
  },
  "half a megabyte of one number in a hundred bytes of brotli, in a call": {
    ...BATCH,
    encoding: "br",
    fillings: [{ place: "timestamp", filler: "one fraction", bytes: 510_000 }],
  },
  "the same beside the calls": {
    ...BATCH,
    encoding: "br",
    fillings: [{ place: "beside", filler: "one fraction", bytes: 510_000 }],
  },
  "long numbers in calls, beside one key with an escape in many objects": {
    ...BATCH,
    encoding: "br",
    calls: 1_700,
    fillings: [
      { place: "shared context", filler: "one key with an escape in many objects", bytes: 1_050 },
      { place: "messageId", filler: "one fraction", bytes: 7_200 },
    ],
  },
  "277 calls refused for their ids, of integer keys far apart and keys named __proto__": {
    ...BATCH,
    keyAt: "query",
    calls: 277,
    ownObjects: true,
    names: "dotted",
    fillings: [
      { place: "userId", filler: "keys named __proto__", bytes: 80 },
      { place: "messageId", filler: "integer keys far apart", bytes: 126 },
    ],
  },
  "277 calls of long fractions and keys with a backslash, in a kilobyte": {
    ...BATCH,
    path: "/v1/import",
    keyAt: "query",
    key: "written with escapes",
    calls: 277,
    ownObjects: true,
    fillings: [
      { place: "properties", filler: "one fraction", bytes: 770 },
      { place: "rest", filler: "one key with a backslash in many objects", bytes: 62 },
      { place: "context", filler: "objects of one key", bytes: 8 },
    ],
  },
  "97 such calls, in half a kilobyte": {
    ...BATCH,
    calls: 97,
    headers: 12,
    fillings: [
      { place: "properties", filler: "one fraction", bytes: 770 },
      { place: "rest", filler: "one key with a backslash in many objects", bytes: 62 },
      { place: "context", filler: "objects of one key", bytes: 8 },
    ],
  },
  "277 such calls beside integrations": {
    ...BATCH,
    keyAt: "query",
    calls: 277,
    ownObjects: true,
    fillings: [
      { place: "properties", filler: "one fraction", bytes: 770 },
      { place: "rest", filler: "one key with a backslash in many objects", bytes: 62 },
      { place: "shared integrations", filler: "keys with an object", bytes: 4 },
    ],
  },
  "277 calls of objects in objects and integer keys far apart, in 600 bytes": {
    ...BATCH,
    keyAt: "query",
    calls: 277,
    ownObjects: true,
    headers: 117,
    fillings: [
      { place: "rest", filler: "objects in objects", bytes: 80 },
      { place: "rest", filler: "integer keys far apart", bytes: 126 },
    ],
  },
  "a context of 123 KB of keys named writeKey, in 440 bytes": {
    ...BATCH,
    keyAt: "query",
    calls: 2,
    ownObjects: true,
    fillings: [{ place: "shared context", filler: "keys named writeKey", bytes: 123_000 }],
  },
  "fifteen calls of 32 KB of letters and one of three bytes, in 600 bytes": {
    ...BATCH,
    calls: 97,
    headers: 12,
    fillings: [{ place: "rest", filler: "letters and one of three bytes", bytes: 32_000 }],
  },
  "eleven thousand calls": { ...BATCH, calls: 20_000 },
  "half a megabyte of calls whose integrations are keys with a backslash, not compressed": {
    ...BATCH,
    encoding: "identity",
    calls: 4_830,
    fillings: [
      { place: "shared integrations", filler: "keys named toJSON", bytes: 145 },
      { place: "integrations", filler: "keys with a backslash", bytes: 5_452 },
    ],
  },
  "26 calls of 19 KB of brackets in a text, in 700 bytes": {
    ...BATCH,
    keyAt: "body",
    calls: 97,
    headers: 17,
    fillings: [{ place: "rest", filler: "brackets", bytes: 18_824 }],
  },
  "277 calls with a long number that share ten integrations and have one of their own, in 850 bytes": {
    ...BATCH,
    path: "/v1/import",
    keyAt: "body",
    key: "written with escapes",
    calls: 277,
    fillings: [
      { place: "properties", filler: "one fraction", bytes: 385 },
      { place: "shared integrations", filler: "integer keys far apart", bytes: 124 },
      { place: "integrations", filler: "objects in objects", bytes: 4 },
    ],
  },
  "three hundred calls of letters and one of three bytes, in 1.2 KB": {
    ...BATCH,
    calls: 1_862,
    fillings: [{ place: "traits", filler: "letters and one of three bytes", bytes: 1_693 }],
  },
  "2,500 calls of no type": { ...BATCH, calls: 2_500, fault: "no type" },
};
