import { BYTES, INT, listOf, STRING, TIMESTAMP } from "../types/types.ts";
import {
  ALL,
  BEFORE_LOG,
  jsonVariable,
  objectType,
  STRINGS,
  textVariable,
  type VariableDefinition,
} from "./variable-definitions.ts";

const REQUEST: readonly VariableDefinition[] = [
  {
    path: "request",
    type: objectType("request"),
    phases: ALL,
    doc: "The request of the client.",
  },
  textVariable("request.method", ["request", "method"], ALL, "The method, as sent: `GET`."),
  textVariable("request.scheme", ["request", "scheme"], ALL, "`http` or `https`."),
  textVariable(
    "request.host",
    ["request", "host"],
    ALL,
    "The authority, lower case, with its port if it has one.",
  ),
  textVariable("request.path", ["request", "path"], ALL, "The path without the query."),
  textVariable(
    "request.pathAndQuery",
    ["request", "pathAndQuery"],
    ALL,
    "The path with the query.",
  ),
  textVariable("request.uri", ["request", "uri"], ALL, "Scheme, authority, path and query."),
  textVariable("request.version", ["request", "version"], ALL, "`HTTP/1.1` or `HTTP/2`."),
  {
    path: "request.headers",
    type: STRINGS,
    phases: ALL,
    doc: "Headers by lower-case name; several lines are joined with `, `, those of `cookie` with `; `. Rules also read each line: see Repeated headers.",
    access: ["request"],
    method: "headerMap",
  },
  {
    path: "request.body",
    type: BYTES,
    phases: BEFORE_LOG,
    doc: "The body. The gateway buffers the request until it is complete, up to the buffer limit.",
    access: ["request", "bufferedBody"],
    ts: "bytes",
    mayFail: true,
  },
  {
    path: "request.body",
    type: BYTES,
    phases: ["log"],
    doc: "The body, copied while it passes; only its beginning if it is longer than the buffer limit.",
    access: ["request", "?captured", "?request"],
    ts: "bytes",
    mayFail: true,
  },
  {
    path: "request.startTime",
    type: TIMESTAMP,
    phases: ALL,
    doc: "When the head of the request had arrived.",
    access: ["request", "startTime"],
    helper: "time/time#fromMillis",
  },
  {
    path: "request.endTime",
    type: TIMESTAMP,
    phases: ["log"],
    doc: "When the response had been sent.",
    access: ["response", "endTime"],
    helper: "time/time#fromMillis",
  },
];

const CERTIFICATE = ["request", "clientCertificate"] as const;

const SOURCE: readonly VariableDefinition[] = [
  { path: "source", type: objectType("source"), phases: ALL, doc: "The client's connection." },
  textVariable("source.address", ["request", "remoteAddress"], ALL, "The client's IP address."),
  portVariable("source.port", ["request", "remotePort"], "The client's port."),
  textVariable(
    "source.rawAddress",
    ["request", "peerAddress"],
    ALL,
    "The address at the other end of the TCP connection: that of a proxy that sends the PROXY protocol.",
  ),
  portVariable("source.rawPort", ["request", "peerPort"], "Its port."),
  textVariable(
    "source.subject",
    [...CERTIFICATE, "?subject"],
    ALL,
    "Subject of the client certificate.",
  ),
  textVariable(
    "source.issuer",
    [...CERTIFICATE, "?issuer"],
    ALL,
    "Issuer of the client certificate.",
  ),
  textVariable(
    "source.certificate",
    [...CERTIFICATE, "?pem"],
    ALL,
    "The client certificate as PEM.",
  ),
  textVariable(
    "source.subjectCn",
    [...CERTIFICATE, "?subjectCn"],
    ALL,
    "Common name of its subject.",
  ),
  {
    path: "source.subjectAltNames",
    type: listOf(STRING),
    phases: ALL,
    doc: "Alternative names of the client certificate.",
    access: [...CERTIFICATE, "?subjectAltNames"],
    mayFail: true,
  },
  textVariable(
    "source.spiffeId",
    [...CERTIFICATE, "?spiffeId"],
    ALL,
    "SPIFFE ID of the client certificate, of any form.",
  ),
  {
    path: "source.identity",
    type: objectType("source.identity"),
    phases: ALL,
    doc: "The workload that a SPIFFE client certificate names.",
    access: [...CERTIFICATE, "?identity"],
    mayFail: true,
  },
  textVariable(
    "source.identity.trustDomain",
    [...CERTIFICATE, "?identity", "?trustDomain"],
    ALL,
    "Trust domain.",
  ),
  textVariable(
    "source.identity.namespace",
    [...CERTIFICATE, "?identity", "?namespace"],
    ALL,
    "Namespace.",
  ),
  textVariable(
    "source.identity.serviceAccount",
    [...CERTIFICATE, "?identity", "?serviceAccount"],
    ALL,
    "Service account.",
  ),
];

