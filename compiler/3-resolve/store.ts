import { hasWaitingCalls, sharesResponses } from "../backends/index.ts";
import type { GatewayResource } from "../config/resources.ts";
import { childOf, type Diagnostics, keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import type { AcmeNode } from "../ir/acme.ts";
import type { DeploymentNode, Overlay } from "../ir/deployment.ts";
import type { PolicyUse } from "../ir/policies.ts";
import type { BindNode } from "../ir/program.ts";
import type { RedisNode, StoreNode } from "../ir/store.ts";
import type { UsageNode } from "../ir/usage.ts";
import { jsonAt } from "../model/json.ts";
import { type SecretContext, withoutLiteral } from "../model/literal-secrets.ts";
import type { SharedStore } from "../model/shared-store.ts";
import { type PolicyKind, policyOf } from "../policies/index.ts";

/** Returns the store that policies or `records` need; `undefined` if none is needed. Reports a store without a use. `name`: the gateway's. */
export function resolveStore(
  name: string,
  { store, deployment, isPartial }: GatewayResource,
  binds: readonly BindNode[],
  records: Pick<UsageNode | AcmeNode, "origin"> | undefined,
  context: SecretContext,
): StoreNode | undefined {
  const { diagnostics } = context;
  const policies = policiesOf(binds);
  if (store === undefined && isPartial !== true)
    reportCountingAlone(policies, deployment, diagnostics);
  const owner = deployment === undefined ? name : `${deployment.namespace}/${deployment.name}`;
  const prefix = store?.prefix ?? `gwc:${encodeURIComponent(owner)}:`;
  const keeper = policies.find((policy) => useOfStore(policy) === "records") ?? records;
  const otherwise = keeper === undefined ? "nothing" : "embedded";
  const isOptional = sharedStoreOf(store) === "optional";
  const resolved =
    store &&
    resolveRedis({ ...store, prefix, otherwise: isOptional ? otherwise : undefined }, context);
  const isUsed = policies.some((policy) => useOfStore(policy) !== undefined);
  if (keeper === undefined && !isUsed && !binds.some(usesStoreInBackends)) {
    if (store !== undefined) diagnostics.report("idle-store", keyPlace(store.origin), {});
    return undefined;
  }
  if (store !== undefined) return resolved;
  if (keeper === undefined) return undefined;
  if (deployment !== undefined && isPartial !== true)
    diagnostics.report("store-of-pods", keyPlace(keeper.origin), {});
  return { kind: "embedded" };
}

/** Returns whether a gateway has a store that replicas share. With `${REDIS_URL:-}`, it may start without. */
export function sharedStoreOf(store: GatewayResource["store"]): SharedStore {
  if (store === undefined) return "none";
  const { url } = store;
  const isOptional =
    typeof url !== "string" &&
    url.kind === "env" &&
    url.parts.every((part) => typeof part !== "string" && part.fallback === "");
  return isOptional ? "optional" : "required";
}

/** Reports a limit that several pods count, each for itself. */
function reportCountingAlone(
  policies: readonly PolicyUse[],
  deployment: GatewayResource["deployment"],
  diagnostics: Diagnostics,
): void {
  const count = deployment === undefined ? 1 : maxPods(deployment);
  const [at] = count === 1 ? [] : policies.flatMap((policy) => countedAlone(policy) ?? []);
  if (at !== undefined) diagnostics.report("limit-of-each-pod", at, { count });
}

/** Returns the maximum number of pods of a gateway; `undefined` if it is one for each node. */
function maxPods({ workload, overlays }: DeploymentNode): number | undefined {
  if (workload === "DaemonSet") return undefined;
  const last = (list: readonly Overlay[], field: string) =>
    list.map(({ spec }) => jsonAt(spec ?? null, field)).findLast((value) => value !== undefined);
  const count =
    overlays.horizontalPodAutoscaler.length > 0
      ? last(overlays.horizontalPodAutoscaler, "maxReplicas")
      : last(overlays.deployment, "replicas");
  return typeof count === "number" ? count : 1;
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

function usesStoreInBackends({ listeners }: BindNode): boolean {
  return listeners.some(({ routes }) =>
    routes.some(({ backends }) =>
      backends.some((backend) => sharesResponses(backend) || hasWaitingCalls(backend)),
    ),
  );
}

/** Returns the first policy that keeps records in the store; `undefined` if none does. */
export function storeUser(binds: readonly BindNode[]): PolicyUse | undefined {
  return policiesOf(binds).find((policy) => useOfStore(policy) === "records");
}

function policiesOf(binds: readonly BindNode[]): readonly PolicyUse[] {
  return binds.flatMap(({ listeners }) =>
    listeners.flatMap(({ preRouting, routes }) => [
      ...(preRouting?.policies ?? []),
      ...routes.flatMap(({ policies }) => policies),
    ]),
  );
}

function useOfStore<Kind extends PolicyKind>({
  kind,
  settings,
}: PolicyUse<Kind>): "records" | "sharing" | undefined {
  return policyOf<Kind>(kind).traits.usesStore?.(settings);
}

function countedAlone<Kind extends PolicyKind>({
  kind,
  settings,
}: PolicyUse<Kind>): Origin | undefined {
  return policyOf<Kind>(kind).traits.countsAlone?.(settings);
}
