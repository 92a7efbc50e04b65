import type { BackendNode, TcpBackendNode } from "../../compiler/ir/backends.ts";
import { code, literal } from "../code/code.ts";
import type { ConnectionPart } from "../code/connection-part.ts";
import type { Code, Expression, Hole, Name, Printable } from "../code/hole.ts";
import { imported, name } from "../code/names.ts";
import { ifStatement } from "../code/statements.ts";
import { milliseconds } from "../code/units.ts";
import type { AtLeastOne, BackendCode, BackendScope, BackendTemplate } from "./backend.ts";
import { forwardCode, forwardSettings, passthrough, tcpSettings } from "./parts/connection.ts";
import { plainForward } from "./parts/forward.ts";
import { healthSettings, unhealthyFunction } from "./parts/health.ts";
import { refusedShare } from "./parts/refused-share.ts";
import { forwardedUsers, readsUser } from "./parts/user-connection.ts";

const WEIGHTED = "gwc/runtime/backends/weighted";
const WATCHED = "gwc/runtime/backends/watched";
const LASTING = "gwc/runtime/backends/lasting-choice";

/** Plain HTTP upstreams: forwards the request to one of them by weight; without any weight, it is refused. */
export const hostTemplate: BackendTemplate<"host"> = {
  code: hostCode,
  connection: connectionCode,
  handler: forwardingHandler,
  reads: ({ connection }) => readsUser([connection]),
};

/** Returns the settings of a server's connections that are not those of its address. */
function ownSettings(node: BackendNode<"host">, { messagesOf }: BackendScope) {
  return { ...forwardedUsers(node.connection), ...messagesOf(node) };
}

function hostCode(all: AtLeastOne<BackendNode<"host">>, scope: BackendScope): BackendCode {
  const nodes = all.filter(({ weight }) => weight > 0);
  const [only, ...others] = nodes;
  if (only === undefined) {
    const step = code`return ${imported("gwc/runtime/http/refuse", "noBackend")}(exchange);`;
    return { ...NOTHING, declarations: [], step: [step] };
  }
  const isEachWatched = nodes.some(({ health, isName }) => health !== undefined && isName);
  const choose = scope.chooseServer ?? (isEachWatched ? chooseAny : undefined);
  if (choose !== undefined) return lastingCode(all, [only, ...others], scope, choose);
  const pass = scope.forward ?? plainForward;
  const token = passthrough(all.map(({ connection }) => connection));
  if (others.length === 0) {
    return {
      ...NOTHING,
      declarations: [
        code`
          ${scope.trace(only.origin)}
          const upstream = ${forwardCode(only.url, only.connection, ownSettings(only, scope))};
        `,
      ],
      step: [...token, code`return ${pass(code`upstream`)};`],
    };
  }
  const shared = [only, ...others];
  const isWatched = shared.some(({ health }) => health !== undefined);
  const isChecked = shared.some(({ health }) => health?.active !== undefined);
  const tests = unhealthyTests(shared, scope);
  const choices = shared.map((node) => {
    const { url, connection, weight, health, origin } = node;
    const watch = health && code`health: ${literal(healthSettings(health, tests.idOf(health)))},`;
    return code`
        {
          ${scope.trace(origin)}
          weight: ${literal(weight)},
          ${[code`upstream: ${forwardCode(url, connection, ownSettings(node, scope))},`, ...(watch === undefined ? [] : [watch])]}
        },
      `;
  });
  const [prepare, pick] = isWatched
    ? [imported(WATCHED, "watchUpstreams"), imported(WATCHED, "chooseHealthy")]
    : [imported(WEIGHTED, "weighUpstreams"), imported(WEIGHTED, "chooseWeighted")];
  return {
    ...NOTHING,
    declarations: [
      ...tests.declarations,
      code`
        const upstreams = ${prepare}([
          ${choices}
        ]);
      `,
    ],
    step: [
      ...(isChecked ? [code`${imported(WATCHED, "keepChecked")}(exchange, upstreams);`] : []),
      ...token,
      code`return ${pass(code`${pick}(upstreams)`, "chosen")};`,
    ],
  };
}

/** Forwards to the server of a node that gets all requests, with nothing but settings of its connections. */
function forwardingHandler(node: BackendNode<"host">): Expression | undefined {
  const { connection, health, isName, isRefused, url, weight } = node;
  const isPlain = weight > 0 && isRefused !== true && !(health !== undefined && isName);
  if (!isPlain || connection.isPassthrough || connection.userConnection !== undefined)
    return undefined;
  const forwardingTo = imported("gwc/runtime/backends/forwarding-to", "forwardingTo");
  return code`${forwardingTo}(${literal(forwardSettings(url, connection))})`;
}

