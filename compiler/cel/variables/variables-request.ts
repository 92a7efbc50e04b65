import { BYTES, INT, listOf, STRING, TIMESTAMP } from "../types/types.ts";
import {
  ALL,
  json,
  object,
  STRINGS,
  text,
  type VariableDefinition,
} from "./variable-definitions.ts";

const REQUEST: readonly VariableDefinition[] = [
  { path: "request", type: object("request"), phases: ALL, doc: "The request of the client." },
  text("request.method", "request.method", ALL, "The method, as sent: `GET`."),
  text("request.scheme", "request.scheme", ALL, "`http` or `https`."),
  text(
    "request.host",
    "request.host",
    ALL,
    "The authority, lower case, with its port if it has one.",
  ),
  text("request.path", "request.path", ALL, "The path without the query."),
  text("request.pathAndQuery", "request.pathAndQuery", ALL, "The path with the query."),
  text("request.uri", "request.uri", ALL, "Scheme, authority, path and query."),
  text("request.version", "request.version", ALL, "`HTTP/1.1` or `HTTP/2`."),
  {
    path: "request.headers",
    type: STRINGS,
    phases: ALL,
    doc: "The headers by lower-case name; several values are joined by `, `.",
    code: "request.headerMap()",
  },
  {
    path: "request.body",
    type: BYTES,
    phases: ALL,
    doc: "The body. The gateway holds the request until all of it is there, up to the buffer limit.",
    code: "request.bufferedBody",
    ts: "bytes",
    mayFail: true,
  },
  {
    path: "request.startTime",
    type: TIMESTAMP,
    phases: ALL,
    doc: "When the head of the request had arrived.",
    code: "fromMillis(request.startTime)",
    helpers: ["time/time#fromMillis"],
    variables: ["request"],
  },
  {
    path: "request.endTime",
    type: TIMESTAMP,
    phases: ["log"],
    doc: "When the response had been sent.",
    code: "fromMillis(response?.endTime)",
    helpers: ["time/time#fromMillis"],
    variables: ["response"],
    mayFail: true,
  },
];

const CERTIFICATE = "request.clientCertificate";

const SOURCE: readonly VariableDefinition[] = [
  { path: "source", type: object("source"), phases: ALL, doc: "The client's connection." },
  text("source.address", "request.remoteAddress", ALL, "The client's IP address."),
  {
    path: "source.port",
    type: INT,
    phases: ALL,
    doc: "The client's port.",
    code: "request.remotePort",
    ts: "number",
    range: [0, 65_535],
  },
  text("source.subject", `${CERTIFICATE}?.subject`, ALL, "Subject of the client certificate."),
  text("source.issuer", `${CERTIFICATE}?.issuer`, ALL, "Issuer of the client certificate."),
  text("source.subjectCn", `${CERTIFICATE}?.subjectCn`, ALL, "Common name of its subject."),
  {
    path: "source.subjectAltNames",
    type: listOf(STRING),
    phases: ALL,
    doc: "Alternative names of the client certificate.",
    code: `${CERTIFICATE}?.subjectAltNames`,
    mayFail: true,
  },
  {
    path: "source.identity",
    type: object("source.identity"),
    phases: ALL,
    doc: "The workload that a SPIFFE client certificate names.",
    code: `${CERTIFICATE}?.identity`,
    mayFail: true,
  },
  text(
    "source.identity.trustDomain",
    `${CERTIFICATE}?.identity?.trustDomain`,
    ALL,
    "Trust domain.",
  ),
  text("source.identity.namespace", `${CERTIFICATE}?.identity?.namespace`, ALL, "Namespace."),
  text(
    "source.identity.serviceAccount",
    `${CERTIFICATE}?.identity?.serviceAccount`,
    ALL,
    "Service account.",
  ),
];

const IDENTITIES: readonly VariableDefinition[] = [
  json("jwt", "jwt", ALL, "The claims of the verified token; null without one."),
  { path: "auth", type: object("auth"), phases: ALL, doc: "Who the caller is." },
  json("auth.claims", "jwt", ALL, "The same claims as `jwt`."),
  json("apiKey", "apiKey", ALL, "The metadata of the matched API key; null without one."),
  {
    path: "basicAuth",
    type: object("basicAuth"),
    phases: ALL,
    doc: "The user of basic authentication; null without one.",
    code: "basicAuth",
  },
  text("basicAuth.username", "basicAuth?.username", ALL, "The user's name."),
  json("extauthz", "extauthz", ALL, "What external authorization set; null without it."),
  json("extproc", "extproc", ALL, "What external processing set; null without it."),
  json("metadata", "metadata", ALL, "What transformations set as metadata; null without any."),
];

/** The request, its client and who that is. */
export const requestVariables: readonly VariableDefinition[] = [
  ...REQUEST,
  ...SOURCE,
  ...IDENTITIES,
];
