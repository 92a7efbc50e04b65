import type { BackendNode, TcpBackendNode } from "../../compiler/ir/backends.ts";
import { bufferStep } from "../code/buffer-step.ts";
import { code, comment, join, literal } from "../code/code.ts";
import type { ConnectionPart } from "../code/connection-part.ts";
import type { Code, Hole, Printable } from "../code/hole.ts";
import { returned } from "../code/layout.ts";
import { imported, importedType } from "../code/names.ts";
import { readsBody } from "../code/reads.ts";
import { milliseconds } from "../code/units.ts";
import { type ValueFunction, valueFunction } from "../code/value-function.ts";
import type { AtLeastOne, BackendCode, BackendScope, BackendTemplate } from "./backend.ts";
import { connectionSettings, passthrough, tcpSettings } from "./parts/connection.ts";
import { plainForward } from "./parts/forward.ts";

const MODULE = "gwc/runtime/backends/dynamic";
const TCP = "gwc/runtime/tcp/dynamic";

/** The host that the request, or the TLS connection, names, if it is allowed. */
export const dynamicTemplate: BackendTemplate<"dynamic"> = {
  isForwardProxy: true,
  takesTunnels: ({ tunnels }) => tunnels !== undefined,
  code: dynamicCode,
  connection: connectionCode,
};

function dynamicCode([node]: AtLeastOne<BackendNode<"dynamic">>, scope: BackendScope): BackendCode {
  const { connection, port, target, allowPrivate, tunnels, origin } = node;
  const settings: Readonly<Record<string, Printable | undefined>> = {
    scheme: connection.tls === undefined ? "http" : "https",
    port,
    allowPrivate,
    ...connectionSettings(connection),
    ...scope.messagesOf(node),
  };
  const opened = tunnels && { ...tunnels, idleTimeout: milliseconds(tunnels.idleTimeout) };
  const tunnelClass = imported("gwc/runtime/backends/dynamic/tunnels", "Tunnels");
  const token = passthrough([connection]);
  const pass = scope.forward ?? plainForward;
  const computed =
    target && valueFunction("destinationOf", target, scope.expressions, scope.variables);
  const waits = target !== undefined && readsBody([target], "request");
  return {
    declarations: [
      code`
        ${scope.trace(origin)}
        const destinations = new ${imported(MODULE, "Destinations")}(${literal(settings)});
      `,
      ...(opened === undefined
        ? []
        : [code`const tunnels = new ${tunnelClass}(destinations, ${literal(opened)});`]),
      ...(computed === undefined ? [] : [computed.declaration]),
    ],
    first: [],
    guard: [],
    step: [
      ...(opened === undefined ? [] : [tunnelStep(scope.admissionOf(node))]),
      ...token,
      ...(waits ? [bufferStep(scope.maxBufferSize)] : []),
      code`const upstream = ${chosenBy(computed)};`,
      code`if (upstream === undefined) return;`,
      code`return ${pass(code`upstream`)};`,
    ],
    isAsync: waits,
  };
}

/** Writes the choice of the destination: by the value of an expression, or by the request itself. */
function chosenBy(computed: ValueFunction | undefined): Code {
  return computed === undefined
    ? code`${imported(MODULE, "chooseDestination")}(exchange, destinations)`
    : code`${imported(MODULE, "computedDestination")}(exchange, destinations, ${computed.call})`;
}

/**
 * Opens a tunnel. Policies about the destination's requests do not see it, so the decision about tunnels is made
 * before.
 */
function tunnelStep(admission: readonly Hole[]): Code {
  if (admission.length === 0) return code`if (exchange.isTunnel) return tunnels.open(exchange);`;
  return code`
    if (exchange.isTunnel) {
      ${admission}
      return tunnels.open(exchange);
    }
  `;
}

function connectionCode(
  [{ port, target, allowPrivate, connection, origin }]: AtLeastOne<TcpBackendNode<"dynamic">>,
  { trace, expressions }: Pick<BackendScope, "trace" | "expressions">,
): ConnectionPart {
  const settings = { port, allowPrivate, ...tcpSettings(connection) };
  const destinations = code`
    ${trace(origin)}
    const destinations = new ${imported(TCP, "TcpDestinations")}(${literal(settings)});
  `;
  if (target === undefined) {
    const step = code`return ${imported(TCP, "passToNamed")}(connection, destinations);`;
    return { declaration: destinations, step };
  }
  const isRead = target.variables.includes("request");
  const client = importedType("gwc/runtime/net/connected-client", "ConnectedClient");
  const computed = code`
    function destinationOf(${isRead ? code`request: ${client}` : code``}): unknown {
      ${comment(target.source)}
      ${returned(expressions.use(target.code))}
    }
  `;
  const given = isRead ? code`${imported(TCP, "clientOfConnection")}(connection)` : code``;
  return {
    declaration: join([destinations, computed], "\n\n"),
    step: code`return ${imported(TCP, "passToComputed")}(connection, destinations, destinationOf(${given}));`,
  };
}
