import type { ClientCertificate, RequestVariables } from "../../../cel/variables.ts";
import { clientCertificate } from "../../../tls/client-certificate.ts";
import {
  type HeaderList,
  headerMap,
  headerValue,
  withoutHeader,
} from "../../headers/header-list.ts";
import { endToEnd } from "../../headers/hop-by-hop.ts";
import type { RequestLine, RequestLineChanges } from "../../request-line.ts";
import type { EngineRequest } from "../engine.ts";
import type { RequestFacts } from "../validate-request.ts";

/** The head of a request that an engine read; what is seldom asked for is computed when it is. */
export class RequestHead implements RequestVariables {
  readonly startTime = Date.now();
  upstreamMethod: string;
  upstreamTarget: string;
  upstreamHost: string | null | undefined;
  readonly hasBody: boolean;
  protected readonly request: EngineRequest;
  #method: string;
  #target: string;
  #host: string;
  #scheme: "http" | "https" | undefined;
  #original: RequestLine | undefined;
  #requestHeaders: HeaderList;
  #queryAt: number | undefined;

  constructor(request: EngineRequest, facts: RequestFacts) {
    this.request = request;
    this.#method = request.method ?? "";
    this.#target = facts.target;
    this.upstreamMethod = this.#method;
    this.upstreamTarget = this.#target;
    this.#host = facts.host;
    this.hasBody = facts.hasBody;
    const sent = request.rawHeaders;
    this.#requestHeaders = facts.namesConnectionHeaders ? endToEnd(sent, "") : sent;
  }

  get method(): string {
    return this.#method;
  }

  get target(): string {
    return this.#target;
  }

  get host(): string {
    return this.#host;
  }

  get scheme(): "http" | "https" {
    if (this.#scheme !== undefined) return this.#scheme;
    return "encrypted" in this.request.socket ? "https" : "http";
  }

  get hostname(): string {
    const colon = this.#host.lastIndexOf(":");
    return colon === -1 || this.#host.endsWith("]") ? this.#host : this.#host.slice(0, colon);
  }

  get path(): string {
    const at = this.#query();
    return at === -1 ? this.#target : this.#target.slice(0, at);
  }

  get query(): string {
    const at = this.#query();
    return at === -1 ? "" : this.#target.slice(at + 1);
  }

  get pathAndQuery(): string {
    return this.#target;
  }

  get uri(): string {
    return `${this.scheme}://${this.#host}${this.#target}`;
  }

  get version(): string {
    return `HTTP/${this.request.httpVersion}`;
  }

  get serverName(): string | undefined {
    const { socket } = this.request;
    // A TLSSocket has it; false when the client named nobody.
    const name = "servername" in socket ? socket.servername : undefined;
    return typeof name === "string" ? name.toLowerCase() : undefined;
  }

  get remoteAddress(): string {
    const address = this.request.socket.remoteAddress ?? "";
    return address.startsWith("::ffff:") ? address.slice(7) : address;
  }

  get remotePort(): number {
    return this.request.socket.remotePort ?? 0;
  }

  get clientCertificate(): ClientCertificate | undefined {
    return clientCertificate(this.request.socket);
  }

  get requestHeaders(): HeaderList {
    return this.#requestHeaders;
  }

  header(name: string): string | undefined {
    return headerValue(this.#requestHeaders, name);
  }

  headerMap(): ReadonlyMap<string, string> {
    return headerMap(this.#requestHeaders);
  }

  setRequestHeader(name: string, value: string): void {
    const headers = withoutHeader(this.#requestHeaders, name);
    headers.push(name, value);
    this.#requestHeaders = headers;
  }

  addRequestHeader(name: string, value: string): void {
    this.#requestHeaders = [...this.#requestHeaders, name, value];
  }

  replaceRequestHeaders(headers: HeaderList): void {
    const host = this.header("host");
    this.#requestHeaders = host === undefined ? headers : ["host", host, ...headers];
  }

  removeRequestHeader(name: string): void {
    this.#requestHeaders = withoutHeader(this.#requestHeaders, name);
  }

  reroute({ method, target, host, scheme }: RequestLineChanges): void {
    this.#original ??= {
      method: this.#method,
      target: this.#target,
      host: this.#host,
      scheme: this.scheme,
    };
    this.#scheme = scheme ?? this.#scheme;
    if (method !== undefined) {
      this.#method = method;
      this.upstreamMethod = method;
    }
    if (target !== undefined) {
      this.#target = target;
      this.#queryAt = undefined;
      this.upstreamTarget = target;
    }
    if (host === undefined) return;
    this.#host = host;
    if (this.header("host") !== undefined) this.setRequestHeader("host", host);
  }

  get original(): RequestLine {
    return this.#original ?? this;
  }

  #query(): number {
    this.#queryAt ??= this.#target.indexOf("?");
    return this.#queryAt;
  }
}
