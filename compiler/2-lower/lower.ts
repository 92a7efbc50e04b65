import type { KubernetesInput, Parsed } from "../1-parse/parse.ts";
import type { BackendConfig } from "../backends/index.ts";
import { followUpsOf } from "../config/broken-parts.ts";
import type { GatewayResources, Resource, UnservedResources } from "../config/resources.ts";
import { unservedBackends } from "../config/unserved.ts";
import { Diagnostics, type WithDiagnostics } from "../diagnostics/diagnostic.ts";
import { guarded } from "../diagnostics/guarded.ts";
import {
  type KubernetesGateway,
  type KubernetesModel,
  lowerKubernetes,
} from "./kubernetes/gateway/gateways.ts";
import type { AssumedResource } from "./kubernetes/inventory/inventory.ts";
import type { CachedManifests } from "./kubernetes/routes/cached-manifests.ts";
import { lowerStandalone } from "./standalone/standalone.ts";
import type { UnchangedRoutes } from "./standalone/unchanged-routes.ts";

/** Selects the gateways to lower. */
export interface LowerOptions {
  /** Default name of a gateway without a configured name. */
  readonly name: string;
  /** NAMESPACE/NAME of the only Gateway to compile, among several in manifests. */
  readonly gateway?: string | undefined;
  /** Whether several Gateways are a mistake, because one process serves one. */
  readonly isSingle?: boolean;
  /**
   * Whether a controller delivers Secrets and ConfigMaps of any namespace to gateways; otherwise pods mount those
   * of their own.
   */
  readonly isDelivered?: boolean;
  /** Placeholders for referenced manifests that are missing, to check a part of a cluster; `undefined` for none. */
  readonly assumed?: AssumedResource;
}

/** The input in one vocabulary, for either form. */
export interface Lowered {
  /** The selected gateways: one for a standalone file, any number for manifests. */
  readonly gateways: readonly GatewayResources[];
  readonly unserved: UnservedResources;
  /** The model of the manifests, for queries other than compiling; `undefined` for a standalone file. */
  readonly kubernetes: KubernetesModel | undefined;
}

/** Cached results of either form. */
interface LowerCache {
  readonly manifests: CachedManifests;
  readonly routes: UnchangedRoutes;
}

/** Converts either form to the same resources. */
export function lower(
  parsed: Parsed,
  options: LowerOptions,
  cache?: LowerCache,
): WithDiagnostics<Lowered> {
  const diagnostics = new Diagnostics(followUpsOf(parsed));
  if (parsed.kind === "standalone") {
    const name = parsed.file.name ?? options.name;
    const at = { ...parsed.origin, part: "file" } as const;
    const resources = guarded(at, diagnostics, () => lowerStandalone(parsed, diagnostics));
    if (resources === undefined) return { value: undefined, diagnostics: diagnostics.list };
    const unserved = {
      policies: [],
      logLevels: [],
      backends: unservedBackends(namedBackends(resources), resources),
    };
    const gateways = [{ name, resources: cache?.routes.same(resources) ?? resources }];
    return { value: { gateways, unserved, kubernetes: undefined }, diagnostics: diagnostics.list };
  }
  const at = { file: parsed.files[0]?.name ?? "", document: 0, path: [], part: "file" } as const;
  const kubernetes = guarded(at, diagnostics, () =>
    lowerKubernetes(
      parsed.manifests,
      { diagnostics, isDelivered: options.isDelivered === true },
      { assumed: options.assumed, cache: cache?.manifests },
    ),
  );
  if (kubernetes === undefined) return { value: undefined, diagnostics: diagnostics.list };
  const wanted = wantedGateways(kubernetes, options, parsed, diagnostics);
  const gateways = wanted.map((each): GatewayResources => {
    return { name: bundleName(each, kubernetes), resources: [each.gateway, ...each.routes] };
  });
  const { unserved } = kubernetes;
  return { value: { gateways, unserved, kubernetes }, diagnostics: diagnostics.list };
}

function wantedGateways(
  { gateways }: KubernetesModel,
  { gateway: wanted, isSingle }: LowerOptions,
  { files }: Extract<Parsed, KubernetesInput>,
  diagnostics: Diagnostics,
): readonly KubernetesGateway[] {
  const found = gateways.filter(
    ({ manifest: { namespace, name } }) =>
      wanted === undefined || wanted === `${namespace}/${name}` || wanted === name,
  );
  const at = { file: files[0]?.name ?? "", document: 0, path: [], part: "file" } as const;
  if (found.length > 1 && isSingle === true) {
    const names = found.map(({ manifest: { namespace, name } }) => `${namespace}/${name}`);
    diagnostics.report("several-gateways", at, { names });
  }
  if (found.length === 0) diagnostics.report("no-gateway", at, { found: wanted });
  return found;
}

/** Returns a Gateway's name, with its namespace if another Gateway has the same name. */
function bundleName(
  { manifest: { namespace, name } }: KubernetesGateway,
  { gateways }: KubernetesModel,
): string {
  const isUnique = gateways.filter((each) => each.manifest.name === name).length === 1;
  return isUnique ? name : `${namespace}-${name}`;
}

/** Returns the named backends of a file. */
function namedBackends(resources: readonly Resource[]): readonly BackendConfig[] {
  return resources.flatMap((each) => (each.kind === "gateway" ? [...each.backends.values()] : []));
}
