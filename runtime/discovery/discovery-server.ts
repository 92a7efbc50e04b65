import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { AggregatedDiscoveryService } from "../grpc/gen/envoy/service/discovery/v3/ads_pb.ts";
import {
  type DeltaDiscoveryRequest,
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
} from "../grpc/gen/envoy/service/discovery/v3/discovery_pb.ts";
import { GrpcServer, type GrpcServerSettings, type ServerCall } from "../grpc/node/grpc-server.ts";
import { GrpcError } from "../grpc/status.ts";
import { grpcStatus } from "../http/grpc-status.ts";
import { SECOND } from "../process/units.ts";
import { DeltaStream } from "./delta-stream.ts";
import { type ResourceSet, resourceTypes } from "./resource-types.ts";

/** Who serves which resources to whom. */
export interface DiscoveryServerSettings extends Pick<GrpcServerSettings, "host" | "port" | "tls"> {
  /**
   * The Gateway that a caller is a data plane of, by the bearer token and the Gateway that it names (`NAMESPACE/NAME`).
   * Rejects with GrpcError when it is none.
   */
  readonly authorize: (token: string, gateway: string) => Promise<void>;
  /** The resources of a Gateway, by type. */
  readonly resources: (gateway: string, type: string) => ResourceSet;
  readonly settled: (settled: Settled) => void;
  /** A data plane has come or gone. */
  readonly connected: (gateway: string, stream: number, isThere: boolean) => void;
}

/** A data plane that is connected. */
interface Stream {
  readonly gateway: string;
  readonly delta: DeltaStream;
}

/** What a data plane made of a resource. */
export interface Settled {
  readonly gateway: string;
  /** The same for everything that one data plane says. */
  readonly stream: number;
  readonly type: string;
  /** Versions, by name. */
  readonly versions: ReadonlyMap<string, string>;
  /** Why it goes on without them; undefined: it has taken them. */
  readonly problem: string | undefined;
}

/** The metadata in which a data plane names its Gateway. */
export const GATEWAY_METADATA = "gwc-gateway";

const method = AggregatedDiscoveryService.method.deltaAggregatedResources;
/** Code comes after the data that it reads. */
const ORDER = Object.values(resourceTypes);

/** Who has no good token ends soon; data planes that come back all at once are fewer, and have one. */
const UNKNOWN = { max: 1_000, time: 20 * SECOND };

/** Serves the resources of Gateways to their data planes, by Envoy's delta discovery protocol. */
export class DiscoveryServer {
  readonly #settings: DiscoveryServerSettings;
  readonly #streams: Map<number, Stream> = new Map();
  #server: GrpcServer | undefined;
  #count = 0;
  /** Responses that were sent. */
  pushes = 0;

  private constructor(settings: DiscoveryServerSettings) {
    this.#settings = settings;
  }

  /** Opens the port; rejects when it can't. */
  static async open(settings: DiscoveryServerSettings): Promise<DiscoveryServer> {
    const server = new DiscoveryServer(settings);
    const { host, port, tls } = settings;
    server.#server = await GrpcServer.open({
      host,
      port,
      ...(tls === undefined ? {} : { tls }),
      unknown: UNKNOWN,
      path: `/${method.parent.typeName}/${method.name}`,
      accept: (call) => server.#accept(call),
    });
    return server;
  }

  get port(): number {
    return this.#server?.port ?? 0;
  }

  /** The number of data planes that are connected. */
  get size(): number {
    return this.#streams.size;
  }

  /** The resources of a Gateway have changed: its data planes get what they lack. */
  push(gateway: string): void {
    for (const each of this.#streams.values()) if (each.gateway === gateway) each.delta.push();
  }

  /** New connections get this certificate. */
  useCertificate(pair: { readonly cert: string; readonly key: string }): void {
    this.#server?.useCertificate(pair);
  }

  close(): void {
    this.#server?.close();
  }

  #accept(call: ServerCall): { onMessage(message: Uint8Array): void; onEnd(): void } {
    const stream = ++this.#count;
    const gateway = String(call.metadata[GATEWAY_METADATA] ?? "");
    const token = /^Bearer (.+)$/.exec(call.metadata.authorization ?? "")?.[1] ?? "";
    const delta = new DeltaStream({
      order: ORDER,
      resources: (type) => this.#settings.resources(gateway, type),
      settled: (type, versions, problem) =>
        this.#settings.settled({ gateway, stream, type, versions, problem }),
      send: (response) => {
        this.pushes += 1;
        const message = create(DeltaDiscoveryResponseSchema, response);
        call.send(toBinary(DeltaDiscoveryResponseSchema, message));
      },
    });
    const known = this.#settings.authorize(token, gateway).then(
      () => {
        this.#streams.set(stream, { gateway, delta });
        this.#settings.connected(gateway, stream, true);
        call.markKnown();
        return true;
      },
      (error: unknown) => {
        if (!(error instanceof GrpcError)) call.sendAway("the caller can't be checked now");
        else if (error.code === grpcStatus.unavailable) call.sendAway(error.message);
        else call.end(error.code, error.message);
        return false;
      },
    );
    return {
      onMessage: (message) => delta.receive(requestOf(message)),
      onEnd: () => {
        delta.stop();
        void known.then((isKnown) => {
          if (!isKnown) return;
          this.#streams.delete(stream);
          this.#settings.connected(gateway, stream, false);
        });
      },
    };
  }
}

/** Anybody may send anything: throws GrpcError where it is no request. */
function requestOf(message: Uint8Array): DeltaDiscoveryRequest {
  try {
    return fromBinary(DeltaDiscoveryRequestSchema, message);
  } catch {
    throw new GrpcError(grpcStatus.invalidArgument, "the message is no DeltaDiscoveryRequest");
  }
}
