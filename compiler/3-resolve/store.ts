import type { GatewayResource } from "../config/resources.ts";
import { childOf, keyPlace } from "../diagnostics/diagnostic.ts";
import type { PolicyUse } from "../ir/policies.ts";
import type { BindNode } from "../ir/program.ts";
import type { RedisNode, StoreNode } from "../ir/store.ts";
import { type SecretContext, withoutLiteral } from "../model/literal-secrets.ts";
import { type PolicyKind, policyOf } from "../policies/index.ts";

/** Returns the store that policies use; `undefined` if none uses one. Reports a store without a use. `name`: the gateway's. */
export function resolveStore(
  name: string,
  { store, deployment }: GatewayResource,
  binds: readonly BindNode[],
  context: SecretContext,
): StoreNode | undefined {
  const { diagnostics } = context;
  const owner = deployment === undefined ? name : `${deployment.namespace}/${deployment.name}`;
  const prefix = store?.prefix ?? `gwc:${encodeURIComponent(owner)}:`;
  const resolved = store && resolveRedis({ ...store, prefix }, context);
  const user = policiesOf(binds).find(usesStore);
  if (user === undefined) {
    if (store !== undefined) diagnostics.report("idle-store", keyPlace(store.origin), {});
    return undefined;
  }
  if (store !== undefined) return resolved;
  if (deployment !== undefined) diagnostics.report("store-of-pods", keyPlace(user.origin), {});
  return { kind: "embedded" };
}

function resolveRedis(store: RedisNode, context: SecretContext): RedisNode | undefined {
  const { url, origin, isCluster, sentinelName } = store;
  const { diagnostics } = context;
  if (isCluster && sentinelName !== undefined) {
    diagnostics.report("cluster-with-sentinel", childOf(origin, "sentinel"), {});
    return undefined;
  }
  if (typeof url !== "string") return store;
  const at = childOf(origin, "url");
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^rediss?:$/.test(parsed.protocol) || parsed.hostname === "") {
    diagnostics.report("bad-store-url", keyPlace(at), {});
    return undefined;
  }
  if (isCluster && parsed.pathname.length > 1 && parsed.pathname !== "/0")
    diagnostics.report("cluster-database", keyPlace(at), {});
  if (parsed.username === "" && parsed.password === "") return store;
  return { ...store, url: withoutLiteral(url, at, { field: '"url"' }, context) };
}

function policiesOf(binds: readonly BindNode[]): readonly PolicyUse[] {
  return binds.flatMap(({ listeners }) =>
    listeners.flatMap(({ preRouting, routes }) => [
      ...(preRouting?.policies ?? []),
      ...routes.flatMap(({ policies }) => policies),
    ]),
  );
}

function usesStore<Kind extends PolicyKind>({ kind, settings }: PolicyUse<Kind>): boolean {
  return policyOf<Kind>(kind).traits.usesStore?.(settings) === true;
}
