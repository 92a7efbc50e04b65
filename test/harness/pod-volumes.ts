import type { KubernetesApi } from "./kubernetes-api.ts";
import { Workspace } from "./workspace.ts";

/** A pod, as far as it is read. */
export interface Pod {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly containers: readonly Container[];
    readonly volumes?: readonly Volume[];
    readonly serviceAccountName: string;
  };
}

/** One of its containers. */
export interface Container {
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath: string } };
  }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly readinessProbe?: {
    readonly httpGet?: { readonly path: string; readonly port: number };
  };
}

interface Volume {
  readonly name: string;
  readonly secret?: { readonly secretName: string; readonly items?: readonly KeyPath[] };
  readonly configMap?: { readonly name: string; readonly items?: readonly KeyPath[] };
  readonly projected?: {
    readonly sources: readonly {
      readonly serviceAccountToken?: { readonly audience?: string; readonly path: string };
    }[];
  };
}

/** The file of an entry, where it is not called as the entry is. */
interface KeyPath {
  readonly key: string;
  readonly path: string;
}

/** A mount whose source does not exist. */
export class MissingObject extends Error {}

/** Folders of a container's volumes, with their mount points. */
export async function mountsOf(
  pod: Pod,
  container: Container,
  api: KubernetesApi,
): Promise<readonly (readonly [string, string])[]> {
  const volumes = pod.spec.volumes ?? [];
  const mounts: (readonly [string, string])[] = [];
  for (const { name, mountPath } of container.volumeMounts ?? []) {
    const volume = volumes.find((each) => each.name === name);
    // The machine's own folder will do.
    if (mountPath === "/tmp" || volume === undefined) continue;
    const folder = new Workspace(await filesOf(pod, volume, api)).folder;
    mounts.push([folder, mountPath]);
  }
  return mounts;
}

async function filesOf(
  { metadata: { namespace }, spec }: Pod,
  { secret, configMap, projected }: Volume,
  api: KubernetesApi,
): Promise<Readonly<Record<string, string>>> {
  if (secret !== undefined) {
    const data = await dataOf("Secret", namespace, secret.secretName, api);
    const text = (value: unknown) => Buffer.from(String(value), "base64").toString("utf8");
    return Object.fromEntries(
      namedFiles(data, secret.items).map(([file, value]) => [file, text(value)]),
    );
  }
  if (configMap !== undefined) {
    const data = await dataOf("ConfigMap", namespace, configMap.name, api);
    return Object.fromEntries(namedFiles(data, configMap.items));
  }
  const token = projected?.sources.find((each) => each.serviceAccountToken)?.serviceAccountToken;
  if (token?.audience === undefined) return {};
  const url = `/api/v1/namespaces/${namespace}/serviceaccounts/${spec.serviceAccountName}/token`;
  const said = await api.ask("POST", url, { spec: { audiences: [token.audience] } });
  return { [token.path]: said.body.status.token };
}

async function dataOf(
  kind: string,
  namespace: string,
  name: string,
  api: KubernetesApi,
): Promise<Readonly<Record<string, string>>> {
  const found = await api.get("v1", kind, namespace, name);
  if (found === undefined) throw new MissingObject(`${kind} ${namespace}/${name}`);
  return found.data;
}

/** The files of an object's entries. */
function namedFiles(
  data: Readonly<Record<string, string>>,
  items: readonly KeyPath[] | undefined,
): readonly (readonly [string, string])[] {
  if (items === undefined) return Object.entries(data);
  return items.map(({ key, path: file }) => [file, data[key] ?? ""]);
}
