/** Routes: a scan of the topics for a message id, whose steps are sent as they come. */
import { isoTime } from "@posthaste/http-kit/moment";
import { Problem } from "@posthaste/http-kit/problem";
import { defineRoute, type Route, StreamedAnswer } from "@posthaste/http-kit/route";
import type { ScanStep, TopicScan } from "@posthaste/pipeline/topic-scan";
import { pathlessId } from "./pathless-id.ts";

const SSE = "text/event-stream";

export interface ScanRoutesOptions {
  readonly scan: Pick<TopicScan, "begin">;
}

export function scanRoutes({ scan }: ScanRoutesOptions): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/events/{messageId}/scan",
      operation: "scanEvent",
      summary: "Everything that the topics hold under a message id, as they are read: for what no log knows",
      query: pathlessId,
      isLong: true,
      answer: {
        status: 200,
        description:
          "Server-sent events: find, a record's place, what it is and of whom; progress, how many records were looked at; " +
          "done, the last one.",
        streams: [SSE],
      },
      handle: ({ params, query: { messageId = params.messageId }, signal }) => {
        const steps = scan.begin(messageId, signal);
        if (steps === null) {
          throw new Problem("too_many_requests", "the topics are being scanned for another: one at a time", [], {
            "retry-after": "10",
          });
        }
        return new StreamedAnswer({ mediaType: SSE, fileName: null, chunks: textOf(steps) });
      },
    }),
  ];
}

async function* textOf(steps: AsyncIterable<ScanStep>): AsyncGenerator<Uint8Array> {
  for await (const each of steps) {
    const data = each.step === "find" ? viewFind(each.find) : each.progress;
    yield Buffer.from(`event: ${each.step}\ndata: ${JSON.stringify(data)}\n\n`);
  }
}

function viewFind({ atMs, ...find }: Extract<ScanStep, { readonly step: "find" }>["find"]) {
  return { time: isoTime(atMs), ...find };
}
