import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { SILENT_LOG } from "@posthaste/core/log";
import { afterEach, beforeEach, expect, it } from "vitest";
import { connectKafka, type KafkaConnection } from "../connection/connect.ts";
import { readRecord } from "./read-record.ts";

/** A broker that takes connections and never answers. */
let silent: Server;
const sockets: Socket[] = [];

beforeEach(async () => {
  silent = createServer((socket) => sockets.push(socket)).listen(0, "127.0.0.1");
  await once(silent, "listening");
});

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  silent.close();
});

it("a record is given up in time where no broker answers, and not asked for any more", async () => {
  const address = silent.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const connection = connectKafka({ brokers: [`127.0.0.1:${port}`], clientId: "test", log: SILENT_LOG });
  let clients = 0;
  const counted: KafkaConnection = Object.create(connection, {
    createClient: {
      value: (...options: Parameters<KafkaConnection["createClient"]>) => {
        clients += 1;
        return connection.createClient(...options);
      },
    },
  });
  const reading = readRecord(counted, { topic: "posthaste.any", partition: 0, offset: 3 }, 300);
  await expect(reading).rejects.toMatchObject({ code: "deadline_exceeded" });
  expect(clients).toBe(1);
  // A client that fails is followed by another within half a second.
  for (const socket of sockets) socket.destroy();
  await delay(1500);
  expect(clients).toBe(1);
  await connection.close();
});
