/** The input of a source's own program, with its write key. */

export interface SnippetInput {
  readonly writeKey: string;
  /** Of ingest, without a slash at its end. */
  readonly ingestUrl: string;
}

export interface LinesIn {
  readonly id: string;
  /** Of the language. */
  readonly name: string;
  readonly text: string;
}

export interface Snippet {
  readonly id: string;
  readonly name: string;
  readonly textOf: (input: SnippetInput) => string;
}

export const SNIPPETS: readonly Snippet[] = [
  {
    id: "curl",
    name: "curl",
    textOf: ({ writeKey, ingestUrl }) => `curl -u '${writeKey}:' ${ingestUrl}/v1/track \\
  -H 'Content-Type: application/json' \\
  -d '{"userId": "user-1", "event": "Order Completed", "properties": {"revenue": 39.95}}'`,
  },
  {
    id: "typescript",
    name: "TypeScript",
    textOf: ({ writeKey, ingestUrl }) => `import { Analytics } from "@posthaste/client";

const analytics = new Analytics({ writeKey: "${writeKey}", endpoint: "${ingestUrl}" });
analytics.track({ userId: "user-1", event: "Order Completed", properties: { revenue: 39.95 } });
await analytics.close();`,
  },
  {
    id: "go",
    name: "Go",
    textOf: ({ writeKey, ingestUrl }) => `client := analytics.New("${writeKey}")
client.Endpoint = "${ingestUrl}"
defer client.Close()

err := client.Track(&analytics.Track{
	UserId:     "user-1",
	Event:      "Order Completed",
	Properties: map[string]any{"revenue": 39.95},
})`,
  },
];
