import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { createSecureContext } from "node:tls";
import { isDeepStrictEqual } from "node:util";
import { resourceKind, splitApiVersion } from "../../1-parse/kubernetes/kinds.ts";
import { type ApiObject, readObject } from "../kubernetes/api-object.ts";
import { recordOf, textField } from "../kubernetes/json-fields.ts";
import { errorText } from "../kubernetes/reflector.ts";
import { keptObject } from "../model/watched-object.ts";
import {
  type AdmissionCertificateSettings,
  currentPair,
  keepCertificate,
} from "./admission-certificate.ts";
import { Judge } from "./judge.ts";
import type { JudgedObject, Judgement } from "./judgement.ts";
import type { CertificatePair } from "./self-signed.ts";

/** Dependencies of admission. */
export interface AdmissionSettings extends AdmissionCertificateSettings {
  readonly port: number;
  readonly warn: (message: string) => void;
}

/** Milliseconds for a response: the API server waits a second longer, and then does as its failure policy says. */
const TIME = 4_000;

/**
 * Says to the API server which objects have mistakes, before they are there (a validating webhook). Every replica answers;
 * the one that leads keeps the certificate.
 */
export class Admission {
  readonly #settings: AdmissionSettings;
  readonly #judge: Judge;
  #server: Promise<Server> | undefined;
  #pair: CertificatePair | undefined;
  #isKeeping = false;
  #isLeading = false;
  /** Objects that were asked about, and those of them that were refused. */
  reviews = 0;
  rejections = 0;

  constructor(settings: AdmissionSettings) {
    this.#settings = settings;
    this.#judge = new Judge(settings.objects);
    this.refresh();
  }

  set isLeading(isLeading: boolean) {
    this.#isLeading = isLeading;
    void this.compare();
  }

