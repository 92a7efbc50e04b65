import { generateKeyPair, type KeyObject, sign, type X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { openGrpcChannel } from "../grpc/channel.ts";
import { IstioCertificateService } from "../grpc/gen/istio/security/v1alpha1/ca_pb.ts";
import type { EnrollmentLog } from "../process/enrollment.ts";
import { MINUTE, SECOND } from "../process/units.ts";
import { pemCertificates } from "../tls/ca-certificates.ts";
import type { Validity } from "../tls/validity.ts";
import {
  type WorkloadCertificate,
  type WorkloadContext,
  workloadContext,
} from "../tls/workload-tls.ts";
import { meshOf, ownSpiffeId } from "./mesh.ts";
import type { Mesh } from "./open-mesh.ts";

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

/**
 * Creates a request for the certificate of a workload (PKCS #10, RFC 2986) as PEM: a key on P-256, no subject, and the SPIFFE
 * ID as the only name. Writing DER of four types takes less code than any library for it.
 */
function certificateRequest(
  key: { readonly privateKey: KeyObject; readonly publicKey: KeyObject },
  spiffeId: string,
): string {
  const names = sequence(element(URI, Buffer.from(spiffeId, "latin1")));
  // RFC 5280 4.2.1.6: critical if the subject is empty.
  const extension = sequence(oid(SUBJECT_ALT_NAME), TRUE, element(OCTET_STRING, names));
  const asked = sequence(oid(EXTENSION_REQUEST), element(SET, sequence(extension)));
  const info = sequence(
    VERSION_1,
    sequence(),
    key.publicKey.export({ type: "spki", format: "der" }),
    element(ATTRIBUTES, asked),
  );
  const signature = sign("sha256", info, key.privateKey);
  const whole = sequence(
    info,
    sequence(oid(ECDSA_WITH_SHA256)),
    element(BIT_STRING, Buffer.concat([NO_UNUSED_BITS, signature])),
  );
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  return [
    "-----BEGIN CERTIFICATE REQUEST-----",
    ...lines,
    "-----END CERTIFICATE REQUEST-----",
    "",
  ].join("\n");
}

/** Tags of X.690. */
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OID = 0x06;
const SEQUENCE = 0x30;
const SET = 0x31;
/** `[0]` of a request's attributes, and `[6]` of a name (RFC 5280 4.2.1.6: uniformResourceIdentifier). */
const ATTRIBUTES = 0xa0;
const URI = 0x86;

const VERSION_1 = Buffer.from([0x02, 1, 0]);
const TRUE = Buffer.from([0x01, 1, 0xff]);
const NO_UNUSED_BITS = Buffer.from([0]);

/** 2.5.29.17, 1.2.840.113549.1.9.14 and 1.2.840.10045.4.3.2. */
const SUBJECT_ALT_NAME = "551d11";
const EXTENSION_REQUEST = "2a864886f70d01090e";
const ECDSA_WITH_SHA256 = "2a8648ce3d040302";

function oid(hex: string): Buffer {
  return element(OID, Buffer.from(hex, "hex"));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return element(SEQUENCE, Buffer.concat(parts));
}

function element(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

/** An issued certificate. */
interface IssuedCertificate extends Validity {
  readonly context: WorkloadContext;
}

/** First and longest pause after a failed attempt; milliseconds. */
const FIRST_PAUSE = 250;
const MAX_PAUSE = 30 * SECOND;
/** Longest wait of one timer. Longer waits check the clock in between. */
const MAX_WAIT = 60 * MINUTE;

/** A certificate that is renewed about halfway through its lifetime. The previous one stays in use as long as it is valid. */
class RenewedCertificate implements WorkloadCertificate {
  readonly #issue: () => Promise<IssuedCertificate>;
  readonly #log: EnrollmentLog;
  #issued: IssuedCertificate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  /** Last logged failure. */
  #logged = "";
  #isClosed = false;

  /** `issue` resolves with a new certificate, or rejects with an Error that says why it failed. */
  constructor(issue: () => Promise<IssuedCertificate>, log: EnrollmentLog) {
    this.#issue = issue;
    this.#log = log;
    void this.#renew();
  }

  get context(): WorkloadContext {
    if (this.#issued === undefined) throw new Error("there is no certificate of the mesh yet");
    if (this.#issued.expiry <= Date.now())
      throw new Error("the certificate of the mesh has expired");
    return this.#issued.context;
  }

  get isReady(): boolean {
    return this.#issued !== undefined;
  }

  get validity(): Validity | undefined {
    return this.#issued;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #renew(): Promise<void> {
    try {
      const issued = await this.#issue();
      if (this.#isClosed) return;
      this.#issued = issued;
      this.#failures = 0;
      this.#logged = "";
      this.#log.info(
        `certificate of the mesh is valid until ${new Date(issued.expiry).toISOString()}`,
      );
      // Pods that started together must not renew together.
      this.#renewAt(Date.now() + (issued.expiry - Date.now()) * (0.4 + Math.random() / 5));
    } catch (error) {
      if (this.#isClosed) return;
      this.#warnOf(error instanceof Error ? error.message : String(error));
      const longest = Math.min(MAX_PAUSE, FIRST_PAUSE * 2 ** this.#failures);
      this.#failures += 1;
      this.#renewAt(Date.now() + longest * (0.5 + Math.random() / 2));
    }
  }

  /** `time`: milliseconds since the epoch. */
  #renewAt(time: number): void {
    const wait = Math.min(MAX_WAIT, time - Date.now());
    this.#timer = setTimeout(() => {
      if (Date.now() < time) this.#renewAt(time);
      else void this.#renew();
    }, wait);
    this.#timer.unref();
  }

  #warnOf(problem: string): void {
    if (problem === this.#logged) return;
    this.#logged = problem;
    const kept =
      this.#issued === undefined ? "" : "; the previous one stays in use until it expires";
    this.#log.warn(`no certificate of the mesh: ${problem}; retrying${kept}`);
  }
}
