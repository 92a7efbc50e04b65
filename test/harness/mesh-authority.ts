import { readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import {
  type IstioCertificateRequest,
  IstioCertificateRequestSchema,
  type IstioCertificateResponse,
  IstioCertificateResponseSchema,
} from "../../runtime/grpc/gen/istio/security/v1alpha1/ca_pb.ts";
import { atEnd } from "./at-end.ts";
import { makeCertificate } from "./certificate.ts";
import { OpensslAuthority } from "./openssl-authority.ts";

/** A request that the authority received. */
export interface CertificateCall {
  readonly token: string;
  readonly cluster: string;
  /** Seconds that the certificate was asked for. */
  readonly validity: number;
}

/** How it behaves: what is absent is as it should be. */
export interface AuthorityBehaviour {
  /** Only this token is good. */
  readonly token?: string;
  /** The name in every certificate, regardless of the caller. */
  readonly spiffeId: string;
  /** Seconds that certificates are valid. */
  readonly seconds?: number;
  /** The response instead of a chain. */
  readonly chain?: readonly string[];
  /** It does not answer. */
  readonly isSilent?: boolean;
}

/**
 * A mesh's authority of certificates, which speaks Istio's protocol: gRPC's own implementation for Node.js in front of
 * openssl.
 */
export class MeshAuthority {
  readonly #authority = new OpensslAuthority();
  readonly calls: CertificateCall[] = [];
  behaviour: AuthorityBehaviour;
  #server: Server | undefined;
  #port = 0;

  constructor(behaviour: AuthorityBehaviour) {
    this.behaviour = behaviour;
    makeCertificate(this.folder, "server", { signer: "root", names: "IP:127.0.0.1" });
  }

  get port(): number {
    return this.#port;
  }

  get folder(): string {
    return this.#authority.folder;
  }

  get root(): string {
    return this.#authority.root;
  }

  /** Listens, at the same port again after a stop. */
  async start(port = this.#port): Promise<void> {
    const server = new Server();
    const read = (name: string) => readFileSync(path.join(this.folder, name));
    const pair = { private_key: read("server.key"), cert_chain: read("server.pem") };
    server.addService(
      {
        CreateCertificate: {
          path: "/istio.v1.auth.IstioCertificateService/CreateCertificate",
          requestStream: false,
          responseStream: false,
          requestSerialize: () => Buffer.alloc(0),
          requestDeserialize: (bytes: Buffer) => fromBinary(IstioCertificateRequestSchema, bytes),
          responseSerialize: (message: IstioCertificateResponse) =>
            Buffer.from(toBinary(IstioCertificateResponseSchema, message)),
          responseDeserialize: () => ({}),
        },
      },
      {
        CreateCertificate: (
          call: ServerUnaryCall<IstioCertificateRequest, IstioCertificateResponse>,
          done: sendUnaryData<IstioCertificateResponse>,
        ) => void this.#answer(call, done),
      },
    );
    this.#server = server;
    this.#port = await promisify(server.bindAsync.bind(server))(
      `127.0.0.1:${port}`,
      ServerCredentials.createSsl(null, [pair]),
    );
    atEnd(() => server.forceShutdown());
  }

  stop(): void {
    this.#server?.forceShutdown();
  }

  /** A certificate for a key of openssl's, `NAME.pem` and `NAME.key`. */
  issueFiles(name: string, spiffeId: string): { readonly cert: string; readonly key: string } {
    makeCertificate(this.folder, name, { signer: "root", names: `URI:${spiffeId}` });
    const read = (extension: string) =>
      readFileSync(path.join(this.folder, `${name}.${extension}`), "utf8");
    return { cert: read("pem"), key: read("key") };
  }

  async #answer(
    { request, metadata }: ServerUnaryCall<IstioCertificateRequest, IstioCertificateResponse>,
    done: sendUnaryData<IstioCertificateResponse>,
  ): Promise<void> {
    const said = (name: string) => String(metadata.get(name)[0] ?? "");
    const token = said("authorization").replace(/^Bearer /, "");
    this.calls.push({
      token,
      cluster: said("clusterid"),
      validity: Number(request.validityDuration),
    });
    const { token: wanted = token, chain, isSilent = false } = this.behaviour;
    if (isSilent) return;
    if (token !== wanted) {
      done({ code: status.UNAUTHENTICATED, details: "request authenticate failure" });
      return;
    }
    try {
      const certChain = chain ?? (await this.#sign(request.csr));
      done(null, {
        $typeName: "istio.v1.auth.IstioCertificateResponse",
        certChain: [...certChain],
      });
    } catch (error) {
      done({ code: status.INVALID_ARGUMENT, details: `csr sign error: ${error}` });
    }
  }

  /** The certificate of a request, and the authority's own. openssl checks that the request is signed by its key. */
  async #sign(csr: string): Promise<readonly string[]> {
    const { spiffeId, seconds = 86_400 } = this.behaviour;
    const cert = await this.#authority.sign(csr, `URI:${spiffeId}`, seconds);
    return [cert, this.#authority.rootText];
  }
}
