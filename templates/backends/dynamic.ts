import type { BackendNode, TcpBackendNode } from "../../compiler/ir/backends.ts";
import { code, literal } from "../code/code.ts";
import type { ConnectionPart } from "../code/connection-part.ts";
import type { Code, Hole, Printable } from "../code/hole.ts";
import { imported } from "../code/names.ts";
import type { Trace } from "../code/trace.ts";
import { milliseconds } from "../code/units.ts";
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
  const { connection, port, allowPrivate, tunnels, origin } = node;
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
  return {
    declarations: [
      code`
        ${scope.trace(origin)}
        const destinations = new ${imported(MODULE, "Destinations")}(${literal(settings)});
      `,
      ...(opened === undefined
        ? []
        : [code`const tunnels = new ${tunnelClass}(destinations, ${literal(opened)});`]),
    ],
    first: [],
    guard: [],
    step: [
      ...(opened === undefined ? [] : [tunnelStep(scope.admissionOf(node))]),
      ...token,
      code`const upstream = ${imported(MODULE, "chooseDestination")}(exchange, destinations);`,
      code`if (upstream === undefined) return;`,
      code`return ${pass(code`upstream`)};`,
    ],
    isAsync: false,
  };
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
  [{ port, allowPrivate, connection, origin }]: AtLeastOne<TcpBackendNode<"dynamic">>,
  trace: Trace,
): ConnectionPart {
  const settings = { port, allowPrivate, ...tcpSettings(connection) };
  return {
    declaration: code`
      ${trace(origin)}
      const destinations = new ${imported(TCP, "TcpDestinations")}(${literal(settings)});
    `,
    step: code`return ${imported(TCP, "passToNamed")}(connection, destinations);`,
  };
}
