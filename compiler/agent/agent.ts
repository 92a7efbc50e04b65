import { createPublicKey, type KeyObject, verify } from "node:crypto";
import type { DiscoveryClient, ResourceChange } from "../../runtime/discovery/discovery-client.ts";
import type {
  Generation,
  resourceTypes,
  SignedGeneration,
} from "../../runtime/discovery/resource-types.ts";
import type { BuildInfo } from "../../runtime/gateway/build-info.ts";
import type { Gateway } from "../../runtime/gateway/definition.ts";
import type { RunningGateway } from "../../runtime/gateway/gateway.ts";
import type { ThreadGroup } from "../../runtime/gateway/workers/thread-group.ts";
import type { UpstreamSettings } from "../../runtime/http/upstream/upstream.ts";
import type { PodAddress } from "../../runtime/net/service-endpoints.ts";
import { runtimeDigest, threadModule } from "../installation.ts";
import { AgentStore } from "./agent-store.ts";
import { ImportedModules } from "./imported-modules.ts";
import { ModuleOrigins } from "./module-origins.ts";
import { OpenPorts, withoutPorts } from "./open-ports.ts";
import type { AgentCode, AgentNews } from "./thread-messages.ts";

/** Settings of an agent. */
export interface AgentSettings {
  readonly controller: UpstreamSettings;
  /** `NAMESPACE/NAME` of its Gateway. */
  readonly gateway: string;
  /** Name of the pod. */
  readonly node: string;
  /** Folder for persisted state. */
  readonly folder: string;
  /**
   * Public key of the controller whose code it runs, as SubjectPublicKeyInfo in base64; `undefined` to trust any
   * controller.
   */
  readonly signer: string | undefined;
  readonly log: (level: "info" | "warn" | "error", message: string) => void;
  /** Called when the gateway serves for the first time. */
  readonly serving: (running: Pick<RunningGateway, "close">) => void;
}

/** A gateway that serves generations, with one thread or several. */
interface Serving extends Pick<RunningGateway, "changeRefused" | "close"> {
  replace(next: Gateway, build: BuildInfo, code: AgentCode): Promise<void>;
}

/** Parts of the runtime that the agent uses, shared with generated code. */
interface RuntimeParts {
  readonly types: typeof resourceTypes;
  readonly setEndpoints: (port: string, pods: readonly PodAddress[] | undefined) => void;
}

/** Serves the generations of a Gateway that a controller sends, and the data that they read. */
export class Agent {
  readonly #settings: AgentSettings;
  readonly #store: AgentStore;
  readonly #runtime: RuntimeParts;
  #running: Serving | undefined;
  /** Threads that serve, if there are several; this one does not serve then. */
  #threads: ThreadGroup | undefined;
  #client: DiscoveryClient | undefined;
  readonly #origins = new ModuleOrigins();
  readonly #imported = new ImportedModules();
  readonly #ports = new OpenPorts();
  /** Digest of the served generation. */
  #served = "";

  private constructor(settings: AgentSettings, runtime: RuntimeParts) {
    this.#settings = settings;
    this.#runtime = runtime;
    this.#store = new AgentStore(settings.folder);
  }

