import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { request } from "node:https";
import { homedir } from "node:os";
import path from "node:path";
import { parseAllDocuments } from "yaml";
import { customResourceDefinitions } from "../../compiler/1-parse/kubernetes/crd.ts";
import { AuditLog } from "./audit-log.ts";
import { eventually } from "./eventually.ts";
import { freePort, freePorts } from "./free-port.ts";
import { root } from "./root.ts";
import { TestProcess } from "./test-process.ts";
import { program } from "./tool.ts";
import { Workspace } from "./workspace.ts";

/** Folder with the binaries of a Kubernetes control plane: `bin/kube-apiserver`, `bin/etcd`. */
const home = process.env.GWC_KUBE_HOME ?? path.join(homedir(), ".cache", "gwc-kube");

/** The definitions of a release of the Gateway API, as Go's module cache has them. */
function definitions(release: string): string {
  const modules = process.env.GOMODCACHE ?? path.join(homedir(), "go", "pkg", "mod");
  return path.join(modules, "sigs.k8s.io", `gateway-api@${release}`, "config", "crd");
}

/** The release that gwc is tested with. */
const RELEASE = "v1.5.1";

/** The path of a program, whether it is there or not. */
export function kubernetesBinary(name: string): string {
  return path.join(home, "bin", name);
}

/** Why there is no API server to test with; `undefined` if it, the other programs and the releases of definitions exist. */
export function missingApiServer(
  others: readonly string[] = [],
  releases: readonly string[] = [],
): string | undefined {
  for (const name of ["kube-apiserver", "etcd", ...others])
    if (!existsSync(kubernetesBinary(name))) return `${kubernetesBinary(name)} is not there`;
  const folders = [RELEASE, ...releases].map(definitions);
  const folder = folders.find((each) => !existsSync(each));
  return folder && `the definitions of the Gateway API are not in ${folder}`;
}

/** Purpose of an API server: objects that others create, or also running pods. */
type ApiScope = "objects" | "pods";

/** A manifest, as an object. */
export interface TestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

/** Response of the API server. */
interface Said {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: JSON of many shapes, which each test knows.
  readonly body: any;
}

/** A real kube-apiserver with its etcd, empty but for the definitions of the Gateway API and of gwc. */
export class KubernetesApi {
  readonly kubeconfig: string;
  /** Of a controller in the namespace `default`: it may do what the chart's roles say, and nothing else. */
  controllerKubeconfig = "";
  /** Records the requests of accounts of pods. */
  readonly audit: AuditLog;
  readonly #workspace: Workspace;
  readonly #port: number;
  readonly #etcdPort: number;
  readonly #peerPort: number;
  #etcd: TestProcess | undefined;
  #server: TestProcess | undefined;
  readonly #scope: ApiScope;

  private constructor(workspace: Workspace, ports: readonly number[], scope: ApiScope) {
    const [port = 0, etcdPort = 0, peerPort = 0] = ports;
    this.#workspace = workspace;
    this.audit = new AuditLog(workspace);
    this.#port = port;
    this.#etcdPort = etcdPort;
    this.#peerPort = peerPort;
    this.#scope = scope;
    this.kubeconfig = this.kubeconfigOf("admin-token", "default");
  }