/** Forwards to a random server of all backends. */
function chooseAny(servers: Code): Code {
  return code`${imported(LASTING, "chooseAny")}(exchange, ${servers})`;
}

/** Forwards to a chosen server of all backends. */
function lastingCode(
  all: readonly BackendNode<"host">[],
  nodes: readonly BackendNode<"host">[],
  scope: BackendScope,
  choose: NonNullable<BackendScope["chooseServer"]>,
): BackendCode {
  const pass = scope.forward ?? plainForward;
  const tests = unhealthyTests(nodes, scope);
  const backends = nodes.map((node) => {
    const { url, connection, weight, health, origin } = node;
    const server = { ...forwardSettings(url, connection), ...ownSettings(node, scope) };
    return code`
      {
        ${scope.trace(origin)}
        weight: ${literal(weight)},
        server: ${literal(server)},
        health: ${literal(health === undefined ? UNREACHABLE : healthSettings(health, tests.idOf(health)))},
      },
    `;
  });
  return {
    ...NOTHING,
    isAsync: true,
    declarations: [
      ...tests.declarations,
      code`
        const servers = ${imported(LASTING, "openLasting")}([
          ${backends}
        ]);
      `,
    ],
    step: [
      ...passthrough(all.map(({ connection }) => connection)),
      code`const choice = await ${choose(code`servers`)};`,
      code`if (choice === undefined) return;`,
      code`return ${pass(code`choice`, "chosen")};`,
    ],
  };
}

/** Default ejection for sticky clients: a server that cannot be reached is left out, whatever its responses say. */
const UNREACHABLE: Printable = {
  eviction: milliseconds(10_000),
  consecutiveFailures: 1,
  isUnhealthy: imported("gwc/runtime/backends/server-health", "isNeverUnhealthy"),
};

/** Returns the functions that detect failures, each once. */
function unhealthyTests(
  nodes: readonly BackendNode<"host">[],
  { expressions, trace }: BackendScope,
): {
  readonly declarations: readonly Code[];
  readonly idOf: (health: HealthNode) => Name | undefined;
} {
  const tests = nodes.flatMap(({ health }) => health?.unhealthy ?? []);
  const sources = [...new Set(tests.map(({ source }) => source))];
  const idAt = (index: number) => name(index === 0 ? "isUnhealthy" : `isUnhealthy${index + 1}`);
  return {
    declarations: sources.flatMap((source, index) => {
      const test = tests.find((each) => each.source === source);
      if (test === undefined) return [];
      return code`
        ${trace(test.origin)}
        ${unhealthyFunction(idAt(index), test, expressions)}
      `;
    }),
    idOf: ({ unhealthy }) => unhealthy && idAt(sources.indexOf(unhealthy.source)),
  };
}

type HealthNode = NonNullable<BackendNode<"host">["health"]>;

const NOTHING = { first: [], guard: [], isAsync: false } as const;

function connectionCode(
  nodes: AtLeastOne<TcpBackendNode<"host">>,
  { trace }: Pick<BackendScope, "trace">,
): ConnectionPart {
  const weighted = nodes.filter(({ weight }) => weight > 0);
  const [only, ...others] = weighted.filter(({ isRefused }) => isRefused !== true);
  if (only === undefined) return NO_SERVER;
  const refuse = refusedConnections(weighted);
  if (others.length === 0) {
    return {
      declaration: code`
        ${trace(only.origin)}
        const upstream = ${openServer(only)};
      `,
      step: [...refuse, passOn(code`upstream`)],
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
    step: [...refuse, passOn(code`${imported(WEIGHTED, "pickUpstream")}(upstreams)`)],
  };
}

/** Writes how the share of servers that are missing is refused (Gateway API TCPRouteRule). */
function refusedConnections(nodes: readonly TcpBackendNode<"host">[]): readonly Hole[] {
  const shares = nodes.map(({ weight, isRefused }) => ({ weight, isRefused: isRefused === true }));
  const share = refusedShare(shares);
  if (share === undefined) return [];
  return [ifStatement([share], refused("the backend of this share does not exist"))];
}

/** The code if no backend has a weight (Gateway API BackendRef). */
const NO_SERVER: ConnectionPart = {
  declaration: undefined,
  step: refused("no backend has a weight"),
};

function refused(error: string): Code {
  const refuse = imported("gwc/runtime/tcp/connection", "refuseConnection");
  return code`return ${refuse}(connection, "NoHealthyBackend", ${literal(error)});`;
}

function openServer({ address, connection }: TcpBackendNode<"host">): Code {
  const open = imported("gwc/runtime/tcp/upstream", "openTcpUpstream");
  return code`${open}(${literal({ address, ...tcpSettings(connection) })})`;
}

function passOn(upstream: Code): Code {
  return code`return ${imported("gwc/runtime/tcp/proxy", "pass")}(connection, ${upstream});`;
}
