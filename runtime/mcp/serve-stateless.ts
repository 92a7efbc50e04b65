import { readWhole } from "../http/buffer-body.ts";
import type { Exchange } from "../http/exchange.ts";
import { isPermitted, recordMethod } from "./aggregate/permission.ts";
import { refuseUnknownMethod, serveStatelessRequest } from "./aggregate/serve-stateless-request.ts";
import { passStateless } from "./passthrough/pass-stateless.ts";
import { readMessageBytes } from "./protocol/message.ts";
import { statelessMethods } from "./protocol/methods.ts";
import { respondRpcError } from "./protocol/rpc-response.ts";
import { hidesNothing, type McpAuthorization } from "./rules/authorization.ts";
import { McpMetrics } from "./rules/mcp-metrics.ts";
import { discoverOverHttp } from "./stateless/discovery.ts";
import { headerProblem, messageProblem } from "./stateless/request-check.ts";
import type { McpBackend } from "./transports/backend.ts";
import type { StreamableHttpTarget } from "./transports/target.ts";

/** Serves a POST of the revision without sessions (2026-07-28), or of one that is not served at all. */
export async function serveStateless(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
): Promise<void> {
  const wrongHeaders = headerProblem(exchange);
  const found = wrongHeaders === undefined ? passthroughOf(exchange, backend) : undefined;
  // A body is cheaper to read as it comes: nothing is waited for that is known.
  const only = found instanceof Promise ? await found : found;
  if (only !== undefined && !only.holdsBodies && hidesNothing(access)) {
    noteClaims(exchange);
    passStateless(exchange, backend, only, access, undefined);
    return;
  }
  const bytes = await readWhole(exchange, backend.limits.body);
  if (bytes === undefined) return;
  const message = readMessageBytes(bytes);
  if (message.kind === "problem") return respondRpcError(exchange, 400, "MCP", message);
  recordMethod(exchange, message.method);
  const problem = wrongHeaders ?? messageProblem(exchange, message);
  if (problem !== undefined) {
    const id = message.id === "" ? "null" : message.id;
    respondRpcError(exchange, 400, "MCP", { id, ...problem });
    return;
  }
  if (only === undefined && refuseUnknownMethod(exchange, backend, message)) return;
  if (!isPermitted(exchange, backend, access, statelessMethods, message)) return;
  if (only === undefined) serveStatelessRequest(exchange, backend, access, message);
  else passStateless(exchange, backend, only, access, { message, bytes });
}

/** The only target, when requests can be passed on to it; one that has sessions alone is asked in another way. */
function passthroughOf(
  exchange: Exchange,
  { passthrough: only, toSessions, limits }: McpBackend,
): StreamableHttpTarget | undefined | Promise<StreamableHttpTarget | undefined> {
  if (only === undefined || toSessions === undefined) return only;
  const { isStateless } = only.era;
  if (isStateless !== undefined) return isStateless ? only : undefined;
  const probe = () => discoverOverHttp(exchange, only, limits.message);
  return only.era.findStateless(probe).then((found) => (found === false ? undefined : only));
}

/** What the headers say of a message that is not read, for the log and for who counts. */
function noteClaims(exchange: Exchange): void {
  const claimed = exchange.header("mcp-method") ?? "";
  recordMethod(exchange, claimed);
  const isKnown = statelessMethods.requests.has(claimed);
  const method = isKnown ? claimed : "other";
  exchange.gateway.metrics.part(McpMetrics).handedOn(exchange, { method });
}
