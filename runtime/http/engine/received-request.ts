import type { ClientCertificate } from "../../cel/variables.ts";
import { clientCertificate, plainAddress } from "../../net/connected-client.ts";
import { type HeaderList, headerMap, headerValue, withoutHeader } from "../headers/header-list.ts";
import { endToEnd } from "../headers/hop-by-hop.ts";
import { RequestTrailers } from "../headers/trailers.ts";
import type { RequestLineChanges, SentRequestLine } from "../request-line.ts";
import { pathIn } from "../routing/path.ts";
import type { EngineRequest } from "./engine.ts";
import type { RequestFacts } from "./validate-request.ts";

/** The head of a request and its connection: as received, and as changed by policies. */
export abstract class ReceivedRequest {
  method: string;
  /** In origin form. */
  target: string;
  host: string;
  readonly hasBody: boolean;
  readonly requestTrailers: RequestTrailers | undefined;
  readonly sentTarget: string;
  readonly hasAmbiguousPath: boolean;
  upstreamMethod: string;
  upstreamTarget: string;
  hasReadRepeated = false;
  readonly #request: EngineRequest;
  readonly #namesConnectionHeaders: boolean;
  /** The list, once policies have changed or read it. */
  #headers: HeaderList | undefined;
  #areHeadersChanged = false;
  #scheme: "http" | "https" | undefined;
  #original: SentRequestLine | undefined;
  #path: string | undefined;

  constructor(request: EngineRequest, facts: RequestFacts) {
    this.#request = request;
    this.method = request.method;
    this.target = facts.target;
    this.host = facts.host;
    this.hasBody = facts.hasBody;
    this.sentTarget = facts.sentTarget;
    this.hasAmbiguousPath = facts.hasAmbiguousPath;
    this.upstreamMethod = this.method;
    this.upstreamTarget = this.target;
    this.#namesConnectionHeaders = facts.namesConnectionHeaders;
    if (facts.hasBody && facts.length === undefined)
      this.requestTrailers = new RequestTrailers(this, request.rawHeaders);
  }

  get scheme(): "http" | "https" {
    if (this.#scheme !== undefined) return this.#scheme;
    return this.#request.socket.encrypted === true ? "https" : "http";
  }

  get hostname(): string {
    const colon = this.host.lastIndexOf(":");
    return colon === -1 || this.host.endsWith("]") ? this.host : this.host.slice(0, colon);
  }

  get path(): string {
    this.#path ??= pathIn(this.target);
    return this.#path;
  }

  get query(): string {
    return this.target.slice(this.path.length + 1);
  }

  get pathAndQuery(): string {
    return this.target;
  }

  get uri(): string {
    return `${this.scheme}://${this.host}${this.target}`;
  }

  get version(): string {
    return `HTTP/${this.#request.httpVersion}`;
  }

  get serverName(): string | undefined {
    const { servername } = this.#request.socket;
    return typeof servername === "string" ? servername.toLowerCase() : undefined;
  }

  get remoteAddress(): string {
    return plainAddress(this.#request.socket.remoteAddress);
  }

  get remotePort(): number {
    return this.#request.socket.remotePort ?? 0;
  }

  get peerAddress(): string {
    const { peerAddress, remoteAddress } = this.#request.socket;
    return plainAddress(peerAddress ?? remoteAddress);
  }

  get peerPort(): number {
    return this.#request.socket.peerPort ?? this.remotePort;
  }

  get localAddress(): string {
    return plainAddress(this.#request.socket.localAddress);
  }

  get localPort(): number {
    return this.#request.socket.localPort ?? 0;
  }

  get clientCertificate(): ClientCertificate | undefined {
    return clientCertificate(this.#request.socket);
  }

  get requestHeaders(): HeaderList {
    if (this.#headers === undefined) {
      const sent = this.#request.rawHeaders;
      this.#headers = this.#namesConnectionHeaders ? endToEnd(sent, "") : sent;
    }
    return this.#headers;
  }

  get requestLines(): string | undefined {
    return this.#areHeadersChanged ? undefined : this.#request.fields?.lines;
  }

  get mayHaveTraceContext(): boolean {
    return this.#areHeadersChanged || this.#request.fields?.hasTraceContext !== false;
  }

  header(name: string): string | undefined {
    const { fields } = this.#request;
    // A list is created once code needs more than one of its fields.
    return this.#headers === undefined && fields !== undefined && !this.#namesConnectionHeaders
      ? fields.value(name, this)
      : headerValue(this.requestHeaders, name, this);
  }

  headerMap(): ReadonlyMap<string, string> {
    return headerMap(this.requestHeaders, this);
  }

  setRequestHeader(name: string, value: string): void {
    this.requestTrailers?.note(name);
    const headers = withoutHeader(this.requestHeaders, name);
    headers.push(name, value);
    this.#change(headers);
  }

  addRequestHeader(name: string, value: string): void {
    this.requestTrailers?.note(name);
    this.#change([...this.requestHeaders, name, value]);
  }

  replaceRequestHeaders(headers: HeaderList): void {
    const host = this.header("host");
    this.#change(host === undefined ? headers : ["host", host, ...headers]);
  }

  removeRequestHeader(name: string): void {
    this.requestTrailers?.note(name);
    this.#change(withoutHeader(this.requestHeaders, name));
  }

  reroute({ method, target, host, scheme }: RequestLineChanges): void {
    this.#original ??= {
      method: this.method,
      target: this.target,
      path: this.path,
      host: this.host,
      scheme: this.scheme,
    };
    this.#scheme = scheme ?? this.#scheme;
    if (method !== undefined) {
      this.method = method;
      this.upstreamMethod = method;
    }
    if (target !== undefined) {
      this.target = target;
      this.#path = undefined;
      this.upstreamTarget = target;
    }
    if (host === undefined) return;
    this.host = host;
    if (this.header("host") !== undefined) this.setRequestHeader("host", host);
  }

  get original(): SentRequestLine {
    return this.#original ?? this;
  }

  #change(headers: HeaderList): void {
    this.#headers = headers;
    this.#areHeadersChanged = true;
  }
}