  /** Serves the last generation, if there is one, and follows the controller from then on. */
  static async open(settings: AgentSettings): Promise<Agent> {
    const { resourceTypes: types } = await import("gwc/runtime/discovery/resource-types");
    const { setEndpoints } = await import("gwc/runtime/net/service-endpoints");
    const { DiscoveryClient: Client } = await import("gwc/runtime/discovery/discovery-client");
    const agent = new Agent(settings, { types, setEndpoints });
    await agent.#restore();
    const { controller, gateway, node, log } = settings;
    agent.#client = new Client({
      ...{ controller, gateway, node, log },
      known: (type) => agent.#known(type),
      take: (change) => agent.#take(change),
    });
    return agent;
  }

  stop(): void {
    this.#client?.stop();
  }

  /** Returns the versions that the controller need not send again. */
  #known(type: string): Readonly<Record<string, string>> {
    // If no generation is served, the controller sends all resources, because those on disk may be damaged.
    if (this.#running === undefined) return {};
    // A generation that lacks ports is sent again, so that the controller learns of them.
    const isLacking = type === this.#runtime.types.generation && this.#ports.unopened.length > 0;
    return isLacking ? {} : this.#store.versions(type);
  }

  async #restore(): Promise<void> {
    process.env.GWC_SECRETS_DIR = this.#store.secrets;
    process.env.GWC_CONFIG_MAPS_DIR = this.#store.configMaps;
    Object.assign(process.env, this.#store.variables);
    for (const [port, pods] of Object.entries(this.#store.endpoints))
      this.#runtime.setEndpoints(port, podsOf(pods));
    const signed = this.#store.generation;
    if (signed === undefined) return;
    try {
      const generation = this.#checked(signed);
      await this.#serve(generation);
      this.#settings.log("info", `serving generation ${generation.configDigest} from disk`);
    } catch (error) {
      this.#settings.log("error", `the last generation cannot be served: ${String(error)}`);
    }
  }

  /** Resolves with the ports that a generation lacks, as JSON. */
  async #take({ type, changed, removed }: ResourceChange): Promise<string | undefined> {
    const { types } = this.#runtime;
    if (type === types.generation) {
      for (const { value } of changed) await this.#takeGeneration(signedOf(textOf(value)));
    } else {
      for (const { name, value } of changed) this.#put(type, name, textOf(value));
      for (const name of removed) this.#remove(type, name);
    }
    this.#store.note(type, changed, removed);
    const { unopened } = this.#ports;
    return type === types.generation && unopened.length > 0 ? JSON.stringify(unopened) : undefined;
  }

  #put(type: string, name: string, text: string): void {
    const { types } = this.#runtime;
    switch (type) {
      case types.module:
        this.#store.putModule(name, text);
        return;
      case types.secret:
        this.#store.putFiles(this.#store.secrets, name, entriesOf(text));
        return;
      case types.configMap:
        this.#store.putFiles(this.#store.configMaps, name, entriesOf(text));
        return;
      case types.variable:
        process.env[name] = text;
        this.#store.setVariable(name, text);
        return;
      case types.endpoints: {
        this.#setEndpoints(name, podsOf(JSON.parse(text)));
      }
    }
  }

  #remove(type: string, name: string): void {
    const { types } = this.#runtime;
    switch (type) {
      case types.module:
        this.#store.removeModule(name);
        return;
      case types.secret:
        this.#store.removeFiles(this.#store.secrets, name);
        return;
      case types.configMap:
        this.#store.removeFiles(this.#store.configMaps, name);
        return;
      case types.variable:
        // Code that is still running may have read it; it is gone after the next restart.
        this.#store.setVariable(name, undefined);
        return;
      case types.endpoints:
        this.#setEndpoints(name, undefined);
    }
  }

  #setEndpoints(port: string, pods: readonly PodAddress[] | undefined): void {
    this.#store.setEndpoints(port, pods);
    this.#runtime.setEndpoints(port, pods);
    this.#threads?.notify({ port, pods } satisfies AgentNews);
  }

  /** Serves a generation; if that fails, the previous one stays in service, and the error contains the reason. */
  async #takeGeneration(signed: SignedGeneration): Promise<void> {
    const generation = await this.#change(signed).catch((error) => {
      this.#running?.changeRefused();
      throw error;
    });
    this.#store.setGeneration(signed);
    this.#settings.log("info", `serving generation ${generation.configDigest}`);
  }

  async #change(signed: SignedGeneration): Promise<Generation> {
    const generation = this.#checked(signed);
    // A generation that is already served but lacks ports, or could not be persisted, is sent again.
    if (generation.configDigest !== this.#served || (await this.#ports.haveChanged()))
      await this.#serve(generation);
    return generation;
  }

  /** Throws unless the generation belongs to this Gateway and is signed by its controller. */
  #checked({ generation: text, signature }: SignedGeneration): Generation {
    const { signer, gateway } = this.#settings;
    const isGood =
      signer === undefined ||
      verify(undefined, Buffer.from(text), keyOf(signer), Buffer.from(signature, "base64"));
    if (!isGood) throw new Error("the generation is not signed by the controller of this pod");
    // The controller only signs objects of this type; modules are verified by their digests.
    const generation = JSON.parse(text) as Generation;
    if (generation.gateway !== gateway)
      throw new Error(`the generation belongs to ${generation.gateway}`);
    // During an upgrade of gwc, pods of the previous release continue with their generation until they are replaced.
    if (generation.runtime !== runtimeDigest())
      throw new Error(
        `the generation is for another release of gwc (${generation.version}, runtime ${generation.runtime}) than this pod's (runtime ${runtimeDigest()})`,
      );
    return generation;
  }

  async #serve(generation: Generation): Promise<void> {
    const { variables } = this.#store;
    const modules = this.#origins.of(this.#store.modulesOf(generation), variables);
    // A module that cannot be loaded in this thread must not affect the serving ones.
    const whole = await this.#imported.load(modules);
    const unopened = await this.#ports.missingOf(whole);
    const closed = unopened.map(({ port }) => port);
    const gateway = withoutPorts(whole, closed);
    const { version, configDigest } = generation;
    const build = { version, configDigest };
    const code = { modules, variables, closed };
    if (this.#running === undefined) {
      this.#running = await this.#open(gateway, build, code);
      this.#settings.serving(this.#running);
    } else {
      await this.#running.replace(gateway, build, code);
      this.#tellIdle(await wantedThreads(gateway));
    }
    this.#served = configDigest;
    this.#ports.served(whole, unopened);
    for (const { problem } of unopened) this.#settings.log("warn", problem);
  }

  async #open(gateway: Gateway, build: BuildInfo, code: AgentCode): Promise<Serving> {
    if ((await wantedThreads(gateway)) > 1) {
      const { ThreadGroup: Group } = await import("gwc/runtime/gateway/workers/thread-group");
      const threads = new Group(gateway, {
        script: threadModule("agent/agent-thread").href,
        ...{ build, code },
        notices: () => this.#news(),
      });
      await threads.open();
      this.#threads = threads;
      return threads;
    }
    const { openGateway } = await import("gwc/runtime/gateway/gateway");
    const alone: Gateway = { ...gateway, workerThreads: 1 };
    return openGateway(alone, { defaultAddress: EVERY_ADDRESS, build });
  }

  /** All news that threads have been notified of. */
  #news(): readonly AgentNews[] {
    return Object.entries(this.#store.endpoints).map(([port, pods]) => ({
      port,
      pods: podsOf(pods),
    }));
  }

  /**
   * Logs that a change of the number of threads needs a restart: a port that one thread has opened alone cannot be
   * shared.
   */
  #tellIdle(wanted: number): void {
    if (this.#threads === undefined && wanted > 1)
      this.#settings.log(
        "warn",
        `${wanted} threads are configured: one serves until this process restarts`,
      );
  }
}