  /** Returns a kubeconfig with a token. */
  kubeconfigOf(token: string, namespace: string, file = namespace): string {
    const text = kubeconfigText(this.#port, this.#workspace.path("api.crt"), token, namespace);
    return this.#workspace.write(`kubeconfig-${file}`, text);
  }

  /** `release`: of the definitions of the Gateway API. */
  static async start(
    scope: ApiScope = "objects",
    release: string = RELEASE,
  ): Promise<KubernetesApi> {
    const workspace = new Workspace({ "tokens.csv": "admin-token,admin,admin,system:masters\n" });
    writeKeys(workspace);
    const api = new KubernetesApi(workspace, await freePorts(3), scope);
    api.startEtcd();
    await api.startServer();
    if (scope === "pods") await api.#startControllers();
    await api.installGatewayApi("standard", release);
    await api.#install(customResourceDefinitions() as readonly TestObject[]);
    await api.#grantRoles();
    return api;
  }

  /** Starts it with what it has on its disk. */
  startEtcd(): void {
    const own = `http://127.0.0.1:${this.#etcdPort}`;
    const peer = `http://127.0.0.1:${this.#peerPort}`;
    this.#etcd = new TestProcess(path.join(home, "bin", "etcd"), [
      ...["--data-dir", this.#workspace.path("etcd"), "--unsafe-no-fsync", "--log-level", "warn"],
      ...["--listen-client-urls", own, "--advertise-client-urls", own],
      ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer],
      ...["--initial-cluster", `default=${peer}`],
    ]);
  }

  async startServer(): Promise<void> {
    const file = (name: string) => this.#workspace.path(name);
    this.#server = new TestProcess(path.join(home, "bin", "kube-apiserver"), [
      ...["--etcd-servers", `http://127.0.0.1:${this.#etcdPort}`, "--bind-address", "127.0.0.1"],
      ...["--secure-port", String(this.#port), "--service-cluster-ip-range", "10.96.0.0/16"],
      ...["--tls-cert-file", file("api.crt"), "--tls-private-key-file", file("api.key")],
      ...["--token-auth-file", file("tokens.csv"), "--authorization-mode", "RBAC"],
      ...["--endpoint-reconciler-type", "none"],
      ...["--kubelet-preferred-address-types", "InternalIP"],
      // Nobody makes the accounts that the plugin asks of every pod when there are objects alone.
      ...(this.#scope === "objects" ? ["--disable-admission-plugins", "ServiceAccount"] : []),
      ...["--service-account-issuer", "https://kubernetes.default.svc"],
      ...["--service-account-key-file", file("sa.key")],
      ...["--service-account-signing-key-file", file("sa.key")],
      ...["--cert-dir", file("certs")],
      ...this.audit.options,
      // Some clusters ask for the right to hold up the end of an owner.
      ...["--enable-admission-plugins", "OwnerReferencesPermissionEnforcement"],
    ]);
    const isReady = () => this.ask("GET", "/readyz").then(({ status }) => status === 200 || null);
    await eventually(() => isReady().catch(() => null), "the API server");
  }

  /** Creates pods of Deployments, assigns nodes to them, and writes the endpoints of Services. */
  async #startControllers(): Promise<void> {
    for (const name of ["kube-controller-manager", "kube-scheduler"])
      new TestProcess(path.join(home, "bin", name), [
        ...["--kubeconfig", this.kubeconfig, "--authentication-kubeconfig", this.kubeconfig],
        ...["--authorization-kubeconfig", this.kubeconfig, "--leader-elect=false"],
        ...["--bind-address", "127.0.0.1", "--secure-port", String(await freePort())],
        ...(name === "kube-scheduler"
          ? []
          : [
              ...["--service-account-private-key-file", this.#workspace.path("sa.key")],
              ...["--root-ca-file", this.#workspace.path("api.crt")],
            ]),
      ]);
    await eventually(
      async () => (await this.get("v1", "ServiceAccount", "default", "default")) ?? null,
      "the account of a namespace",
    );
  }

  /** Starts again what has ended with the test that started it. */
  async restore(): Promise<void> {
    if (this.#etcd?.hasEnded !== false) this.startEtcd();
    if (this.#server?.hasEnded !== false) await this.startServer();
  }

  /** Ends the database of the API server at once. */
  async killEtcd(): Promise<void> {
    await this.#etcd?.stop("SIGKILL");
  }

  /** Ends the API server at once; etcd keeps what it said. */
  async killServer(): Promise<void> {
    await this.#server?.stop("SIGKILL");
  }

  /** Sends a request as an administrator. */
  ask(method: string, url: string, body?: unknown, type?: string, accept?: string): Promise<Said> {
    return this.askText(
      method,
      url,
      body === undefined ? undefined : JSON.stringify(body),
      type,
      accept,
    );
  }

  /** The same with a body that is text already. */
  askText(
    method: string,
    url: string,
    body?: string,
    type = "application/json",
    accept = "application/json",
  ): Promise<Said> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: "Bearer admin-token", "content-type": type, accept };
      const ca = readFileSync(this.#workspace.path("api.crt"));
      const options = { host: "127.0.0.1", port: this.#port, path: url, method, headers, ca };
      const sent = request(options, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (piece: string) => {
          text += piece;
        });
        response.on("end", () => {
          const isJson = /json/.test(response.headers["content-type"] ?? "");
          resolve({ status: response.statusCode ?? 0, body: isJson ? JSON.parse(text) : text });
        });
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }

  /** Makes or changes objects, as `kubectl apply --server-side` does. */
  async apply(...objects: readonly TestObject[]): Promise<void> {
    for (const object of objects) {
      const { metadata } = object;
      const url = `${this.url(object)}?fieldManager=test&force=true`;
      const said = await this.ask("PATCH", url, object, "application/apply-patch+yaml");
      if (said.status >= 300)
        throw new Error(`${object.kind} ${metadata.name}: ${JSON.stringify(said.body)}`);
    }
  }

  /** Makes or changes what a text of YAML documents says. */
  applyText(text: string): Promise<void> {
    return this.apply(...parseAllDocuments(text).map((each) => each.toJS() as TestObject));
  }

  /** An object as it is now; undefined when it is not there. */
  // biome-ignore lint/suspicious/noExplicitAny: JSON of many shapes, which each test knows.
  async get(apiVersion: string, kind: string, namespace: string, name: string): Promise<any> {
    const said = await this.ask(
      "GET",
      this.url({ apiVersion, kind, metadata: { name, namespace } }),
    );
    return said.status === 200 ? said.body : undefined;
  }

  async delete(object: Pick<TestObject, "apiVersion" | "kind" | "metadata">): Promise<void> {
    await this.ask("DELETE", this.url(object));
  }

  url({
    apiVersion,
    kind,
    metadata,
  }: Pick<TestObject, "apiVersion" | "kind" | "metadata">): string {
    const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const place = WITHOUT_NAMESPACE.has(kind)
      ? ""
      : `/namespaces/${metadata.namespace ?? "default"}`;
    return `${root}${place}/${pluralOf(kind)}/${metadata.name}`;
  }

  /** Installs the definitions of the Gateway API over those that there are. */
  async installGatewayApi(
    channel: "standard" | "experimental",
    release: string = RELEASE,
  ): Promise<void> {
    const files = globSync(`${definitions(release)}/${channel}/*.yaml`);
    const all = files.flatMap((file) =>
      parseAllDocuments(readFileSync(file, "utf8")).map((each) => each.toJS() as TestObject),
    );
    await this.#install(all.filter(({ kind }) => kind === "CustomResourceDefinition"));
  }

  async #grantRoles(): Promise<void> {
    await this.applyText(controllerRoles());
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "gwc" } };
    await this.apply(account);
    const spec = { expirationSeconds: 86_400 };
    const { body } = await this.ask("POST", `${this.url(account)}/token`, { spec });
    this.controllerKubeconfig = this.kubeconfigOf(body.status.token, "default", "controller");
  }

  async #install(crds: readonly TestObject[]): Promise<void> {
    await Promise.all(crds.map((each) => this.apply(each)));
    for (const each of crds)
      await eventually(async () => {
        const { body } = await this.ask("GET", this.url(each));
        const conditions: { type: string; status: string }[] = body.status?.conditions ?? [];
        return conditions.some((c) => c.type === "Established" && c.status === "True") || null;
      }, each.metadata.name);
  }
}

