import type { DiscoveryServer, Settled } from "../../../runtime/discovery/discovery-server.ts";
import type {
  ResourceSet,
  ResourceUrl,
  resourceTypes,
  UnopenedPort,
} from "../../../runtime/discovery/resource-types.ts";
import { valueOfJson } from "../../schema/value-of-json.ts";
import type { ApiServer } from "../kubernetes/api-server.ts";
import type { GatewayCode } from "../model/compile-changes.ts";
import { ownerOf } from "../model/gateway-owner.ts";
import type { ValueKeys, WatchedObjects } from "../model/watched-objects.ts";
import { RateBound } from "../operation/rate-bound.ts";
import { DataPlaneIdentity } from "./data-plane-identity.ts";
import { EndpointResources } from "./endpoint-resources.ts";
import {
  type CodeResources,
  codeResources,
  dataResources,
  type GatewayResourceSets,
  readBy,
} from "./gateway-resources.ts";
import { ReplicaReports, type TakenCode } from "./replica-reports.ts";
import type { Signer } from "./signing-key.ts";
import { plainLine, unopenedPorts } from "./unopened-ports.ts";
import { ValueResources } from "./value-resources.ts";

/** Result of a delivery at the data planes of a Gateway. */
export type DeliveryState =
  /** No data plane is connected, or not all have said. */
  | { readonly kind: "pending"; readonly connected: number }
  /** All have taken it; `generation` is that of the Gateway whose code they took. */
  | {
      readonly kind: "taken";
      readonly generation: number;
      /** Services (`NAMESPACE/NAME`) with pods that are not called: their mesh takes HBONE. */
      readonly uncalled: readonly string[];
      /** Ports that a data plane cannot open. */
      readonly unopened: readonly UnopenedPort[];
    }
  | { readonly kind: "refused"; readonly problem: string };

/** Dependencies and listeners of delivery. */
export interface DeliverySettings {
  readonly api: ApiServer;
  readonly objects: WatchedObjects;
  readonly signer: Signer;
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** The state of a Gateway has changed. */
  readonly changed: () => void;
  /** Namespace of the controller, and the name of this replica. */
  readonly namespace: string;
  readonly identity: string;
  readonly log: (level: "info" | "warn", message: string) => void;
}

/** A Gateway as it is delivered. */
interface Delivered {
  readonly compiled: GatewayCode;
  readonly code: CodeResources;
  data: GatewayResourceSets;
  /** The generation of the Gateway that was compiled. */
  readonly generation: number;
  /** Those of all objects, by `KIND NAMESPACE/NAME`. */
  readonly generations: ReadonlyMap<string, number>;
}

/** Code that all data planes of a Gateway have taken. */
interface Programmed {
  /** The generation of the Gateway that was compiled. */
  readonly generation: number;
  /** The generations of all objects that were compiled with it. */
  readonly generations: ReadonlyMap<string, number>;
}

/** Result of a delivery at a data plane that is connected to this replica. */
interface ConnectedPlane {
  /** Of the generation that it said something of; empty: it has not said yet. */
  version: string;
  /** Refused changes, by type: the data plane keeps its previous state. */
  readonly problems: Map<string, string>;
  /** Its ports that it cannot open. */
  unopened: readonly UnopenedPort[];
}

/** Response to a data plane while this replica has not compiled anything yet. */
const STARTING = "the controller is starting";

/** Log lines of what callers did wrong: at once, and each second from then on. */
const WARNINGS = 50;
const WARNINGS_PER_SECOND = 1;

/** Delivers compiled Gateways to their data planes: code by digest, everything else as data. */
export class Delivery {
  readonly #settings: DeliverySettings;
  readonly #types: typeof resourceTypes;
  readonly #identity: DataPlaneIdentity;
  readonly #reports: ReplicaReports;
  readonly #pods: EndpointResources;
  readonly #values: ValueResources;
  readonly #delivered: Map<string, Delivered> = new Map();
  /** By Gateway, then by stream. */
  readonly #taken: Map<string, Map<number, ConnectedPlane>> = new Map();
  /** The generations that all data planes of each Gateway have taken. */
  readonly #programmed: Map<string, Programmed> = new Map();
  #server: DiscoveryServer | undefined;
  /** Whether what is declared was compiled once: until then it is not known which Gateways there are. */
  #isReady = false;
  readonly #warnings = new RateBound(WARNINGS, WARNINGS_PER_SECOND);
  /** Warnings that were not logged since the last one that was. */
  #untold = 0;
  /** Refusals of data planes. */
  refusals = 0;