async function wantedThreads(gateway: Gateway): Promise<number> {
  const { workerCount } = await import("gwc/runtime/gateway/workers/worker-count");
  return workerCount(gateway, process.env.WORKER_THREADS);
}

/** Returns the key for verifying signatures. */
function keyOf(signer: string): KeyObject {
  return createPublicKey({ key: Buffer.from(signer, "base64"), format: "der", type: "spki" });
}

/** A pod listens on its own address, which other pods connect to. */
const EVERY_ADDRESS = "0.0.0.0";

function textOf(value: Uint8Array): string {
  return Buffer.from(value).toString("utf8");
}

/** Parses a signed generation; anything else fails the signature check. */
function signedOf(text: string): SignedGeneration {
  return JSON.parse(text) as SignedGeneration;
}

/** Parses entries; the values are in base64. */
function entriesOf(text: string): Readonly<Record<string, string>> {
  return JSON.parse(text) as Readonly<Record<string, string>>;
}

function podsOf(value: unknown): readonly PodAddress[] {
  return Array.isArray(value) ? value.filter(isPodAddress) : [];
}

function isPodAddress(value: unknown): value is PodAddress {
  if (!Array.isArray(value)) return false;
  const [address, port, account] = value;
  const isNamed = account === undefined || typeof account === "string";
  return typeof address === "string" && typeof port === "number" && isNamed;
}
