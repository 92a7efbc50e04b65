import { OUR_GROUPS } from "../../../1-parse/kubernetes/kinds.ts";
import type { CachedByObjects } from "../../../cached-results.ts";
import type { Manifest, ManifestOf } from "../../../manifests/manifests.ts";
import type { KubernetesListener } from "../gateway/listeners.ts";
import type { Attachment } from "../routes/attach.ts";
import type { ModelTables } from "./model-tables.ts";

/** Routes for the models of listeners, by the resource that declares the listener. */
export type CachedModelRoutes = CachedByObjects<Manifest, ManifestOf<"HTTPRoute">>;

/** Returns a route for the models of each listener, which takes every path that no other route takes. */
export function modelRoutes(
  listeners: readonly KubernetesListener[],
  { ofListeners }: ModelTables,
  cache: CachedModelRoutes,
): readonly Attachment[] {
  return listeners
    .filter(({ resource }) => ofListeners.get(resource.key) !== undefined)
    .map((listener) => {
      const { owner, resource } = listener;
      const route = cache.of([owner], resource.name, () => routeOfModels(listener));
      return { route, listener, hostnames: ["*"] };
    });
}

/** Whether a route stands for the models of a listener: no resource can have its name. */
export function isOfListener({ name }: ManifestOf<"HTTPRoute">): boolean {
  return name.endsWith(SUFFIX);
}

/** End of the names of these routes. */
const SUFFIX = ":models";

function routeOfModels({ owner, resource }: KubernetesListener): ManifestOf<"HTTPRoute"> {
  const { namespace } = owner;
  const name = `${owner.name}${SUFFIX}`;
  const { origin } = resource;
  const title = `HTTPRoute ${namespace}/${name}/${resource.name}`;
  const backendRefs = [{ group: OUR_GROUPS[0] ?? "", kind: "GatewayModel", name: "*" }];
  return {
    kind: "HTTPRoute",
    ...{ namespace, name, labels: {}, internalPorts: [], created: "" },
    spec: { rules: [{ backendRefs }] },
    isPartial: false,
    broken: [],
    origin: { ...origin, resource: { name: title, depth: origin.path.length } },
  };
}
