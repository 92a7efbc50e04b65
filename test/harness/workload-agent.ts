import { createPrivateKey, X509Certificate } from "node:crypto";
import path from "node:path";
import { promisify } from "node:util";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Server, ServerCredentials, type ServerWritableStream, status } from "@grpc/grpc-js";
import {
  type X509SVIDRequest,
  X509SVIDRequestSchema,
  type X509SVIDResponse,
  X509SVIDResponseSchema,
} from "../../runtime/grpc/gen/spiffe/workload_pb.ts";
import { atEnd } from "./at-end.ts";
import type { IssuedPair } from "./openssl-authority.ts";
import { temporaryFolder } from "./temporary-folder.ts";

type Call = ServerWritableStream<X509SVIDRequest, X509SVIDResponse>;

/** An identity as an agent pushes it; what is left out is that of the certificate. */
export interface PushedIdentity extends IssuedPair {
  readonly spiffeId: string;
}

/**
 * An agent that speaks the SPIFFE Workload API on a Unix socket, with gRPC's own implementation for Node.js. It refuses calls
 * without the header that the standard requires.
 */
export class WorkloadAgent {
  readonly socket = path.join(temporaryFolder(), "agent.sock");
  readonly #calls = new Set<Call>();
  /** The identity that it pushes, or that there is none; `undefined` if it does not answer yet. */
  #answer: PushedIdentity | "denied" | undefined;
  #server: Server | undefined;

  get endpoint(): string {
    return `unix://${this.socket}`;
  }

  /** Number of its clients. */
  get clients(): number {
    return this.#calls.size;
  }

  /** Listens, again after a stop. */
  async start(): Promise<this> {
    const server = new Server();
    server.addService(
      {
        FetchX509SVID: {
          path: "/SpiffeWorkloadAPI/FetchX509SVID",
          requestStream: false,
          responseStream: true,
          requestSerialize: () => Buffer.alloc(0),
          requestDeserialize: (bytes: Buffer) => fromBinary(X509SVIDRequestSchema, bytes),
          responseSerialize: (message: X509SVIDResponse) =>
            Buffer.from(toBinary(X509SVIDResponseSchema, message)),
          responseDeserialize: () => create(X509SVIDResponseSchema),
        },
      },
      { FetchX509SVID: (call: Call) => this.#receive(call) },
    );
    this.#server = server;
    await promisify(server.bindAsync.bind(server))(
      this.endpoint,
      ServerCredentials.createInsecure(),
    );
    atEnd(() => server.forceShutdown());
    return this;
  }

  /** Ends abruptly: its clients lose their connections. */
  stop(): void {
    this.#server?.forceShutdown();
    this.#calls.clear();
  }

  /** Gives all clients an identity, those in the future too. */
  push(identity: PushedIdentity): void {
    this.#tell(identity);
  }

  /** Takes every identity back. */
  deny(): void {
    this.#tell("denied");
  }

  #tell(answer: PushedIdentity | "denied"): void {
    this.#answer = answer;
    for (const call of this.#calls) this.#send(call, answer);
  }

  #receive(call: Call): void {
    if (call.metadata.get("workload.spiffe.io")[0] !== "true") {
      refuse(call, status.INVALID_ARGUMENT, "security header missing from request");
      return;
    }
    this.#calls.add(call);
    call.on("cancelled", () => this.#calls.delete(call));
    if (this.#answer !== undefined) this.#send(call, this.#answer);
  }

  #send(call: Call, answer: PushedIdentity | "denied"): void {
    if (answer !== "denied") {
      call.write(response(answer));
      return;
    }
    this.#calls.delete(call);
    refuse(call, status.PERMISSION_DENIED, "no identity issued");
  }
}

function refuse(call: Call, code: status, details: string): void {
  call.emit("error", { code, details });
}

function response({ spiffeId, cert, key, ca }: PushedIdentity): X509SVIDResponse {
  return create(X509SVIDResponseSchema, {
    svids: [
      {
        spiffeId,
        x509Svid: new X509Certificate(cert).raw,
        x509SvidKey: createPrivateKey(key).export({ type: "pkcs8", format: "der" }),
        bundle: new X509Certificate(ca).raw,
      },
    ],
  });
}