  private constructor(settings: DeliverySettings, types: typeof resourceTypes) {
    this.#settings = settings;
    this.#types = types;
    this.#identity = new DataPlaneIdentity(settings.api);
    this.#pods = new EndpointResources(settings.objects);
    this.#values = new ValueResources(settings.objects);
    const { api, namespace, identity, log } = settings;
    this.#reports = new ReplicaReports({
      ...{ api, namespace, identity },
      own: () =>
        new Map([...this.#taken.keys()].map((gateway) => [gateway, this.#ownPlanes(gateway)])),
      changed: () => {
        for (const gateway of this.#delivered.keys()) this.#judge(gateway);
      },
      warn: (message) => log("warn", message),
    });
  }

  /** Opens the port; data planes are served what `deliver` says from then on. */
  static async open(settings: DeliverySettings): Promise<Delivery> {
    const { resourceTypes: types } = await import("gwc/runtime/discovery/resource-types");
    const { DiscoveryServer: Server } = await import("gwc/runtime/discovery/discovery-server");
    const { GrpcError } = await import("gwc/runtime/grpc/status");
    const { grpcStatus } = await import("gwc/runtime/http/grpc-status");
    const delivery = new Delivery(settings, types);
    const { host, port, tls } = settings;
    delivery.#server = await Server.open({
      host,
      port,
      ...(tls === undefined ? {} : { tls }),
      authorize: async (token, named) => {
        const gateway = plainText(named);
        if (!delivery.#isReady) throw new GrpcError(grpcStatus.unavailable, STARTING);
        const problem = await delivery.#problemOf(token, gateway);
        if (problem === undefined) return;
        delivery.#warn(`a data plane of ${gateway} was refused: ${problem}`);
        throw new GrpcError(grpcStatus.permissionDenied, problem);
      },
      resources: (gateway, type) => delivery.#resources(gateway, type),
      settled: (settled) => delivery.#settle(settled),
      connected: (gateway, stream, isThere) => delivery.#connect(gateway, stream, isThere),
    });
    return delivery;
  }

  get port(): number {
    return this.#server?.port ?? 0;
  }

  /** Data planes that are connected. */
  get dataPlanes(): number {
    return this.#server?.size ?? 0;
  }

  /** Responses that were sent to data planes. */
  get pushes(): number {
    return this.#server?.pushes ?? 0;
  }

  /** New connections get this certificate. */
  useCertificate(pair: { readonly cert: string; readonly key: string }): void {
    this.#server?.useCertificate(pair);
  }

  /**
   * Replaces the code of Gateways; those that are not there any more or are another controller's are forgotten, those that
   * were refused stay.
   */
  deliver(
    gateways: ReadonlyMap<string, GatewayCode>,
    generations: ReadonlyMap<string, number>,
  ): void {
    const { objects } = this.#settings;
    this.#isReady = true;
    for (const key of this.#delivered.keys()) {
      const gateway = objects.find("Gateway", key);
      const isLeft = gateway === undefined || ownerOf(gateway, objects) === "another's";
      if (isLeft && !gateways.has(key)) this.#delivered.delete(key);
    }
    for (const [key, compiled] of gateways) {
      const before = this.#delivered.get(key)?.code;
      const code = codeResources(compiled, this.#types, this.#settings.signer, before);
      const generation = generations.get(`Gateway ${key}`) ?? 0;
      const data = dataResources(compiled, this.#values, this.#pods, this.#types);
      // Modules are kept as the bytes that are sent, and as nothing else.
      const kept = { ...compiled, modules: [] };
      this.#delivered.set(key, { compiled: kept, code, data, generation, generations });
      this.#judge(key);
      this.#server?.push(key);
    }
  }

  /** Values that these Gateways read, and those that are delivered now. */
  valuesOf(gateways: ReadonlyMap<string, GatewayCode>): ValueKeys {
    const delivered = [...this.#delivered.values()].map(({ compiled }) => compiled);
    return readBy([...gateways.values(), ...delivered]);
  }

  /** Sends what changed of the data that code reads. */
  refreshData(): void {
    for (const [key, each] of this.#delivered) {
      each.data = dataResources(each.compiled, this.#values, this.#pods, this.#types);
      this.#server?.push(key);
    }
  }

  /** Every replica serves data planes; the one that leads writes what all of them made of their code. */
  set isLeading(isLeading: boolean) {
    this.#reports.isLeading = isLeading;
  }

  /** Result of a Gateway. */
  stateOf(gateway: string): DeliveryState {
    const all = this.#planesOf(gateway);
    const refused = all.find(({ problem }) => problem !== undefined);
    if (refused?.problem !== undefined)
      return {
        kind: "refused",
        problem: `a data plane keeps its previous state: ${refused.problem}`,
      };
    const generation = this.#programmed.get(gateway)?.generation;
    if (all.length === 0 || generation === undefined)
      return { kind: "pending", connected: all.length };
    const { services, isInMesh } = this.#delivered.get(gateway)?.compiled ?? {};
    const uncalled = isInMesh === true ? this.#pods.withHbone(services ?? []) : [];
    const unopened = all.flatMap((each) => each.unopened);
    return { kind: "taken", generation, uncalled, unopened };
  }

  /** Whether a data plane of a Gateway is connected that has not taken the newest code. */
  isBehind(gateway: string): boolean {
    const version = this.#delivered.get(gateway)?.code.version;
    return this.#planesOf(gateway).some(
      (each) => each.version !== version || each.problem !== undefined,
    );
  }

  /** The generations of all objects that the data planes of a Gateway serve; `undefined` if they have taken nothing yet. */
  servedGenerations(gateway: string): ReadonlyMap<string, number> | undefined {
    return this.#programmed.get(gateway)?.generations;
  }

  async close(): Promise<void> {
    this.#server?.close();
    await this.#reports.stop();
  }

  /** Why a caller is not a data plane of a Gateway; `undefined` if it is. */
  async #problemOf(token: string, gateway: string): Promise<string | undefined> {
    const compiled = this.#delivered.get(gateway)?.compiled;
    if (compiled === undefined) return `there is no Gateway ${gateway} of this controller`;
    const user = await this.#identity.userOf(token);
    const wanted = `system:serviceaccount:${compiled.namespace}:${compiled.name}`;
    if (user === undefined) return "its token is not good";
    return user === wanted ? undefined : `${user} is not ${wanted}`;
  }

  /** Anybody may be a caller, and make as many mistakes as it likes: what is beyond the bound is counted. */
  #warn(message: string): void {
    if (!this.#warnings.take()) {
      this.#untold += 1;
      return;
    }
    const others = this.#untold === 0 ? "" : ` (${this.#untold} others are not logged)`;
    this.#untold = 0;
    this.#settings.log("warn", `${message}${others}`);
  }

  #resources(gateway: string, type: string): ResourceSet {
    const { code, data } = this.#delivered.get(gateway) ?? {};
    // Unknown types have no resources.
    const url = type as ResourceUrl;
    return code?.sets.get(url) ?? data?.get(url) ?? new Map();
  }

