import type { UpstreamSettings } from "../../http/upstream/upstream.ts";
import * as real from "../../mcp/transports/backend.ts";
import type { SseTarget, StreamableHttpTarget } from "../../mcp/transports/target.ts";

export {
  openMcpBackend,
  openServer,
  stdio,
  stdioInOwnEnvironment,
} from "../../mcp/transports/backend.ts";

/** In the place of mcp/transports/backend.ts: the server of a target is known as one that speaks MCP. */
export function streamableHttp(settings: real.StreamableHttpSettings): StreamableHttpTarget {
  return real.streamableHttp({ ...settings, countedAs: `${MARK}${settings.name}` });
}

/** The same over the older transport. */
export function sse(settings: real.HttpTargetSettings): SseTarget {
  return real.sse(settings);
}

/** What stands before the name of an MCP server, in the one setting that says nothing of how it is asked. */
const MARK = "mcp server ";

/** The MCP server that an upstream is; undefined: it is none. */
export function mcpServerOf({ countedAs = "" }: UpstreamSettings): string | undefined {
  return countedAs.startsWith(MARK) ? countedAs.slice(MARK.length) : undefined;
}
