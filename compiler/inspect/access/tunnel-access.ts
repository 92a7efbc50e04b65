import { canonicalHost } from "../../../runtime/http/request-line.ts";
import { backendOf } from "../../backends/index.ts";
import type { BackendKind, BackendNode } from "../../ir/backends.ts";
import type { BindNode, Program, RouteNode } from "../../ir/program.ts";
import { routeAt } from "../explain/request.ts";
import { holderOf } from "../routing/match-request.ts";
import { repeatedInMatch } from "./header-readings.ts";
import type { Asker } from "./item-access.ts";
import { accessOfReadings, headAccess, type RequestAccess } from "./request-access.ts";

/** Decides whether a tunnel is opened (CONNECT, RFC 9110 9.3.6) on each port that accepts tunnels. `authority` is `host:port`. */
export function tunnelAccess(
  programs: readonly Program[],
  authority: string,
  asker: Asker,
): readonly RequestAccess[] {
  const host = canonicalHost(authority.toLowerCase());
  if (host === undefined) return [{ kind: "none", reason: "the host is not a valid name: 400" }];
  const hostname = host.replace(/:\d+$/, "");
  const port = Number(authority.slice(authority.lastIndexOf(":") + 1));
  const binds = programs.flatMap((program) => program.binds);
  const taking = binds.filter(takesTunnels);
  const [bind] = taking;
  if (bind === undefined)
    return [
      {
        kind: "none",
        reason: "no backend accepts tunnels: 501; use `dynamic: {connect: {}}`",
      },
    ];
  return taking.map((each) =>
    accessOfReadings(asker, (headers): RequestAccess => {
      const listener = holderOf(each, hostname);
      if (listener === undefined || listener === "passedOn")
        return { kind: "none", reason: `no listener has the host ${hostname}: 404` };
      const matched = repeatedInMatch(
        listener,
        { method: "CONNECT", hostname, path: "/" },
        asker.headers,
        headers,
      );
      if (matched !== undefined)
        return {
          kind: "none",
          reason: `matches read the header ${matched}, which is repeated: 400`,
        };
      const route = routeAt(listener, "CONNECT", { hostname, path: "/" }, headers);
      const scheme = each.tls === undefined ? "http" : "https";
      const head = { method: "CONNECT", scheme, host, path: "/", search: "" };
      const reason = "no route of the listener matches it: 404";
      const found = headAccess(head, { listener, route, reason }, { ...asker, headers });
      if (found.kind === "none" || route === undefined) return found;
      const { verdicts } = found.access;
      if (verdicts.at(-1)?.verdict === "refuses" || portsOfTunnels(route).includes(port))
        return found;
      const why =
        portsOfTunnels(route).length === 0
          ? "its backend does not accept tunnels: 501"
          : `no tunnels to port ${port}: 403`;
      const refused = {
        policy: "backend",
        verdict: "refuses",
        reason: why,
        origin: route.origin,
      } as const;
      return { kind: "asked", access: { ...found.access, verdicts: [...verdicts, refused] } };
    }),
  );
}

/** Whether a backend of a port opens tunnels. */
export function takesTunnels({ listeners }: BindNode): boolean {
  return listeners.some(({ routes }) => routes.some((route) => portsOfTunnels(route).length > 0));
}

function portsOfTunnels({ backends }: RouteNode): readonly number[] {
  return backends.flatMap(tunnelPorts);
}

function tunnelPorts<Kind extends BackendKind>(node: BackendNode<Kind>): readonly number[] {
  return backendOf(node.kind).tunnelPorts?.(node) ?? [];
}
