import { generateKeyPair, type KeyObject, type X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { openGrpcChannel } from "../grpc/channel.ts";
import { IstioCertificateService } from "../grpc/gen/istio/security/v1alpha1/ca_pb.ts";
import { SECOND } from "../process/units.ts";
import { pemCertificates } from "../tls/ca-certificates.ts";
import { workloadContext } from "../tls/workload-tls.ts";
import { certificateRequest } from "./certificate-request.ts";
import { meshOf, ownSpiffeId } from "./mesh.ts";
import type { Mesh } from "./mesh-membership.ts";
import { type IssuedCertificate, RenewedCertificate } from "./renewed-certificate.ts";

/** An authority that speaks Istio's certificate protocol (`istio.v1.auth.IstioCertificateService`). */
export interface IstioAuthoritySettings {
  /** `https://` with host and port. */
  readonly url: string;
  readonly trustDomain: string;
  /** Name of the Kubernetes cluster whose token the pod has, as the authority knows it. */
  readonly kubernetesId: string;
}

/** Requested lifetime of a certificate in seconds; the authority may shorten it. */
const WANTED_TIME = 86_400n;
/** Milliseconds to connect, and to the response. */
const CALL_TIME = 5 * SECOND;
/** Paths in Istio's own pods; CA_AUTH_TOKEN and CA_ROOT_CA override them. */
const TOKEN_FILE = "/var/run/secrets/tokens/istio-token";
const ROOT_FILE = "/var/run/secrets/istio/root-cert.pem";

/** Creates the mesh of an Istio authority. */
export function istioMesh(settings: IstioAuthoritySettings): Mesh {
  return meshOf(settings.trustDomain, {
    settings,
    open: (log) => {
      const spiffeId = ownSpiffeId(settings.trustDomain);
      return new RenewedCertificate(() => issue(spiffeId, settings), log);
    },
  });
}

async function issue(
  spiffeId: string,
  { url, kubernetesId }: IstioAuthoritySettings,
): Promise<IssuedCertificate> {
  const key = await promisify(generateKeyPair)("ec", { namedCurve: "P-256" });
  const token = readToken(process.env.CA_AUTH_TOKEN ?? TOKEN_FILE);
  const root = process.env.CA_ROOT_CA ?? ROOT_FILE;
  const authority = openGrpcChannel({
    url,
    connectTimeout: CALL_TIME,
    // Without the file, the authorities of the system verify the server.
    tls: { verification: "full", ...(existsSync(root) && { authorities: [root] }) },
  });
  const { certChain } = await authority.call(
    { connections: new Map() },
    IstioCertificateService.method.createCertificate,
    { csr: certificateRequest(key, spiffeId), validityDuration: WANTED_TIME },
    {
      deadline: CALL_TIME,
      metadata: ["authorization", `Bearer ${token}`, "clusterid", kubernetesId],
    },
  );
  return issued(certChain, key.privateKey, spiffeId);
}

/** Reads the token each time, because the kubelet renews it. */
function readToken(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    throw new Error(`the pod's token ${path} can't be read`);
  }
}

/**
 * Reads the certificates of a response: its own, intermediates, and the authorities of the mesh at the end. Throws an Error
 * that says why they are unusable.
 */
function issued(chain: readonly string[], key: KeyObject, spiffeId: string): IssuedCertificate {
  const [leaf] = certificatesOf(chain[0] ?? "");
  const roots = certificatesOf(chain.length > 1 ? (chain.at(-1) ?? "") : "");
  if (leaf === undefined || roots.length === 0)
    throw new Error("the authority's response is not a certificate chain");
  if (!leaf.checkPrivateKey(key))
    throw new Error("the authority's certificate belongs to another key");
  if (leaf.subjectAltName !== `URI:${spiffeId}`)
    throw new Error(
      `the authority's certificate is for ${leaf.subjectAltName ?? "no name"} instead of URI:${spiffeId}`,
    );
  const expiry = leaf.validToDate.getTime();
  if (expiry <= Date.now()) throw new Error("the authority's certificate has expired");
  const context = workloadContext(
    chain.slice(0, -1).join("\n"),
    key.export({ type: "pkcs8", format: "pem" }).toString(),
    roots.map(String),
  );
  return { context, start: leaf.validFromDate.getTime(), expiry };
}

function certificatesOf(text: string): readonly X509Certificate[] {
  const found = pemCertificates(text);
  return found.kind === "certificates" ? found.certificates : [];
}