const WITHOUT_NAMESPACE = new Set([
  ...["CustomResourceDefinition", "GatewayClass", "Namespace"],
  ...["ClusterRole", "ClusterRoleBinding", "ValidatingWebhookConfiguration"],
]);

function pluralOf(kind: string): string {
  const word = kind.toLowerCase();
  if (word.endsWith("parameters")) return word;
  if (/(s|x|ch)$/.test(word)) return `${word}es`;
  return /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`;
}

/** The roles of the chart with all that may be turned on, for an account `gwc` of the namespace `default`. */
function controllerRoles(): string {
  const file = path.join(root, "templates", "helm", "gwc", "templates", "roles.yaml");
  return readFileSync(file, "utf8")
    .replaceAll("{{ $name }}", "gwc")
    .replaceAll("{{ .Release.Namespace }}", "default")
    .replaceAll(
      "{{- toYaml $subject | nindent 4 }}",
      "{ kind: ServiceAccount, name: gwc, namespace: default }",
    )
    .replaceAll(/^.*\{\{.*$/gm, "");
}

function kubeconfigText(port: number, ca: string, token: string, namespace: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    clusters: [
      {
        name: "test",
        cluster: { server: `https://127.0.0.1:${port}`, "certificate-authority": ca },
      },
    ],
    users: [{ name: "admin", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "admin", namespace } }],
  });
}

function writeKeys(workspace: Workspace): void {
  const file = (name: string) => workspace.path(name);
  const quiet = { stdio: "ignore" } as const;
  execFileSync(
    program("openssl"),
    [
      ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test"],
      ...["-keyout", file("api.key"), "-out", file("api.crt")],
      ...["-addext", "subjectAltName=IP:127.0.0.1"],
    ],
    quiet,
  );
  execFileSync(program("openssl"), ["genrsa", "-out", file("sa.key"), "2048"], quiet);
}
