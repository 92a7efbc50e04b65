import type { KubernetesInput, Parsed } from "../1-parse/parse.ts";
import type { BackendConfig } from "../backends/index.ts";
import { isAboutBroken } from "../config/broken-parts.ts";
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
import type { KeptRoutes } from "./kubernetes/routes/kept-routes.ts";
import { lowerStandalone } from "./standalone/standalone.ts";

/** Which gateways are wanted. */
export interface LowerOptions {
  /** What a gateway is called that has no name in its configuration. */
  readonly name: string;
  /** NAMESPACE/NAME of the one Gateway that is wanted, of manifests with several. */
  readonly gateway?: string | undefined;
  /** Several Gateways are a mistake: one process serves one. */
  readonly isSingle?: boolean;
  /** A controller sends Secrets and ConfigMaps to the gateways, of whatever namespace; else their pods mount them. */
  readonly isDelivered?: boolean;
  /** What stands for manifests that are referred to and not there, for who judges a part of them; undefined: nothing. */
  readonly assumed?: AssumedResource;
}

/** The input in one vocabulary, whatever its form. */
export interface Lowered {
  /** The wanted gateways of the input: one for a standalone file, any number for manifests. */
  readonly gateways: readonly GatewayResources[];
  readonly unserved: UnservedResources;
  /** What is known of the manifests, for who asks about them rather than compiling them. */
  readonly kubernetes: KubernetesModel | undefined;
}

/** Turns either form into the same resources. */
export function lower(
  parsed: Parsed,
  options: LowerOptions,
  kept?: KeptRoutes,
): WithDiagnostics<Lowered> {
  const diagnostics = new Diagnostics(
    (found) => parsed.kind === "standalone" && isAboutBroken(found, parsed),
  );
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
    const gateways = [{ name, resources }];
    return { value: { gateways, unserved, kubernetes: undefined }, diagnostics: diagnostics.list };
  }
  const at = { file: parsed.files[0]?.name ?? "", document: 0, path: [], part: "file" } as const;
  const kubernetes = guarded(at, diagnostics, () =>
    lowerKubernetes(
      parsed.manifests,
      { diagnostics, isDelivered: options.isDelivered === true },
      { assumed: options.assumed, kept },
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

/** A Gateway's name, with its namespace when another one has the same. */
function bundleName(
  { manifest: { namespace, name } }: KubernetesGateway,
  { gateways }: KubernetesModel,
): string {
  const isUnique = gateways.filter((each) => each.manifest.name === name).length === 1;
  return isUnique ? name : `${namespace}-${name}`;
}

/** The backends of a file that have a name. */
function namedBackends(resources: readonly Resource[]): readonly BackendConfig[] {
  return resources.flatMap((each) => (each.kind === "gateway" ? [...each.backends.values()] : []));
}
