import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { beforeEach, expect, it } from "vitest";
import { Exchange } from "./exchange.ts";

let response: EventEmitter;
let exchange: Exchange;
let released: string[];
beforeEach(() => {
  response = new EventEmitter();
  exchange = new Exchange(response as ServerResponse);
  released = [];
});

it("XC1: releases everything once, when the response closes", () => {
  for (const what of ["body", "place"]) exchange.untilClose(() => released.push(what));
  expect([exchange.isOver, released]).toEqual([false, []]);
  response.emit("close");
  response.emit("close");
  expect([exchange.isOver, released]).toEqual([true, ["body", "place"]]);
});

it("XC2: releases at once what is begun after the response has closed", () => {
  response.emit("close");
  exchange.untilClose(() => released.push("body"));
  expect(released).toEqual(["body"]);
});

it("XC3: releases the body when it is let go, and everything else when the response closes", () => {
  exchange.letBodyGo();
  exchange.untilClose(() => released.push("place"));
  exchange.holdBody(() => released.push("body"));
  exchange.letBodyGo();
  expect(released).toEqual(["body"]);
  response.emit("close");
  expect(released).toEqual(["body", "place"]);
});

it.each(["before", "after"])(
  "XC1, XC2: releases a body that was not let go, of a response that closed %s it was held",
  (when) => {
    if (when === "before") response.emit("close");
    exchange.holdBody(() => released.push("body"));
    if (when === "after") response.emit("close");
    exchange.letBodyGo();
    expect(released).toEqual(["body"]);
  },
);
