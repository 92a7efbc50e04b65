import type { BackendNode, TcpBackendNode } from "../../compiler/ir/backends.ts";
import { code, literal } from "../code/code.ts";
import type { ConnectionPart } from "../code/connection-part.ts";
import type { Code } from "../code/hole.ts";
import { imported } from "../code/names.ts";
import type { Trace } from "../code/trace.ts";
import type { AtLeastOne, BackendCode, BackendScope, BackendTemplate } from "./backend.ts";
import { forwardCode, passthrough, tcpSettings } from "./parts/connection.ts";
import { plainForward } from "./parts/forward.ts";

const WEIGHTED = "gwc/runtime/backends/weighted";

/** Plain HTTP upstreams: the request is passed on as it is by then, to one of them by weight; without any weight it is refused. */
export const hostTemplate: BackendTemplate<"host"> = { code: hostCode, connection: connectionCode };

function hostCode(nodes: AtLeastOne<BackendNode<"host">>, scope: BackendScope): BackendCode {
  const [only, ...others] = nodes.filter(({ weight }) => weight > 0);
  if (only === undefined) {
    const step = code`return ${imported("gwc/runtime/http/refuse", "noBackend")}(exchange);`;
    return { ...NOTHING, declarations: [], step: [step] };
  }
  const pass = scope.forward ?? plainForward;
  const token = passthrough(nodes.map(({ connection }) => connection));
  if (others.length === 0) {
    return {
      ...NOTHING,
      declarations: [
        code`
          ${scope.trace(only.origin)}
          const upstream = ${forwardCode(only.url, only.connection)};
        `,
      ],
      step: [...token, code`return ${pass(code`upstream`)};`],
    };
  }
  const choices = [only, ...others].map(
    ({ url, connection, weight, origin }) => code`
      {
        ${scope.trace(origin)}
        weight: ${literal(weight)},
        upstream: ${forwardCode(url, connection)},
      },
    `,
  );
  return {
    ...NOTHING,
    declarations: [
      code`
        const upstreams = ${imported(WEIGHTED, "weighUpstreams")}([
          ${choices}
        ]);
      `,
    ],
    step: [...token, code`return ${pass(code`${imported(WEIGHTED, "pickUpstream")}(upstreams)`)};`],
  };
}

const NOTHING = { first: [], guard: [], isAsync: false } as const;

function connectionCode(nodes: AtLeastOne<TcpBackendNode<"host">>, trace: Trace): ConnectionPart {
  const [only, ...others] = nodes.filter(({ weight }) => weight > 0);
  if (only === undefined) return NO_SERVER;
  if (others.length === 0) {
    return {
      declaration: code`
        ${trace(only.origin)}
        const upstream = ${openServer(only)};
      `,
      step: passOn(code`upstream`),
    };
  }
  const choices = [only, ...others].map(
    (each) => code`
      {
        ${trace(each.origin)}
        weight: ${literal(each.weight)},
        upstream: ${openServer(each)},
      },
    `,
  );
  return {
    declaration: code`
      const upstreams = ${imported(WEIGHTED, "weighUpstreams")}([
        ${choices}
      ]);
    `,
    step: passOn(code`${imported(WEIGHTED, "pickUpstream")}(upstreams)`),
  };
}

/** No backend has a weight (Gateway API BackendRef). */
const NO_SERVER: ConnectionPart = {
  declaration: undefined,
  step: code`return ${imported("gwc/runtime/tcp/connection", "refuseConnection")}(connection, "NoHealthyBackend", "no backend has a weight");`,
};

function openServer({ address, connection }: TcpBackendNode<"host">): Code {
  const open = imported("gwc/runtime/tcp/upstream", "openTcpUpstream");
  return code`${open}(${literal({ address, ...tcpSettings(connection) })})`;
}

function passOn(upstream: Code): Code {
  return code`return ${imported("gwc/runtime/tcp/proxy", "pass")}(connection, ${upstream});`;
}
