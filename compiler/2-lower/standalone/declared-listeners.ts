import type { GatewayListenerValue, GatewayValue } from "../../1-parse/standalone/gateway.ts";
import type { ListenerValue } from "../../1-parse/standalone/listener.ts";
import type { StandaloneFile } from "../../1-parse/standalone/standalone.ts";
import type { ListenerResource } from "../../config/resources.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { readListenerTls } from "./listener-tls.ts";

/** A listener of a bind or a gateway, without the file's `policies` for it. */
export interface DeclaredListener {
  readonly resource: Omit<ListenerResource, "policies" | "isPartial">;
  /** Its own policies by name, and possibly other fields. */
  readonly policies: Readonly<Record<string, unknown>>;
  readonly policiesOrigin: Origin;
  /** Routes in it; `undefined` for a listener of a gateway, which routes refer to. */
  readonly routes?: ListenerValue["routes"];
  readonly tcpRoutes?: ListenerValue["tcpRoutes"];
}

/** The sections that declare listeners. */
export type ListeningValue = Pick<StandaloneFile, "binds" | "gateways">;

/** Returns the listeners of `binds` and `gateways`; `origin` is that of the file. */
export function declaredListeners(
  { binds = [], gateways = {} }: ListeningValue,
  origin: Origin,
): readonly DeclaredListener[] {
  return [
    ...binds.flatMap((bind, index) =>
      bind === undefined ? [] : ofBind(bind, index, childOf(origin, "binds", index)),
    ),
    ...Object.entries(gateways).flatMap(([name, gateway]) =>
      ofGateway(name, gateway, childOf(origin, "gateways", name)),
    ),
  ];
}

type BindValue = NonNullable<NonNullable<StandaloneFile["binds"]>[number]>;

function ofBind(bind: BindValue, bindIndex: number, origin: Origin): readonly DeclaredListener[] {
  return bind.listeners.flatMap((listener, index) => {
    if (listener === undefined) return [];
    const at = childOf(origin, "listeners", index);
    const { hostname = "*", name, protocol = "HTTP", routes, tcpRoutes, policies = {} } = listener;
    const otherwise = hostname === "*" ? `port-${bind.port}` : hostname;
    return {
      resource: {
        ...portOf(bind, origin),
        ...ownParts(listener, at),
        key: `${bindIndex}/${index}`,
        name: name ?? otherwise,
        hostname,
        protocol,
      },
      policies,
      policiesOrigin: childOf(at, "policies"),
      routes,
      tcpRoutes,
    };
  });
}

function ofGateway(
  name: string,
  gateway: GatewayValue,
  origin: Origin,
): readonly DeclaredListener[] {
  const read = (value: GatewayListenerValue, at: Origin, own: NamedListenerKey) => ({
    policies: { ...value },
    policiesOrigin: at,
    resource: {
      ...portOf(gateway, origin),
      ...ownParts(value, at),
      ...own,
      hostname: value.hostname ?? "*",
      protocol: value.protocol ?? (value.tls === undefined ? ("HTTP" as const) : "HTTPS"),
    },
  });
  const { listeners } = gateway;
  if (listeners === undefined) return [read(gateway, origin, gatewayListenerKey(name))];
  return listeners.flatMap((listener, index) => {
    if (listener === undefined) return [];
    const own = gatewayListenerKey(name, listener, index);
    return [read(listener, childOf(origin, "listeners", index), own)];
  });
}

type NamedListenerKey = Pick<ListenerResource, "key" | "name">;

/** Returns the key of a gateway's listener, and its name in references; without `listener` of the gateway itself. */
export function gatewayListenerKey(
  gateway: string,
  listener?: GatewayListenerValue,
  index?: number,
): NamedListenerKey {
  const key = `gateways/${gateway}`;
  if (listener === undefined || index === undefined) return { key, name: gateway };
  return { key: `${key}/${index}`, name: `${gateway}/${listener.name ?? `listener${index}`}` };
}
function portOf(
  { port, address, tunnelProtocol }: Pick<GatewayValue, "port" | "address" | "tunnelProtocol">,
  origin: Origin,
): Pick<ListenerResource, "port" | "portOrigin" | "address" | "tunnel"> {
  const tunnel = tunnelProtocol && {
    protocol: tunnelProtocol,
    origin: childOf(origin, "tunnelProtocol"),
  };
  return { port, portOrigin: childOf(origin, "port"), address, tunnel };
}

function ownParts(
  { tls, pathHandling }: Pick<ListenerValue, "tls" | "pathHandling">,
  origin: Origin,
): Pick<ListenerResource, "tls" | "pathHandling" | "origin"> {
  return {
    tls: tls && readListenerTls(tls, origin),
    pathHandling: pathHandling && {
      value: pathHandling,
      origin: childOf(origin, "pathHandling"),
    },
    origin,
  };
}
