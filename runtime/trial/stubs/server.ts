import { isBodySource } from "../../http/body/body.ts";
import { ServerUpstream } from "../../http/upstream/node/server-upstream.ts";
import type {
  UpstreamCall,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamSettings,
} from "../../http/upstream/upstream.ts";
import type { Lookup } from "../../net/connector.ts";
import { responseTo } from "../trial-server.ts";
import { mcpServerOf } from "./mcp-targets.ts";

export { Http1ClientRequest } from "../../http/upstream/node/http1-upstream.ts";
export { http2Destination } from "../../http/upstream/node/http2-upstream.ts";

/** Replaces the upstreams of http/upstream/node: the trial responds immediately. */
class TrialUpstream extends ServerUpstream {
  override readonly takesTrailers = false;
  readonly #mcpServer: string | undefined;

  constructor(settings: UpstreamSettings, lookup: Lookup | undefined) {
    super(settings, lookup);
    this.#mcpServer = mcpServerOf(settings);
  }

  protected override sendRequest(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest {
    let isAborted = false;
    void bodyOf(call).then((body) => {
      if (isAborted) return;
      const { method, path, headers } = call;
      const sent = { server: this.origin, method, path, headers: [...headers], body };
      const response = responseTo(sent, this.#mcpServer);
      handler.onHead(response.status, Object.entries(response.headers).flat());
      if (response.body !== "") handler.onData(Buffer.from(response.body));
      handler.onEnd();
    });
    return {
      abort: () => {
        isAborted = true;
      },
      resume: () => {},
    };
  }

  protected override closePool(): boolean {
    return true;
  }
}

export {
  TrialUpstream as Http1Upstream,
  TrialUpstream as Http2Upstream,
  TrialUpstream as NegotiatedUpstream,
};

async function bodyOf({ body }: UpstreamCall): Promise<string> {
  if (body === null) return "";
  if (!isBodySource(body)) return Buffer.from(body).toString("utf8");
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    const done = () => resolve(Buffer.concat(pieces).toString("utf8"));
    body.flow({ onData: (piece) => pieces.push(piece), onEnd: done, onAbort: done });
  });
}
