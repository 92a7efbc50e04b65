import type { KubernetesModel } from "../2-lower/kubernetes/gateway/gateways.ts";
import type { Manifest } from "../manifests/manifests.ts";

/** A port of a Gateway (`NAMESPACE/NAME`). */
export interface GatewayPort {
  readonly gateway: string;
  readonly port: number;
}

/** Lists the ports at which a route is served; empty for other objects. */
export function servedPorts(
  manifest: Manifest,
  { attachments }: KubernetesModel,
): readonly GatewayPort[] {
  return attachments.flatMap(({ route, listener: { gateway, resource } }) => {
    if (route !== manifest) return [];
    return [{ gateway: `${gateway.namespace}/${gateway.name}`, port: resource.port }];
  });
}

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
    case "GatewayModel":
      for (const each of context.models.gateways.get(manifest) ?? []) gateways.add(each);
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
