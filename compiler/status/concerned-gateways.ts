import type { KubernetesModel } from "../2-lower/kubernetes/gateway/gateways.ts";
import type { Manifest } from "../manifests/manifests.ts";

/** Lists the Gateways (`NAMESPACE/NAME`) whose data planes apply a route, policy or ListenerSet. */
export function concernedGateways(
  manifest: Manifest,
  { attachments, listeners, context }: KubernetesModel,
): readonly string[] {
  const gateways = new Set<Manifest>();
  switch (manifest.kind) {
    case "GatewayPolicy":
    case "BackendTLSPolicy":
      for (const each of context.effective.get(manifest) ?? []) gateways.add(each);
      break;
    case "ListenerSet":
      for (const { owner, gateway } of [...listeners.values()].flat())
        if (owner === manifest) gateways.add(gateway);
      break;
    default:
      for (const { route, listener } of attachments)
        if (route === manifest) gateways.add(listener.gateway);
  }
  return [...gateways].map(({ namespace, name }) => `${namespace}/${name}`).sort();
}
