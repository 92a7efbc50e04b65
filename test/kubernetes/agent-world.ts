import { generateKeyPairSync } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import {
  type CodeResources,
  codeResources,
} from "../../compiler/controller/delivery/gateway-resources.ts";
import { resourceOf } from "../../compiler/controller/delivery/resource-of.ts";
import { signerOf } from "../../compiler/controller/delivery/signing-key.ts";
import { CompileChanges } from "../../compiler/controller/model/compile-changes.ts";
import {
  type CompiledStatus,
  compileFiles,
} from "../../compiler/controller/model/compile-files.ts";
import { keptObject, manifestText } from "../../compiler/controller/model/watched-object.ts";
import { DiscoveryServer, type Settled } from "../../runtime/discovery/discovery-server.ts";
import { type ResourceSet, resourceTypes } from "../../runtime/discovery/resource-types.ts";
import { atEnd } from "../harness/at-end.ts";
import { eventually } from "../harness/eventually.ts";
import { expositionOf } from "../harness/exposition.ts";
import { fragileThreads } from "../harness/fragile-threads.ts";
import { freePorts } from "../harness/free-port.ts";
import { GwcProcess } from "../harness/gwc.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { Workspace } from "../harness/workspace.ts";
import type { TenantObject } from "./tenants.ts";

/** A generation: routes by their path prefixes, and settings of the process. */
export interface WorldGeneration {
  readonly routes: Readonly<Record<string, RouteTarget>>;
  readonly config?: object;
  /** Further manifests. */
  readonly objects?: readonly TenantObject[];
  /** Secrets by name, or NAME@NAMESPACE of another namespace than the Gateway's: each entry as it is. */
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Modules of policies that operators have published, by path: `policies/tenant.ts`. */
  readonly published?: Readonly<Record<string, string>>;
}

/** A text to respond with, or who does: an address (`127.0.0.1:9000`), an MCP server at one, or the pods of a Service. */
type RouteTarget =
  | { readonly text: string; readonly policy?: object }
  | { readonly server: string }
  | { readonly mcp: string }
  | { readonly service: string };

