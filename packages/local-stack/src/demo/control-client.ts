/** The few calls of the control API that the demonstration makes, with plain fetch, as anybody's program makes them. */

export interface CreatedSource {
  readonly id: string;
  readonly writeKey: string;
}

export interface ControlClient {
  /** The answer's JSON. Throws with control's own words on any status but 2xx. */
  readonly call: (method: string, path: string, body?: unknown) => Promise<unknown>;
  /** Signs one browser in, once. */
  readonly createSignInLink: () => Promise<string>;
  readonly createSource: (name: string) => Promise<CreatedSource>;
  /** Makes a destination that signs with `sharedSecret`; returns its id. */
  readonly createDestination: (options: {
    readonly name: string;
    readonly sourceIds: readonly string[];
    readonly urls: readonly string[];
    readonly sharedSecret: string;
  }) => Promise<string>;
}

export function createControlClient(baseUrl: string, adminToken: string): ControlClient {
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${adminToken}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  };
  return {
    call,
    createSignInLink: async () => ((await call("POST", "/v1/session/link")) as { link: string }).link,
    createSource: async (name) => (await call("POST", "/v1/sources", { name, kind: "server" })) as CreatedSource,
    createDestination: async ({ name, sourceIds, urls, sharedSecret }) => {
      const settings = { sharedSecret, urls: urls.map((url) => ({ url })) };
      const body = { type: "Webhooks", name, sourceIds, enabled: true, settings };
      return ((await call("POST", "/v1/destinations", body)) as { id: string }).id;
    },
  };
}
