import type { UpstreamSettings } from "../../http/upstream/upstream.ts";
import * as real from "../../mcp/transports/backend.ts";
import type { SseTarget, StreamableHttpTarget } from "../../mcp/transports/target.ts";

export {
  openMcpBackend,
  openServer,
  stdio,
  stdioInOwnEnvironment,
} from "../../mcp/transports/backend.ts";

/** Replaces mcp/transports/backend.ts: marks the server of a target as an MCP server. */
export function streamableHttp(settings: real.StreamableHttpSettings): StreamableHttpTarget {
  return real.streamableHttp({ ...settings, countedAs: `${MARK}${settings.name}` });
}

/** Returns the same for the older transport. */
export function sse(settings: real.HttpTargetSettings): SseTarget {
  return real.sse(settings);
}

/** Prefix of an MCP server's name, in the one setting that does not affect how it is called. */
const MARK = "mcp server ";

/** Returns the MCP server of an upstream; `undefined` for other servers. */
export function mcpServerOf({ countedAs = "" }: UpstreamSettings): string | undefined {
  return countedAs.startsWith(MARK) ? countedAs.slice(MARK.length) : undefined;
}
