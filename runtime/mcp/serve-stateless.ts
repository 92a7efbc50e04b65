import { readWhole } from "../http/buffer-body.ts";
import type { Exchange, Handled } from "../http/exchange.ts";
import { type MaybePromise, thenMaybe } from "../process/maybe-promise.ts";
import { permittedMessage, recordMethod } from "./aggregate/permission.ts";
import { refuseUnknownMethod, serveStatelessRequest } from "./aggregate/serve-stateless-request.ts";
import { type Message, type MessageProblem, readMessageBytes } from "./protocol/message.ts";
import { statelessMethods } from "./protocol/methods.ts";
import { type RpcError, respondRpcError, responseId } from "./protocol/rpc-response.ts";
import type { TargetFailure } from "./protocol/target-failure.ts";
import { hidesNothing, type McpAuthorization } from "./rules/authorization.ts";
import { mcpMetrics } from "./rules/mcp-metrics.ts";
import { respondFailure } from "./session/failure-response.ts";
import { discoverOverHttp } from "./stateless/discovery.ts";
import { headerProblem, messageProblem } from "./stateless/request-check.ts";
import type { McpBackend, Passthrough } from "./transports/backend.ts";

/** Serves a POST of the revision without sessions (2026-07-28), or of an unsupported revision. */
export function serveStateless(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
): Handled {
  const wrongHeaders = headerProblem(exchange);
  const found = wrongHeaders === undefined ? passthroughOf(exchange, backend) : undefined;
  return thenMaybe(found, (way) => {
    const unreachable = way !== undefined && "detail" in way ? way : undefined;
    const only = way !== undefined && "detail" in way ? undefined : way;
    if (only !== undefined && !only.target.holdsBodies && hidesNothing(access)) {
      noteClaims(exchange);
      return thenMaybe(backend.sentTrace?.look(exchange, backend.limits.body), (read) => {
        if (!exchange.headersSent && !exchange.isOver)
          only.bridge.passStateless(exchange, backend, only.target, access, read);
      });
    }
    return thenMaybe(readWhole(exchange, backend.limits.body), (bytes) => {
      if (bytes !== undefined) {
        serveMessage(
          { exchange, backend, access, only, wrongHeaders, unreachable },
          readMessageBytes(bytes),
          bytes,
        );
      }
    });
  });
}

/** A request whose head has been read. */
interface StatelessPost {
  readonly exchange: Exchange;
  readonly backend: McpBackend;
  readonly access: McpAuthorization;
  /** The target that the request can be forwarded to unchanged; `undefined` if targets are called in another way. */
  readonly only: Passthrough | undefined;
  readonly wrongHeaders: RpcError | undefined;
  /** The failure of the probe of the only target's era. */
  readonly unreachable: TargetFailure | undefined;
}

function serveMessage(
  { exchange, backend, access, only, wrongHeaders, unreachable }: StatelessPost,
  sent: Message | MessageProblem,
  bytes: Buffer,
): void {
  if (sent.kind === "problem") {
    respondRpcError(exchange, 400, "MCP", sent);
    return;
  }
  recordMethod(exchange, sent.method);
  backend.sentTrace?.note(exchange, sent);
  const problem = wrongHeaders ?? messageProblem(exchange, sent);
  if (problem !== undefined) {
    respondRpcError(exchange, 400, "MCP", { id: responseId(sent), ...problem });
    return;
  }
  if (unreachable !== undefined) {
    respondFailure(exchange, responseId(sent), unreachable);
    return;
  }
  if (only === undefined && refuseUnknownMethod(exchange, backend, sent)) return;
  const message = permittedMessage(exchange, backend, access, statelessMethods, sent);
  if (message === undefined) return;
  if (only === undefined) serveStatelessRequest(exchange, backend, access, message);
  else only.bridge.passStateless(exchange, backend, only.target, access, { message, bytes });
}

/**
 * Returns the only target if requests can be forwarded to it; `undefined` if it is called in another way, for example in
 * sessions. A failure if the probe of its era got no response.
 */
function passthroughOf(
  exchange: Exchange,
  { passthrough: only, toSessions, limits }: McpBackend,
): MaybePromise<Passthrough | TargetFailure | undefined> {
  if (only === undefined || toSessions === undefined) return only;
  const { target } = only;
  const { isStateless } = target.era;
  if (isStateless !== undefined) return isStateless ? only : undefined;
  const probe = () => discoverOverHttp(exchange, target, limits.message);
  return target.era.findStateless(probe).then((verdict) => {
    if (typeof verdict === "object") return verdict;
    return verdict === false ? undefined : only;
  });
}

/** Logs and counts a message that is not read by the headers that describe it. */
function noteClaims(exchange: Exchange): void {
  const claimed = exchange.header("mcp-method") ?? "";
  recordMethod(exchange, claimed);
  const isKnown = statelessMethods.requests.has(claimed);
  const method = isKnown ? claimed : "other";
  mcpMetrics(exchange).handedOn(exchange, { method });
}
