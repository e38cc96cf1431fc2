/**
 * The door at which the product is the client: delivery reads a receiver's answers. A stream's bytes are the answers of
 * a hostile receiver, and its connections are how many events a second go there. The honest neighbour is an event for
 * another destination, from its call to its receiver.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ServiceName } from "@posthaste/local-stack/services";
import type { Installation } from "../e2e/installation.ts";
import { ANSWER_HEADS, PLAIN_ANSWER } from "./answers.ts";
import type { Door } from "./door.ts";
import { startPlayer } from "./player.ts";

interface Track {
  readonly writeKey: string;
  readonly messageId: string;
}

export async function deliveryDoor({ control, system }: Installation): Promise<Door> {
  const waiting = new Map<string, () => void>();
  const receiver = createServer((request, response) => {
    waiting.get(String(request.headers["x-message-id"]))?.();
    request.resume().on("end", () => response.end());
  });
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  receiver.unref();
  const stranger = await startPlayer();
  const connect = async (name: string, url: string) => {
    const source = await control.createSource(name);
    const made = { type: "Webhooks", name, sourceIds: [source.id], settings: { urls: [{ url }] } };
    const { id } = (await control.call("POST", "/v1/destinations", made)) as { readonly id: string };
    return { writeKey: source.writeKey, id };
  };
  const honest = await connect("neighbour", `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`);
  const hostile = await connect("stranger", `http://127.0.0.1:${stranger.port}/`);
  const track = async ({ writeKey, messageId }: Track): Promise<boolean> => {
    const answer = await fetch(`${system.ingestUrl}/v1/track`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`${writeKey}:`)}`, "content-type": "application/json" },
      body: JSON.stringify({ userId: messageId, event: "E", messageId }),
    });
    await answer.arrayBuffer();
    return answer.ok;
  };
  const pidOf = (name: ServiceName) => system.process(name).pid ?? 0;
  let events = 0;
  return {
    name: "delivery",
    pid: () => pidOf("delivery"),
    between: () => [pidOf("ingest"), pidOf("router")],
    play: async (stream) => {
      events += 1;
      // A change of the destination closes its breaker: each stream begins with a receiver of which nothing is known.
      const urls = [{ url: `http://127.0.0.1:${stranger.port}/${events}` }];
      await control.call("PATCH", `/v1/destinations/${hostile.id}`, { settings: { urls } });
      stranger.play({ heads: ANSWER_HEADS, stream });
      const sending = setInterval(() => {
        events += 1;
        void track({ writeKey: hostile.writeKey, messageId: `hostile-${events}` }).catch(() => false);
      }, 1000 / stream.connections);
      return {
        stop: async () => {
          clearInterval(sending);
          const played = await stranger.rest();
          stranger.play({ heads: ANSWER_HEADS, stream: PLAIN_ANSWER });
          return played;
        },
      };
    },
    honest: async () => {
      events += 1;
      const messageId = `honest-${events}`;
      const arrived = new Promise<void>((resolve) => waiting.set(messageId, resolve));
      const isTaken = await track({ writeKey: honest.writeKey, messageId });
      if (isTaken) await arrived;
      waiting.delete(messageId);
      return isTaken;
    },
    restart: async () => {
      await system.process("delivery").kill();
      await system.process("delivery").start();
    },
  };
}
