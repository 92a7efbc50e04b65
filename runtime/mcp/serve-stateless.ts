import { readWhole } from "../http/buffer-body.ts";
import type { Exchange } from "../http/exchange.ts";
import { isPermitted, recordMethod } from "./aggregate/permission.ts";
import { serveStatelessRequest } from "./aggregate/serve-stateless-request.ts";
import { passStateless } from "./passthrough/pass-stateless.ts";
import { readMessageBytes } from "./protocol/message.ts";
import { statelessMethods } from "./protocol/methods.ts";
import { respondRpcError } from "./protocol/rpc-response.ts";
import { isOpen, type McpAuthorization } from "./rules/authorization.ts";
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
  const only = wrongHeaders === undefined ? await passthroughOf(exchange, backend) : undefined;
  if (only !== undefined && !only.holdsBodies && isOpen(access)) {
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
  if (!isPermitted(exchange, backend, access, statelessMethods, message)) return;
  if (only === undefined) serveStatelessRequest(exchange, backend, access, message);
  else passStateless(exchange, backend, only, access, { message, bytes });
}

/** The only target, when requests can be passed on to it; one that has sessions alone is asked in another way. */
async function passthroughOf(
  exchange: Exchange,
  backend: McpBackend,
): Promise<StreamableHttpTarget | undefined> {
  const { passthrough: only, toSessions, limits } = backend;
  if (only === undefined || toSessions === undefined || only.era.isStateless === true) return only;
  const probe = () => discoverOverHttp(exchange, only, limits.message);
  return (await only.era.findStateless(probe)) === false ? undefined : only;
}

/** What the headers say of a message that is not read, for the log and for who counts. */
function noteClaims(exchange: Exchange): void {
  const claimed = exchange.header("mcp-method") ?? "";
  recordMethod(exchange, claimed);
  const isKnown = statelessMethods.requests.has(claimed);
  const method = isKnown ? claimed : "other";
  exchange.gateway.metrics.part(McpMetrics).handedOn(exchange, { method });
}
