import { startController } from "./controller.ts";
import { freePorts } from "./free-port.ts";
import { frontManifest, gatewayClass } from "./gateway-class.ts";
import { GwcProcess } from "./gwc.ts";
import { KubernetesApi } from "./kubernetes-api.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { Workspace } from "./workspace.ts";

/**
 * An API server with one Gateway, `front` in the namespace `default`, and the settings for its controller and data
 * planes. The test starts these.
 */
export class FrontGateway {
  readonly api: KubernetesApi;
  /** Of its listener, on loopback. */
  readonly port: number;
  /** Address at which a controller serves data planes. */
  readonly xdsPort: number;
  readonly #others: readonly number[];

  private constructor(api: KubernetesApi, ports: readonly number[]) {
    const [port = 0, xdsPort = 0, ...others] = ports;
    this.api = api;
    this.port = port;
    this.xdsPort = xdsPort;
    this.#others = others;
  }

  static async start(): Promise<FrontGateway> {
    const front = new FrontGateway(await KubernetesApi.start(), await freePorts(4));
    await front.api.applyText(`${gatewayClass}---${frontManifest(front.port)}---
apiVersion: v1
kind: ServiceAccount
metadata: { name: front }
`);
    await front.parameters();
    return front;
  }

  /** Sets the Gateway's parameters: fields of their `spec`, in one line each, and the ports of its data plane. */
  async parameters(...fields: readonly string[]): Promise<void> {
    const [stats, ready] = this.#others;
    await this.api.applyText(`
apiVersion: gwc.dev/v1alpha1
kind: GatewayParameters
metadata: { name: front }
spec:
  ${fields.join("\n  ")}
  rawConfig:
    config: { statsAddr: "127.0.0.1:${stats}", readinessAddr: "127.0.0.1:${ready}" }
`);
  }

  /** A controller that data planes can reach. */
  startController(...options: readonly string[]): GwcProcess {
    return startController(this.api, "--xds-port", String(this.xdsPort), ...options);
  }

  /** A token of an account as the kubelet makes it for a pod. */
  async token(account = "front", audience = "gwc.dev/controller"): Promise<string> {
    const url = `/api/v1/namespaces/default/serviceaccounts/${account}/token`;
    const spec = { audiences: [audience], expirationSeconds: 7200 };
    return (await this.api.ask("POST", url, { spec })).body.status.token;
  }

  /** The variables of a data plane: those of its pod, with a folder and a token of its own. */
  async dataPlane(account?: string): Promise<Record<string, string>> {
    return {
      ...{ XDS_ADDRESS: `http://127.0.0.1:${this.xdsPort}`, NAMESPACE: "default" },
      ...{ GATEWAY: "front", SERVICE_ACCOUNT: "front", GWC_AGENT_DIR: temporaryFolder() },
      XDS_TOKEN_FILE: new Workspace({ token: await this.token(account) }).path("token"),
    };
  }

  /** The port of the data plane's metrics. */
  get statsPort(): number {
    return this.#others[0] ?? 0;
  }

  /** The status of the data plane's readiness page. */
  async readiness(): Promise<number> {
    const [, ready] = this.#others;
    return (await fetch(`http://127.0.0.1:${ready}/healthz/ready`)).status;
  }

  /** A data plane with variables of its own besides; resolves when it serves. */
  async startDataPlane(env: Readonly<Record<string, string>> = {}): Promise<GwcProcess> {
    const agent = new GwcProcess(["agent"], { env: { ...(await this.dataPlane()), ...env } });
    await agent.seen(/serving generation/);
    return agent;
  }
}