  /** Takes the certificate that there is now. */
  refresh(): void {
    const pair = currentPair(this.#settings);
    if (pair?.cert === this.#pair?.cert && pair?.key === this.#pair?.key) return;
    this.#pair = pair;
    void this.compare();
    if (pair !== undefined) void this.#serve(pair);
  }

  /** Mends what somebody else changed of the certificate. */
  async compare(): Promise<void> {
    if (!this.#isLeading || this.#isKeeping) return;
    this.#isKeeping = true;
    try {
      await keepCertificate(this.#settings);
    } catch (error) {
      const { configuration, warn } = this.#settings;
      warn(`the certificate of ${configuration}: ${errorText(error)}`);
    }
    this.#isKeeping = false;
  }

  stop(): void {
    this.#isLeading = false;
    this.#judge.stop();
    void this.#server?.then(
      (server) => server.close().closeAllConnections(),
      () => {},
    );
  }

  /** Serves with another certificate; with one that can't be used everything stays as it is. */
  async #serve(pair: CertificatePair): Promise<void> {
    const { port, warn, configuration } = this.#settings;
    const context = { ...pair, minVersion: "TLSv1.2" } as const;
    try {
      createSecureContext(context);
    } catch (error) {
      warn(`the certificate of ${configuration} can't be used: ${errorText(error)}`);
      return;
    }
    try {
      this.#server ??= openAdmissionServer(port, pair, (...asked) => this.#review(...asked));
      (await this.#server).setSecureContext(context);
    } catch (error) {
      // The next change tries again.
      this.#server = undefined;
      this.#pair = undefined;
      warn(`admission does not start: ${errorText(error)}`);
    }
  }

  async #review(body: unknown, caller: string): Promise<ServedReview> {
    const request = admissionRequest(body);
    if (request === undefined) return { status: 400, body: "the request is no AdmissionReview" };
    const { uid, judged } = request;
    try {
      const judgement = judged && (await this.#judge.judgement(judged, TIME, caller));
      this.reviews += 1;
      if (judgement !== undefined && judgement.mistakes.length > 0) this.rejections += 1;
      return { status: 200, body: admissionReview(uid, judgement) };
    } catch (error) {
      return { status: 503, body: errorText(error) };
    }
  }
}

/** Request of the API server (admission.k8s.io/v1 AdmissionReview). */
interface AdmissionRequest {
  readonly uid: string;
  /** Undefined: there is nothing to judge. */
  readonly judged: JudgedObject | undefined;
}

/** Parses a request of the API server; `undefined` if it is not an AdmissionReview. */
function admissionRequest(body: unknown): AdmissionRequest | undefined {
  const review = recordOf(body);
  const request = recordOf(review?.request);
  const uid = textField(request, "uid");
  const isReview = review?.apiVersion === API_VERSION && review.kind === "AdmissionReview";
  if (!isReview || request === undefined || uid === undefined) return undefined;
  return { uid, judged: judgedObject(request) };
}

/** The response to a request: refused with all mistakes, allowed with all warnings. */
function admissionReview(uid: string, judgement: Judgement | undefined): object {
  const { mistakes = [], warnings = [] } = judgement ?? {};
  const status = { code: 422, reason: "Invalid", message: mistakes.join("\n") };
  return {
    apiVersion: API_VERSION,
    kind: "AdmissionReview",
    response: {
      uid,
      allowed: mistakes.length === 0,
      ...(mistakes.length === 0 ? {} : { status }),
      ...(warnings.length === 0 ? {} : { warnings }),
    },
  };
}

const API_VERSION = "admission.k8s.io/v1";

/**
 * Returns the object that is created or changed. Deletions are allowed, and so are changes outside of the
 * specification.
 */
function judgedObject(request: Readonly<Record<string, unknown>>): JudgedObject | undefined {
  const { operation } = request;
  if (operation !== "CREATE" && operation !== "UPDATE") return undefined;
  const object = objectOf(request.object);
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
  const kept = keptObject(object);
  const before = objectOf(request.oldObject);
  const isSame = isDeepStrictEqual(before && keptObject(before).spec, kept.spec);
  if (operation === "UPDATE" && isSame) return undefined;
  const kind = resourceKind(splitApiVersion(object.apiVersion).group, object.kind);
  return kind === undefined ? undefined : { object: kept, kind };
}

/** An object by what it says of itself. */
function objectOf(value: unknown): ApiObject | undefined {
  const [apiVersion, kind] = [textField(value, "apiVersion"), textField(value, "kind")];
  if (apiVersion === undefined || kind === undefined) return undefined;
  const { group, version } = splitApiVersion(apiVersion);
  return readObject(value, { group, version, kind, plural: "", isNamespaced: true });
}

/** Response to an API server: JSON, or a text that describes the mistake. */
interface ServedReview {
  readonly status: number;
  readonly body: object | string;
}

/** Says what is to be said of a request; `caller`: the address that it came from. */
type Review = (body: unknown, caller: string) => Promise<ServedReview>;

/** Bytes of a request: an object and the one before it, of etcd's limit each, with all escapes. */
const LONGEST = 8 * 1024 * 1024;
/** Connections at a time; an API server needs a few. */
const MAX_CONNECTIONS = 256;
/** Milliseconds that a request may take to arrive. */
const ARRIVAL = 10_000;

/**
 * Serves reviews at `/check` over TLS; resolves when the port is open. Anyone who reaches the port may ask, so a
 * response contains only the mistakes of the object in the request, and which of its names are taken.
 */
function openAdmissionServer(port: number, pair: CertificatePair, review: Review): Promise<Server> {
  const server = createServer({ ...pair, minVersion: "TLSv1.2", requestTimeout: ARRIVAL });
  server.headersTimeout = ARRIVAL;
  server.maxConnections = MAX_CONNECTIONS;
  server.on("request", (request, response) => {
    void served(request, review)
      .catch(() => ({ status: 500, body: "the review failed" }))
      .then(({ status, body }) => respond(response, status, body));
  });
  // Closes connections that do not speak TLS.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, () => resolve(server));
  });
}

async function served(request: IncomingMessage, review: Review): Promise<ServedReview> {
  // The API server adds its timeout as a query. A target that is not a path is not a URL either.
  const [pathname] = (request.url ?? "").split("?");
  if (pathname !== "/check") return { status: 404, body: "not found" };
  if (request.method !== "POST") return { status: 405, body: "reviews are POSTed" };
  const type = request.headers["content-type"] ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) return { status: 415, body: "reviews are JSON" };
  const text = await textOf(request).catch(() => undefined);
  if (text === undefined) return { status: 413, body: `a review has at most ${LONGEST} bytes` };
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { status: 400, body: "the request is no JSON" };
  }
  return review(body, request.socket.remoteAddress ?? "");
}

/** Rejects if the body is too large, or the request is aborted. */
async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of request) {
    length += piece.length;
    if (length > LONGEST) throw new Error("too long");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function respond(response: ServerResponse, status: number, body: object | string): void {
  const isText = typeof body === "string";
  // The rest of the request is not read.
  const close = status === 200 ? {} : { connection: "close" };
  response.writeHead(status, {
    "content-type": isText ? "text/plain; charset=utf-8" : "application/json",
    ...close,
  });
  response.end(isText ? `${body}\n` : JSON.stringify(body));
}