const DESTINATION: readonly VariableDefinition[] = [
  {
    path: "destination",
    type: objectType("destination"),
    phases: ALL,
    doc: "The gateway's end of the connection.",
  },
  textVariable("destination.address", ["request", "localAddress"], ALL, "Its IP address."),
  portVariable("destination.port", ["request", "localPort"], "Its port."),
  textVariable(
    "destination.hostname",
    ["request", "?serverName"],
    ALL,
    "The server name of the TLS handshake; absent without TLS.",
  ),
];

const PROXY: readonly VariableDefinition[] = [
  {
    path: "proxy",
    type: objectType("proxy"),
    phases: ALL,
    doc: "The parts of the configuration that serve the request.",
  },
  {
    path: "proxy.gateway",
    type: objectType("proxy.gateway"),
    phases: ALL,
    doc: "The gateway.",
  },
  textVariable("proxy.gateway.name", ["env", "gateway"], ALL, "Its name."),
  textVariable(
    "proxy.gateway.namespace",
    ["env", "namespace"],
    ALL,
    "Its namespace in Kubernetes.",
  ),
  {
    path: "proxy.listener",
    type: objectType("proxy.listener"),
    phases: ALL,
    doc: "The listener.",
  },
  textVariable("proxy.listener.name", ["request", "record", "?listener"], ALL, "Its name."),
  { path: "proxy.route", type: objectType("proxy.route"), phases: ALL, doc: "The route." },
  textVariable(
    "proxy.route.name",
    ["request", "record", "?route"],
    ALL,
    "Its name, as access lines have it; absent before a route is chosen.",
  ),
];

const IDENTITIES: readonly VariableDefinition[] = [
  jsonVariable("jwt", "jwt", ALL, "The claims of the verified token; null without one."),
  { path: "auth", type: objectType("auth"), phases: ALL, doc: "The identity of the caller." },
  jsonVariable("auth.claims", "jwt", ALL, "The same claims as `jwt`."),
  jsonVariable("apiKey", "apiKey", ALL, "The metadata of the matched API key; null without one."),
  {
    path: "basicAuth",
    type: objectType("basicAuth"),
    phases: ALL,
    doc: "The user of basic authentication; null without one.",
    access: ["basicAuth"],
  },
  textVariable("basicAuth.username", ["basicAuth", "?username"], ALL, "The user's name."),
  jsonVariable("extauthz", "extauthz", ALL, "Metadata of external authorization; null without it."),
  jsonVariable("extproc", "extproc", ALL, "Metadata of external processing; null without it."),
  jsonVariable("custom", "custom", ALL, "Values that custom policies provide; null without any."),
  jsonVariable("metadata", "metadata", ALL, "Metadata of transformations; null without any."),
];

/** Variables of the request, its client and the client's identity. */
export const REQUEST_VARIABLES: readonly VariableDefinition[] = [
  ...REQUEST,
  ...SOURCE,
  ...DESTINATION,
  ...PROXY,
  ...IDENTITIES,
];

/** Declares a TCP port of the connection, which all phases have. */
function portVariable(
  path: string,
  access: NonNullable<VariableDefinition["access"]>,
  doc: string,
): VariableDefinition {
  return { path, type: INT, phases: ALL, doc, access, ts: "number", range: [0, 65_535] };
}
