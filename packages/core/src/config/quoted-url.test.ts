import { expect, it } from "vitest";
import { quotedUrl } from "./quoted-url.ts";

it.each([
  "https://a.example/path@with:at?mail=a@b.example",
  "https://a.example:8443",
  "http://[::1]:9/@",
  "a.example/hook",
  "",
])("shows %j as it is", (url) => {
  expect(quotedUrl(url)).toBe(url);
});

it.each([
  ["https://user:hunter2@a.example/", "https://***@a.example/"],
  ["HTTP://user@a.example/", "HTTP://***@a.example/"],
  ["http:\\user:hunter2@a", "http:\\***@a"],
  ["https://user:hun/ter2@a.example/", "https://***@a.example/"],
  ["https://user:99999/hunter2@a.example/", "https://***@a.example/"],
  ["https://user:hun?ter2@a.example/", "https://***@a.example/"],
  ["https://user:hun#ter2@a.example/", "https://***@a.example/"],
  ["https://user:hun@ter2@a.example/", "https://***@a.example/"],
  ["https://us er:hunter2@a.example/", "https://***@a.example/"],
  ["ftp://user:hunter2@a.example/", "***@a.example/"],
  ["s3+http://user:hunter2@a.example/", "***@a.example/"],
  [" https://user:hunter2@a.example/", "***@a.example/"],
  ["//user:hunter2@a.example/", "***@a.example/"],
  ["user:hunter2@a.example", "***@a.example"],
])("shows %j as %s", (url, shown) => {
  expect(quotedUrl(url)).toBe(shown);
});
