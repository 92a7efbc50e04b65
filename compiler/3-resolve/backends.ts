import type { BackendPoliciesValue } from "../1-parse/standalone/backend-policies.ts";
import { readBackendPolicies } from "../2-lower/standalone/backend-policies.ts";
import { type BackendPolicies, mergeBackendPolicies } from "../config/backend-policies.ts";
import { checkUrl, hostUrl, withScheme } from "../config/host-url.ts";
import type { BackendConfig } from "../config/resources.ts";
import { childOf, type Diagnostics, keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import type {
  BackendNode,
  DynamicBackendNode,
  McpBackendNode,
  McpTargetNode,
} from "../ir/backends.ts";
import type { Text } from "../ir/texts.ts";
import { type ConnectionContext, resolveConnection, secureUrl } from "./backend-connection.ts";
import { checkPinned } from "./stdio-command.ts";

/** A backend with complete addresses; undefined when a mistake was reported. */
export function resolveBackend(
  { kind, config, policies, targetPolicies, keepsHost, weight, origin }: BackendConfig,
  context: ConnectionContext,
): BackendNode | undefined {
  if (kind === "mcp") {
    const policiesOf = (name: string) => targetPolicies?.get(name) ?? policies;
    return resolveMcp(config, policiesOf, origin, context);
  }
  if (kind === "dynamic") return resolveDynamic(config, policies, origin, context);
  const url = hostUrl(config as Text, origin, context.diagnostics);
  const connection = {
    ...resolveConnection(policies ?? {}, context),
    ...(keepsHost === true && { keepsHost }),
  };
  if (url === undefined) return undefined;
  return { kind: "host", url: secureUrl(url, connection), connection, weight: weight ?? 1, origin };
}

/** `dynamic` of the file, as its schema has let it through. */
export interface DynamicConfig {
  readonly port?: number;
  readonly allowPrivate?: readonly string[];
}

function resolveDynamic(
  config: unknown,
  policies: BackendPolicies | undefined,
  origin: Origin,
  context: ConnectionContext,
): DynamicBackendNode {
  const connection = resolveConnection(policies ?? {}, context);
  // The schema has checked the shape.
  const { port, allowPrivate = [] } = config as DynamicConfig;
  if (policies?.auth !== undefined && policies.auth.kind !== "passthrough") {
    context.diagnostics.report("dynamic-credential", keyPlace(policies.auth.origin), {});
  }
  return {
    kind: "dynamic",
    port: port ?? (connection.tls === undefined ? 80 : 443),
    allowPrivate: allowPrivate.toSorted(),
    connection,
    origin,
  };
}

interface McpConfig {
  readonly targets: readonly TargetConfig[];
  readonly prefixMode?: "conditional" | "always";
  readonly failureMode?: "failClosed" | "failOpen";
}

interface TargetConfig {
  readonly name: string;
  readonly policies?: BackendPoliciesValue;
  readonly mcp?: AddressConfig;
  readonly sse?: AddressConfig;
  readonly stdio?: {
    readonly cmd: string;
    readonly args?: readonly Text[];
    readonly env?: Readonly<Record<string, Text>>;
  };
}

interface AddressConfig {
  readonly host: Text;
  readonly port?: number;
  readonly path?: string;
}

function resolveMcp(
  config: unknown,
  policiesOf: (target: string) => BackendPolicies | undefined,
  origin: Origin,
  context: ConnectionContext,
): McpBackendNode | undefined {
  const { diagnostics } = context;
  // The schema has checked the shape.
  const { targets, prefixMode, failureMode } = config as McpConfig;
  const seen = new Map<string, Origin>();
  const resolved = targets.flatMap((target, index): McpTargetNode[] => {
    const at = childOf(origin, "targets", index);
    const first = seen.get(target.name);
    if (first !== undefined) {
      const related = [{ at: childOf(first, "name"), label: "first used here" }];
      diagnostics.report("duplicate-target", childOf(at, "name"), { name: target.name }, related);
    }
    seen.set(target.name, at);
    return resolveTarget(target, policiesOf(target.name), at, context) ?? [];
  });
  if (resolved.length < targets.length) return undefined;
  return {
    kind: "mcp",
    isStateful: true,
    prefixMode: prefixMode ?? "conditional",
    failureMode: failureMode ?? "failClosed",
    targets: resolved,
    origin,
  };
}

function resolveTarget(
  target: TargetConfig,
  policies: BackendPolicies | undefined,
  origin: Origin,
  context: ConnectionContext,
): McpTargetNode[] | undefined {
  const { diagnostics } = context;
  const { name, mcp, sse, stdio } = target;
  const own = readBackendPolicies(target.policies, childOf(origin, "policies"));
  if (stdio !== undefined) {
    const env = stdio.env ?? {};
    if (own !== undefined) {
      const field = keyPlace(childOf(origin, "policies"));
      diagnostics.report("unused-connection", field, { name });
      return undefined;
    }
    if (!checkEnvironment(env, childOf(origin, "stdio", "env"), diagnostics)) return undefined;
    checkPinned(stdio.cmd, stdio.args ?? [], childOf(origin, "stdio"), diagnostics);
    return [{ kind: "stdio", name, command: stdio.cmd, args: stdio.args ?? [], env, origin }];
  }
  const [kind, address] =
    sse === undefined ? (["streamable", mcp] as const) : (["sse", sse] as const);
  if (address === undefined) return undefined;
  const url = addressUrl(address, kind === "sse" ? "/sse" : "/mcp");
  const at = childOf(origin, kind === "sse" ? "sse" : "mcp", "host");
  const connection = resolveConnection(mergeBackendPolicies(policies, own), context);
  if (!checkUrl(url, at, diagnostics)) return undefined;
  return [{ kind, name, url: secureUrl(url, connection), connection, origin }];
}

/** `host` alone is the endpoint's full URL; with a port it is only a host. */
function addressUrl({ host, port, path }: AddressConfig, defaultPath: string): Text {
  if (port === undefined) return host;
  const rest = `:${port}${path ?? defaultPath}`;
  return withScheme(
    typeof host === "string" ? `${host}${rest}` : { kind: "env", parts: [...host.parts, rest] },
  );
}

/** Without a scheme it is plain HTTP. Text that starts with a variable may bring its own: the runtime looks. */
/** Names of environment variables that hold secrets by convention. */
const SECRET_NAME = /TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|PRIVATE_?KEY|ACCESS_?KEY/i;

function checkEnvironment(
  env: Readonly<Record<string, Text>>,
  origin: Origin,
  diagnostics: Diagnostics,
): boolean {
  const literal = Object.entries(env).filter(
    ([name, value]) => SECRET_NAME.test(name) && typeof value === "string" && value !== "",
  );
  for (const [name] of literal) {
    diagnostics.report(
      "literal-secret",
      { ...childOf(origin, name), part: "key" },
      { field: `"${name}"` },
    );
  }
  return literal.length === 0;
}
