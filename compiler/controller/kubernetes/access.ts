import path from "node:path";
import { parse } from "yaml";
import type { Host } from "../../host.ts";
import { recordOf, textField } from "./json-fields.ts";

/** How the API server is reached, and as whom. */
export interface KubernetesAccess {
  readonly server: URL;
  /** PEM; the authorities of the system if `undefined`. */
  readonly ca: string | undefined;
  /** PEM of a client certificate and its key. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** The bearer token as it is now: those of pods are renewed on disk. */
  readonly token: () => string | undefined;
  /** Namespace of the controller. */
  readonly namespace: string;
}

/** Why the API server can't be asked, as a sentence. */
export interface NoAccess {
  readonly problem: string;
}

/** Folder of a pod's credentials. */
const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The access of the given kubeconfig file, else of the pod that this process runs in, else of `KUBECONFIG`. */
export function kubernetesAccess(
  host: Host,
  kubeconfig: string | undefined,
): KubernetesAccess | NoAccess {
  const inPod = host.variable("KUBERNETES_SERVICE_HOST");
  if (kubeconfig === undefined && inPod !== undefined) return podAccess(inPod, host);
  const file = kubeconfig ?? host.variable("KUBECONFIG");
  if (file === undefined)
    return { problem: "this is no pod, and neither --kubeconfig nor KUBECONFIG names a file" };
  return fileAccess(file, host);
}

function podAccess(address: string, host: Host): KubernetesAccess | NoAccess {
  const port = host.variable("KUBERNETES_SERVICE_PORT") ?? "443";
  const name = address.includes(":") ? `[${address}]` : address;
  const read = (file: string) => textOf(path.join(SERVICE_ACCOUNT, file), host);
  const ca = read("ca.crt");
  if (ca === undefined || read("token") === undefined)
    return { problem: `${SERVICE_ACCOUNT} has no token and ca.crt: the pod mounts none` };
  return {
    server: new URL(`https://${name}:${port}`),
    ca,
    cert: undefined,
    key: undefined,
    token: rereading(() => read("token")?.trim()),
    namespace: read("namespace")?.trim() ?? "default",
  };
}

function fileAccess(file: string, host: Host): KubernetesAccess | NoAccess {
  const text = textOf(file, host);
  if (text === undefined) return { problem: `${file} can't be read` };
  const config: unknown = parse(text);
  const context = named(config, "contexts", textField(config, "current-context"), "context");
  const server = named(config, "clusters", textField(context, "cluster"), "cluster");
  const user = named(config, "users", textField(context, "user"), "user");
  const url = URL.parse(textField(server, "server") ?? "");
  if (url === null) return { problem: `${file} has no server in its current context` };
  const folder = path.dirname(file);
  const pem = (of: unknown, field: string): string | undefined => {
    const data = textField(of, `${field}-data`);
    if (data !== undefined) return Buffer.from(data, "base64").toString("utf8");
    const name = textField(of, field);
    return name === undefined ? undefined : textOf(path.resolve(folder, name), host);
  };
  const tokenFile = textField(user, "tokenFile");
  const fixed = textField(user, "token");
  return {
    server: url,
    ca: pem(server, "certificate-authority"),
    cert: pem(user, "client-certificate"),
    key: pem(user, "client-key"),
    token:
      tokenFile === undefined
        ? () => fixed
        : rereading(() => textOf(path.resolve(folder, tokenFile), host)?.trim()),
    namespace: textField(context, "namespace") ?? "default",
  };
}

/** Returns the entry with a name in a list of a kubeconfig: the value of its own field. */
function named(config: unknown, list: string, name: string | undefined, field: string): unknown {
  const entries = recordOf(config)?.[list];
  const all: readonly unknown[] = Array.isArray(entries) ? entries : [];
  return recordOf(all.find((each) => textField(each, "name") === name))?.[field];
}

function textOf(file: string, host: Host): string | undefined {
  const read = host.readText(file);
  return read.kind === "text" ? read.text : undefined;
}

/** How long a token is used before its file is read again, in milliseconds. */
const TOKEN_AGE = 60_000;

function rereading(read: () => string | undefined): () => string | undefined {
  let known: { readonly token: string | undefined; readonly until: number } | undefined;
  return () => {
    if (known === undefined || performance.now() > known.until)
      known = { token: read(), until: performance.now() + TOKEN_AGE };
    return known.token;
  };
}
