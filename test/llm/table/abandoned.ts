import type { ServerResponse } from "node:http";
import type { Received } from "../../harness/scripted.ts";
import { script } from "./features.ts";
import { upstreamAt } from "./pairs.ts";
import { respond } from "./respond.ts";

/** Every provider's server, of which some prompts are never finished. */
export class EndlessUpstream {
  /** The prompts that the gateway has let go before they were. */
  readonly abandoned = new Set<string>();

  /** Begins the response to a prompt with `[endless NAME]`, and continues as long as the client listens. */
  readonly respond = (response: ServerResponse, count: number, request: Received): void => {
    const [prompt] = /\[endless [^\]]+\]/.exec(request.body.toString("utf8")) ?? [];
    if (prompt === undefined) {
      respond(response, count, request);
      return;
    }
    const server = upstreamAt(request.url);
    const said = { text: script.text, reasoning: "", calls: [] };
    response.writeHead(200, { "content-type": server.streamType });
    for (const event of server.events(said).slice(0, -server.endings)) response.write(event);
    response.on("close", () => this.abandoned.add(prompt));
  };
}
