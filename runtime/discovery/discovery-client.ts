import { setTimeout as pause } from "node:timers/promises";
import { type GrpcChannel, openGrpcChannel } from "../grpc/channel.ts";
import { AggregatedDiscoveryService } from "../grpc/gen/envoy/service/discovery/v3/ads_pb.ts";
import type { DeltaDiscoveryResponse } from "../grpc/gen/envoy/service/discovery/v3/discovery_pb.ts";
import type { UpstreamSettings } from "../http/upstream/upstream.ts";
import type { SharedConnection } from "../process/shared-connection.ts";
import { StartupError } from "../process/startup-error.ts";
import { SECOND } from "../process/units.ts";
import { LACKING_CODE, TRY_AGAIN_CODE } from "./delta-stream.ts";
import { GATEWAY_METADATA } from "./discovery-server.ts";
import { resourceTypes } from "./resource-types.ts";

/** Subscription of a data plane, and the handler of the responses. */
export interface DiscoveryClientSettings {
  readonly controller: UpstreamSettings;
  /** `NAMESPACE/NAME`. */
  readonly gateway: string;
  /** The pod that requests. */
  readonly node: string;
  /** Returns the versions that are here already, by name. */
  readonly known: (type: string) => Readonly<Record<string, string>>;
  /**
   * Applies a change of resources. Resolves with the parts that cannot be used now, `undefined` if all can. Rejects with the reason to report to
   * the controller; the old resources then stay in use.
   */
  readonly take: (change: ResourceChange) => Promise<string | undefined>;
  readonly log: (level: "info" | "warn" | "error", message: string) => void;
}

/** A change of the resources of a type. */
export interface ResourceChange {
  readonly type: string;
  readonly changed: readonly ChangedResource[];
  /** Names of removed resources. */
  readonly removed: readonly string[];
}

/** A resource with its new value. */
export interface ChangedResource {
  readonly name: string;
  readonly version: string;
  readonly value: Uint8Array;
}

/** First and longest pause before reconnecting to the controller, in milliseconds. */
const FIRST_PAUSE = 100;
const MAX_PAUSE = 5 * SECOND;
/** google.rpc.Code INVALID_ARGUMENT: the resources are invalid. */
const INVALID_ARGUMENT = 3;

const method = AggregatedDiscoveryService.method.deltaAggregatedResources;

/** Follows the resources of a Gateway, and reconnects when the stream ends. */
export class DiscoveryClient {
  readonly #settings: DiscoveryClientSettings;
  readonly #channel: GrpcChannel;
  readonly #connections: Map<string, SharedConnection> = new Map();
  /** Applies changes of all types in the order in which they arrived, across streams. */
  #work: Promise<void> = Promise.resolve();
  #failures = 0;
  #isStopped = false;
  #cancel: () => void = () => {};
  #isConnected = false;

  constructor(settings: DiscoveryClientSettings) {
    this.#settings = settings;
    this.#channel = openGrpcChannel(settings.controller);
    void this.#follow();
  }

  /** Whether there is a connection to the controller. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  async #follow(): Promise<void> {
    while (!this.#isStopped) {
      const reason = await this.#stream().catch((error: unknown) => String(error));
      if (this.#isConnected || this.#failures === 0)
        this.#settings.log("warn", `cannot follow the controller ${this.#channel.name}: ${reason}`);
      this.#isConnected = false;
      const longest = Math.min(MAX_PAUSE, FIRST_PAUSE * 2 ** this.#failures);
      this.#failures += 1;
      // Data planes must not reconnect all at the same moment.
      await pause(longest * (0.5 + Math.random() / 2));
    }
  }

  /** Runs one stream; resolves with why it ended. */
  async #stream(): Promise<string> {
    const { gateway, node, known, take, log } = this.#settings;
    let ended: (reason: string) => void = () => {};
    const end = new Promise<string>((resolve) => {
      ended = resolve;
    });
    const stream = await this.#channel.stream(
      { connections: this.#connections },
      method,
      {
        onMessage: (response) => {
          if (!this.#isConnected) log("info", `following ${gateway} of ${this.#channel.name}`);
          this.#isConnected = true;
          this.#failures = 0;
          const { typeUrl, nonce } = response;
          this.#work = this.#work
            .then(() => take(changeOf(response)))
            .then(
              (lacking) => {
                const errorDetail = lacking && { code: LACKING_CODE, message: lacking };
                stream.send({ typeUrl, responseNonce: nonce, ...(errorDetail && { errorDetail }) });
              },
              (error: unknown) => {
                const message = error instanceof Error ? error.message : String(error);
                log("error", `refused: ${message}`);
                const errorDetail = {
                  code: isOfMachine(error) ? TRY_AGAIN_CODE : INVALID_ARGUMENT,
                  message,
                };
                stream.send({ typeUrl, responseNonce: nonce, errorDetail });
              },
            )
            .then(() => {});
        },
        onEnd: (error) => ended(error?.message ?? "the controller ended the stream"),
      },
      { deadline: undefined, metadata: [GATEWAY_METADATA, gateway] },
    );
    const cancel = () => stream.cancel();
    this.#cancel = cancel;
    for (const typeUrl of Object.values(resourceTypes)) {
      const initialResourceVersions = { ...known(typeUrl) };
      stream.send({
        node: { id: node },
        typeUrl,
        resourceNamesSubscribe: ["*"],
        initialResourceVersions,
      });
    }
    return end;
  }
}

/** Whether the machine or the environment is why a change cannot be used, which may pass: a full disk, a port in use. */
function isOfMachine(error: unknown): boolean {
  return error instanceof Error && ("syscall" in error || error instanceof StartupError);
}

function changeOf({
  typeUrl,
  resources,
  removedResources,
}: DeltaDiscoveryResponse): ResourceChange {
  return {
    type: typeUrl,
    changed: resources.map(({ name, version, resource }) => ({
      name,
      version,
      value: resource?.value ?? new Uint8Array(),
    })),
    removed: removedResources,
  };
}
