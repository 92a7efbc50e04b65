import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { JsonObject } from "../../cel/variables.ts";
import type { CheckRequestSchema } from "../../grpc/gen/envoy/service/auth/v3/external_auth_pb.ts";
import type { Exchange } from "../../http/exchange.ts";
import { isShown } from "../envoy/header-edits.ts";
import { type ForwardedBody, partialBodyHeader } from "./forwarded-body.ts";

/** What goes into each question. */
export interface CheckContent {
  /** Lower-case names of the headers that go along, pseudo headers among them; undefined: all. */
  readonly requestHeaders: readonly string[] | undefined;
  readonly contextExtensions: Readonly<Record<string, string>>;
  readonly metadata: JsonObject;
  readonly body: ForwardedBody | undefined;
}

/** The question about a request, as Envoy asks it (`service.auth.v3.CheckRequest`). */
export function checkRequest(
  exchange: Exchange,
  { requestHeaders, contextExtensions, metadata, body }: CheckContent,
): MessageInitShape<typeof CheckRequestSchema> {
  const { method, target, host, scheme, version, startTime, serverName } = exchange;
  const principal = spiffeId(exchange);
  return {
    attributes: {
      source: { address: socketAddress(exchange.remoteAddress, exchange.remotePort), principal },
      destination: { address: socketAddress(exchange.localAddress, exchange.localPort) },
      request: {
        time: { seconds: BigInt(Math.floor(startTime / 1000)), nanos: (startTime % 1000) * 1e6 },
        http: {
          id: exchange.header("traceparent") ?? randomUUID(),
          method,
          path: target,
          host,
          scheme,
          protocol: version,
          headers: { ...headersOf(exchange, requestHeaders), ...partialBodyField(body) },
          ...(body !== undefined && bodyFields(body)),
        },
      },
      contextExtensions,
      metadataContext: { filterMetadata: filterMetadata(metadata) },
      ...(serverName !== undefined && { tlsSession: { sni: serverName } }),
    },
  };
}

function socketAddress(address: string, port: number) {
  const portSpecifier = { case: "portValue", value: port } as const;
  return { address: { case: "socketAddress", value: { address, portSpecifier } } } as const;
}

/** Who the client's certificate says it is. */
function spiffeId({ clientCertificate }: Exchange): string {
  const { identity } = clientCertificate ?? {};
  if (identity === undefined) return "";
  const { trustDomain, namespace, serviceAccount } = identity;
  return `spiffe://${trustDomain}/ns/${namespace}/sa/${serviceAccount}`;
}

/** One value for each name (RFC 9110 5.3; cookies as RFC 6265 5.4 joins them), with the pseudo headers of HTTP/2. */
function headersOf(
  { method, target, host, scheme, requestHeaders: sent }: Exchange,
  wanted: readonly string[] | undefined,
): Readonly<Record<string, string>> {
  const all = new Map([
    [":method", method],
    [":path", target],
    [":authority", host],
    [":scheme", scheme],
  ]);
  for (let i = 0; i < sent.length; i += 2) {
    const name = (sent[i] ?? "").toLowerCase();
    if (name === "host" || !isShown(name)) continue;
    const before = all.get(name);
    const value = sent[i + 1] ?? "";
    const separator = name === "cookie" ? "; " : ", ";
    all.set(name, before === undefined ? value : `${before}${separator}${value}`);
  }
  const chosen = wanted === undefined ? all : [...all].filter(([name]) => wanted.includes(name));
  return Object.fromEntries(chosen);
}

function partialBodyField(body: ForwardedBody | undefined): Readonly<Record<string, string>> {
  const hasBytes = body !== undefined && body.bytes.length > 0;
  return hasBytes ? { [partialBodyHeader]: String(body.isPart) } : {};
}

function bodyFields({ bytes, isPart, asBytes }: ForwardedBody) {
  const size = BigInt(isPart ? -1 : bytes.length);
  return asBytes ? { size, rawBody: bytes } : { size, body: Buffer.from(bytes).toString("utf8") };
}

/** Objects alone can stand there (google.protobuf.Struct). */
function filterMetadata(metadata: JsonObject): Record<string, Record<string, never>> {
  return Object.fromEntries(
    Object.entries(metadata).filter(
      (entry): entry is [string, Record<string, never>] =>
        typeof entry[1] === "object" && entry[1] !== null && !Array.isArray(entry[1]),
    ),
  );
}