/** Data planes of a Gateway, and what gives them their generations as a controller does. */
export class AgentWorld {
  readonly port: number;
  readonly folder: string = temporaryFolder();
  /** The statuses of objects in the newest generation. */
  statuses: readonly CompiledStatus[] = [];
  /** The acknowledgements of data planes. */
  readonly said: Settled[] = [];
  readonly #stats: number;
  readonly #ready: number;
  readonly #signer = signerOf(
    generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  );
  readonly #changes = new CompileChanges();
  #sets: ReadonlyMap<string, ResourceSet> = new Map();
  #before: CodeResources | undefined;
  readonly #endpoints = new Map<string, ReturnType<typeof resourceOf>>();
  #server: DiscoveryServer | undefined;
  /** The working directory of the data plane. */
  #cwd = "";

  private constructor(ports: readonly number[]) {
    [this.port, this.#stats, this.#ready] = [ports[0] ?? 0, ports[1] ?? 0, ports[2] ?? 0];
  }

  static async start(first: WorldGeneration): Promise<AgentWorld> {
    const world = new AgentWorld(await freePorts(3));
    world.#use(first);
    const server = await DiscoveryServer.open({
      ...{ host: "127.0.0.1", port: 0 },
      authorize: () => Promise.resolve(),
      resources: (_, type) => world.#sets.get(type) ?? new Map(),
      settled: (settled) => world.said.push(settled),
      connected: () => {},
    });
    world.#server = server;
    atEnd(() => server.close());
    return world;
  }

  /**
   * Starts the agent. Its threads break down when `breakDown` triggers them, and load `preload` first. Resolves when it
   * serves.
   */
  async startAgent(threads: number, preload = ""): Promise<GwcProcess> {
    const fragile = fragileThreads(threads);
    this.#cwd = fragile.folder;
    this.write("preload.cjs", preload);
    const agent = new GwcProcess(["agent"], {
      cwd: fragile.folder,
      env: {
        NODE_OPTIONS: `${fragile.env.NODE_OPTIONS} --require ./preload.cjs`,
        XDS_ADDRESS: `http://127.0.0.1:${this.#server?.port}`,
        XDS_TOKEN_FILE: new Workspace({ token: "any" }).path("token"),
        ...{ NAMESPACE: "default", GATEWAY: "front", GWC_AGENT_DIR: this.folder },
        GWC_SIGNER: this.#signer.publicKey,
      },
    });
    await agent.seen(/serving generation/);
    return agent;
  }

  /** Ends a thread as a lack of memory would. */
  breakDown(index: number): void {
    this.write(`end-${index}`);
  }

  /** A file where the data plane runs. */
  write(name: string, text = ""): void {
    writeFileSync(path.join(this.#cwd, name), text);
  }

  remove(name: string): void {
    rmSync(path.join(this.#cwd, name));
  }

  /** Sends another generation; resolves with why data planes did not take it, or undefined when one did. */
  async push(generation: WorldGeneration): Promise<string | undefined> {
    this.send(generation);
    return this.settled();
  }

  send(generation: WorldGeneration): void {
    this.said.length = 0;
    this.#use(generation);
    this.#server?.push("default/front");
  }

  async settled(): Promise<string | undefined> {
    const own = await eventually(
      () =>
        this.said.find(
          ({ type, versions }) =>
            type === resourceTypes.generation &&
            versions.get("default/front") === this.#before?.version,
        ) ?? null,
      "what the data plane says of the generation",
    );
    return own.problem;
  }

  /** Says where the pods of a Service are: `default/NAME:PORT`. */
  async setPods(service: string, ports: readonly number[]): Promise<void> {
    this.said.length = 0;
    this.#endpoints.set(
      service,
      resourceOf(JSON.stringify(ports.map((port) => ["127.0.0.1", port]))),
    );
    this.#sets = new Map(this.#sets).set(resourceTypes.endpoints, this.#endpoints);
    this.#server?.push("default/front");
    await eventually(
      () => this.said.find(({ type }) => type === resourceTypes.endpoints) ?? null,
      "what the data plane says of the pods",
    );
  }

  figures(): ReturnType<typeof expositionOf> {
    return expositionOf(this.#stats);
  }

  /** The status of the readiness page. */
  async readiness(): Promise<number> {
    return (await fetch(`http://127.0.0.1:${this.#ready}/healthz/ready`)).status;
  }

  #use(generation: WorldGeneration): void {
    const ports = [this.port, this.#stats, this.#ready] as const;
    const files = { ...manifestsOf({ ...generation, ports }), ...generation.published };
    const compiled = compileFiles(files, undefined);
    this.statuses = compiled.statuses;
    const changed = this.#changes.of(compiled).gateways.at(0);
    if (changed === undefined) throw new Error(JSON.stringify(compiled.statuses));
    this.#before = codeResources(changed, resourceTypes, this.#signer, this.#before);
    const secrets = changed.secrets.flatMap((name) => {
      const entries = generation.secrets?.[name];
      return entries === undefined
        ? []
        : [[name, resourceOf(JSON.stringify(inBase64(entries)))] as const];
    });
    this.#sets = new Map([
      ...this.#before.sets,
      [resourceTypes.endpoints, this.#endpoints] as const,
      [resourceTypes.secret, new Map(secrets)] as const,
    ]);
  }
}

/** The manifests of a generation. `ports`: of its listener, its metrics and its readiness. */
export function manifestsOf({
  routes,
  config,
  objects = [],
  secrets = {},
  ports: [port, stats, ready],
}: WorldGeneration & { readonly ports: readonly [number, number, number] }): Record<
  string,
  string
> {
  const parametersRef = { group: "gwc.dev", kind: "GatewayParameters", name: "front" };
  const parameters = {
    statsAddr: `127.0.0.1:${stats}`,
    readinessAddr: `127.0.0.1:${ready}`,
    connectionMinTerminationDeadline: "0s",
    ...config,
  };
  const allowedRoutes = { namespaces: { from: "All" } };
  const listeners = [{ name: "http", port, protocol: "HTTP", allowedRoutes }];
  const all = [
    {
      ...{ apiVersion: API, kind: "GatewayClass", metadata: { name: "gwc" } },
      spec: { controllerName: "gwc.dev/gateway" },
    },
    object("Gateway", "front", {
      gatewayClassName: "gwc",
      infrastructure: { parametersRef },
      allowedListeners: { namespaces: { from: "All" } },
      listeners,
    }),
    object("GatewayParameters", "front", { rawConfig: { config: parameters } }),
    ...Object.entries(routes).flatMap(([name, target]) => routeObjects(name, target)),
    ...objects,
    ...Object.entries(secrets).map(([name, entries]) => watchedSecret(name, entries)),
  ];
  return Object.fromEntries(all.map((each, index) => [`/${index}`, JSON.stringify(each)]));
}

/** A Secret as a controller keeps it: without its values. */
function watchedSecret(id: string, entries: Readonly<Record<string, string>>): object {
  const [name = "", namespace = "default"] = id.split("@");
  const metadata = { name, namespace, labels: { of: namespace } };
  const secret = { apiVersion: "v1", kind: "Secret", metadata, data: inBase64(entries) };
  return JSON.parse(manifestText(keptObject(secret)));
}

function inBase64(entries: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const encoded = Object.entries(entries).map(
    ([key, value]) => [key, Buffer.from(value).toString("base64")] as const,
  );
  return Object.fromEntries(encoded);
}

const API = "gateway.networking.k8s.io/v1";

function object(kind: string, name: string, spec: object): object {
  const own = /^Gateway[A-Z]/.test(kind) ? "gwc.dev/v1alpha1" : API;
  const apiVersion = kind === "Service" ? "v1" : own;
  return { apiVersion, kind, metadata: { name, namespace: "default" }, spec };
}

function routeObjects(name: string, target: RouteTarget): readonly object[] {
  const { refs, rest } = targetObjects(name, target);
  const matches = [{ path: { type: "PathPrefix", value: `/${name}` } }];
  const rules = [{ matches, ...(refs.length > 0 && { backendRefs: refs }) }];
  return [object("HTTPRoute", name, { parentRefs: [{ name: "front" }], rules }), ...rest];
}

/** Returns the targets of a route, with the objects that define them. */
function targetObjects(
  name: string,
  target: RouteTarget,
): { readonly refs: readonly object[]; readonly rest: readonly object[] } {
  const place = (text: string) => {
    const [host, port] = text.split(":");
    return { host, port: Number(port) };
  };
  const refs = [{ group: "gwc.dev", kind: "GatewayBackend", name }];
  if ("server" in target)
    return { refs, rest: [object("GatewayBackend", name, { static: place(target.server) })] };
  if ("mcp" in target) {
    const targets = [{ name: "one", static: place(target.mcp) }];
    return { refs, rest: [object("GatewayBackend", name, { mcp: { targets } })] };
  }
  if ("service" in target)
    return {
      refs: [{ name: target.service, port: 80 }],
      rest: [object("Service", target.service, { ports: [{ port: 80 }] })],
    };
  const targetRefs = [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", name }];
  const directResponse = { status: 200, body: target.text };
  const traffic = { directResponse, ...target.policy };
  return { refs: [], rest: [object("GatewayPolicy", name, { targetRefs, traffic })] };
}
