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
import { DeltaStream, type SettledResult } from "./delta-stream.ts";
import { type ResourceSet, resourceTypes } from "./resource-types.ts";

/** Settings of the server. */
export interface DiscoveryServerSettings extends Pick<GrpcServerSettings, "host" | "port" | "tls"> {
  /**
   * Checks that a bearer token belongs to a data plane of the Gateway (`NAMESPACE/NAME`) that it names. Rejects with GrpcError
   * otherwise.
   */
  readonly authorize: (token: string, gateway: string) => Promise<void>;
  /** Returns the resources of a Gateway, by type. */
  readonly resources: (gateway: string, type: string) => ResourceSet;
  readonly settled: (settled: Settled) => void;
  /** A data plane has connected or disconnected. */
  readonly connected: (gateway: string, stream: number, isThere: boolean) => void;
}

/** A connected data plane. */
interface Stream {
  readonly gateway: string;
  readonly delta: DeltaStream;
}

/** A data plane's response to resources. */
export interface Settled extends SettledResult {
  readonly gateway: string;
  /** Identifies the data plane. */
  readonly stream: number;
  readonly type: string;
  /** Versions, by name. */
  readonly versions: ReadonlyMap<string, string>;
}

/** Metadata with the name of a data plane's Gateway. */
export const GATEWAY_METADATA = "gwc-gateway";

const method = AggregatedDiscoveryService.method.deltaAggregatedResources;
/** Code is sent after the data that it reads. */
const ORDER = Object.values(resourceTypes);

/**
 * Limits for callers whose token was not checked yet. Data planes that reconnect all at once are fewer, and their tokens are
 * valid.
 */
const UNKNOWN = { max: 1_000, time: 20 * SECOND };

/** Serves the resources of Gateways to their data planes, by Envoy's delta discovery protocol. */
export class DiscoveryServer {
  readonly #settings: DiscoveryServerSettings;
  readonly #streams: Map<number, Stream> = new Map();
  #server: GrpcServer | undefined;
  #count = 0;
  /** Number of responses sent. */
  pushes = 0;

  private constructor(settings: DiscoveryServerSettings) {
    this.#settings = settings;
  }

  /** Opens the port; rejects if that fails. */
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

  /** Number of connected data planes. */
  get size(): number {
    return this.#streams.size;
  }

  /** Sends the changes of a Gateway's resources to its data planes. */
  push(gateway: string): void {
    for (const each of this.#streams.values()) if (each.gateway === gateway) each.delta.push();
  }

  /** Sets the certificate of new connections. */
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
      settled: (type, versions, result) =>
        this.#settings.settled({ gateway, stream, type, versions, ...result }),
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
        if (!(error instanceof GrpcError)) call.sendAway("the caller cannot be verified now");
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

/** Parses a message, which may be anything. Throws GrpcError if it is not a request. */
function requestOf(message: Uint8Array): DeltaDiscoveryRequest {
  try {
    return fromBinary(DeltaDiscoveryRequestSchema, message);
  } catch {
    throw new GrpcError(grpcStatus.invalidArgument, "the message is not a DeltaDiscoveryRequest");
  }
}
