import { expect, it } from "vitest";
import { checkManifests, complaints } from "./manifests.ts";

const gateway = (parameters: string): string => `
{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: logged}, spec: {
  gatewayClassName: gwc,
  infrastructure: {parametersRef: {group: gwc.dev, kind: GatewayParameters, name: own}},
  listeners: [{name: web, port: 8081, protocol: HTTP}]}}
---
{apiVersion: gwc.dev/v1alpha1, kind: GatewayParameters, metadata: {name: own}, spec: {${parameters}}}
`;

const policy = (name: string, age: string, accessLog: string): string => `
{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy,
  metadata: {name: ${name}, creationTimestamp: "${age}"}, spec: {
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: logged}],
  frontend: {accessLog: {${accessLog}}}}}
`;

function accessLogOf(...documents: readonly string[]) {
  const checked = checkManifests(documents.join("\n---\n"));
  const { program } = checked;
  if (program === undefined) throw new Error(complaints(checked).join("\n"));
  const { filter, fields } = program.accessLog ?? {};
  return {
    filter: filter?.source,
    defaults: fields?.defaults,
    without: fields?.without,
    added: fields?.added.map(({ name, value }) => `${name}: ${value.source}`),
  };
}

it("a GatewayPolicy says which requests have a line, and what it holds", () => {
  const own = policy(
    "p",
    "2026-01-01T00:00:00Z",
    "filter: 'response.code > 399', attributes: {remove: [jwt.sub, http.version], add: [{name: team, expression: jwt.team}]}",
  );
  expect(accessLogOf(gateway(""), own)).toEqual({
    filter: "response.code > 399",
    defaults: expect.not.arrayContaining(["http.version"]),
    without: ["jwt.sub"],
    added: ["team: jwt.team"],
  });
});

it("its filter and fields come over those of the raw configuration", () => {
  const raw =
    "rawConfig: {config: {logging: {filter: 'true', fields: {remove: [route], add: {a: '1', b: '1'}}}}}";
  const own = policy(
    "p",
    "2026-01-01T00:00:00Z",
    "attributes: {remove: [b], add: [{name: a, expression: '2'}]}",
  );
  expect(accessLogOf(gateway(raw))).toMatchObject({ filter: "true", added: ["a: 1", "b: 1"] });
  expect(accessLogOf(gateway(raw), own)).toMatchObject({
    filter: "true",
    defaults: expect.not.arrayContaining(["route"]),
    added: ["a: 2"],
  });
});

it("an OTLP server gets a record of each line, over gRPC unless the policy says HTTP", () => {
  const server =
    "{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: otel}, spec: {static: {host: otel.test, port: 4317}}}";
  const collectorOf = (protocol: string) => {
    const otlp = `otlp: {backendRef: {group: gwc.dev, kind: GatewayBackend, name: otel}${protocol}}`;
    const own = policy("p", "2026-01-01T00:00:00Z", otlp);
    const checked = checkManifests([gateway(""), server, own].join("\n---\n"));
    if (checked.program === undefined) throw new Error(complaints(checked).join("\n"));
    const { destination, ...rest } = checked.program.accessLog?.collector ?? {};
    return { ...rest, url: destination?.url };
  };
  const url = "http://otel.test:4317";
  expect(collectorOf("")).toMatchObject({ url, protocol: "grpc" });
  expect(collectorOf(", protocol: HTTP")).toMatchObject({
    url,
    protocol: "http",
    path: "/v1/logs",
  });
});

it("an access log or part of a policy without a setting is reported", () => {
  const said = (frontend: string) => {
    const own = `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: p}, spec: {
      targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: logged}],
      ${frontend}}}`;
    return complaints(checkManifests(`${gateway("")}\n---\n${own}`)).map((each) =>
      each.replace(/^\d+ /, ""),
    );
  };
  expect(said("frontend: {accessLog: {}}")).toEqual(['section-says-nothing: "accessLog" is empty']);
  expect(said("frontend: {}")).toEqual(['section-says-nothing: "frontend" is empty']);
  expect(said("traffic: {}")).toEqual(['section-says-nothing: "traffic" is empty']);
  expect(said("frontend: {accessLog: {filter: 'true'}}")).toEqual([]);
});

it("the pod's variables for the log are checked and override the raw configuration", () => {
  const raw = "rawConfig: {config: {logging: {format: text, level: warn}}}";
  const env = (name: string, value: string) => `env: [{name: ${name}, value: "${value}"}]`;
  const said = (...parameters: readonly string[]) =>
    complaints(checkManifests(gateway(parameters.join(", ")))).map((each) =>
      each.replace(/^\d+ /, ""),
    );
  expect(said(env("RUST_LOG", "verbose"))).toEqual(['log-level: "verbose" is not a log level']);
  expect(said(env("LOG_FORMAT", "xml"))).toEqual([
    `unknown-value: the variable "LOG_FORMAT" can't be "xml"`,
  ]);
  expect(said(env("RUST_LOG", "info"), raw)).toEqual([
    'raw-config-overridden: "config.logging.level" of rawConfig has no effect: RUST_LOG of env has precedence',
  ]);
  expect(said(env("LOG_FORMAT", "JSON"), raw)).toEqual([
    'raw-config-overridden: "config.logging.format" of rawConfig has no effect: LOG_FORMAT of env has precedence',
  ]);
  const { program } = checkManifests(
    gateway("env: [{name: RUST_LOG, value: debug}, {name: LOG_FORMAT, value: JSON}]"),
  );
  expect(program?.logLevels?.connection).toBe("debug");
  expect(program?.process.logFormat).toBe("json");
});

it("an audit file that the pod can't write is reported unless a volume is mounted there", () => {
  const raw = (file: string) => `rawConfig: {config: {logging: {audit: {file: ${file}}}}}`;
  const said = (...parameters: readonly string[]) =>
    complaints(checkManifests(gateway(parameters.join(", ")))).map((each) =>
      each.replace(/^\d+ /, ""),
    );
  const told = (file: string) => [
    `audit-file-read-only: pods cannot write the audit log "${file}"`,
  ];
  expect(said(raw("/var/log/audit.log"))).toEqual(told("/var/log/audit.log"));
  expect(said(raw("audit.log"))).toEqual(told("audit.log"));
  expect(said(raw("/tmp/audit.log"))).toEqual([]);
  expect(said("rawConfig: {config: {logging: {audit: {}}}}")).toEqual([]);
  const container = (own: string) =>
    `deployment: {spec: {template: {spec: {containers: [{name: gateway, ${own}}]}}}}`;
  const mounted = container("volumeMounts: [{name: logs, mountPath: /var/log}]");
  expect(said(raw("/var/log/audit.log"), mounted)).toEqual([]);
  expect(said(raw("/var/logs/audit.log"), mounted)).toEqual(told("/var/logs/audit.log"));
  const writable = container("securityContext: {readOnlyRootFilesystem: false}");
  expect(said(raw("/var/log/audit.log"), writable)).toEqual([]);
});
