/** URLs that no webhook comes through to, each with the console's message about it. */
import { findFreePorts } from "@posthaste/local-stack/ports";
import { selfSigned } from "@posthaste/testkit/certificates";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";

export interface BadUrls {
  readonly cases: readonly (readonly [url: string, says: RegExp])[];
  readonly close: () => Promise<void>;
}

/** Those that answer do so at `receiver`. */
export async function startBadUrls(receiver: Receiver): Promise<BadUrls> {
  const [unused = 0] = await findFreePorts(1);
  const tls = selfSigned({ commonName: "127.0.0.1", names: ["127.0.0.1"] });
  const distrusted = await startReceiver({ tls });
  receiver.script("/unauthorized", { status: 401 });
  receiver.script("/missing", { status: 404 });
  receiver.script("/moved", { status: 302, headers: { location: `${receiver.url}/elsewhere` } });
  return {
    cases: [
      ["ftp://shop.example/hook", /https?:/],
      ["http://10.1.2.3/hook", /in a network that webhooks may not reach.*POSTHASTE_ALLOW_NETWORKS/],
      [`${distrusted.url}/hook`, /The certificate is not trusted.*Mend it there/],
      [`http://127.0.0.1:${unused}/hook`, /Nothing listens there.*is the port right/],
      ["http://posthaste.invalid/hook", /The host has no address.*typed right/],
      [`${receiver.url}/unauthorized`, /asks who sends.*header/],
      [`${receiver.url}/missing`, /nothing at this path.*URL whole/],
      [`${receiver.url}/moved`, /Redirects are not followed: give the URL/],
    ],
    close: () => distrusted.close(),
  };
}