  #connect(gateway: string, stream: number, isThere: boolean): void {
    const streams = this.#taken.get(gateway) ?? new Map<number, ConnectedPlane>();
    this.#taken.set(gateway, streams);
    if (isThere) streams.set(stream, { version: "", problems: new Map(), unopened: [] });
    else streams.delete(stream);
    this.#reports.report();
    this.#settings.log("info", `${gateway} has ${streams.size} data planes`);
    this.#judge(gateway);
  }

  #settle({ gateway, stream, type, versions, problem: said, lacking }: Settled): void {
    const problem = said === undefined ? undefined : plainText(said);
    if (problem !== undefined) {
      this.refusals += 1;
      this.#warn(`a data plane of ${gateway} refused a change: ${problem}`);
    }
    const plane = this.#taken.get(gateway)?.get(stream);
    if (plane === undefined) return;
    if (type === this.#types.generation) {
      plane.version = versions.get(gateway) ?? plane.version;
      const unopened = unopenedPorts(lacking === undefined ? undefined : valueOfJson(lacking));
      const known = plane.unopened.map(({ port }) => port);
      for (const each of unopened.filter(({ port }) => !known.includes(port)))
        this.#warn(`a data plane of ${gateway} serves without a port: ${each.problem}`);
      plane.unopened = unopened;
    }
    if (problem === undefined) plane.problems.delete(type);
    else plane.problems.set(type, problem);
    this.#reports.report();
    this.#judge(gateway);
  }

  /** All data planes of a Gateway have the same code: that is what it is programmed with. */
  #judge(gateway: string): void {
    const delivered = this.#delivered.get(gateway);
    const all = this.#planesOf(gateway);
    const isTaken = all.every(
      ({ version, problem }) => version === delivered?.code.version && problem === undefined,
    );
    if (delivered !== undefined && all.length > 0 && isTaken)
      this.#programmed.set(gateway, delivered);
    this.#settings.changed();
  }

  /** The data planes of a Gateway, whichever replica serves them. */
  #planesOf(gateway: string): readonly TakenCode[] {
    return [...this.#ownPlanes(gateway), ...this.#reports.ofGateway(gateway)];
  }

  #ownPlanes(gateway: string): readonly TakenCode[] {
    return [...(this.#taken.get(gateway)?.values() ?? [])].map((plane) => {
      const { version, unopened } = plane;
      const [problem] = plane.problems.values();
      return { version, problem, unopened };
    });
  }
}

/** Characters of what a caller says that are logged and told in a status. */
const MAX_TEXT = 600;

function plainText(text: string): string {
  return plainLine(text.slice(0, MAX_TEXT));
}
