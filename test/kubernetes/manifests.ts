import { parseAllDocuments } from "yaml";
import type { LowerOptions } from "../../compiler/2-lower/lower.ts";
import { type Checked, checkFiles } from "../../compiler/compile.ts";
import { messageOf } from "../../compiler/diagnostics/messages/index.ts";
import { locate } from "../../compiler/diagnostics/source.ts";
import { memoryHost } from "../../compiler/host.ts";
import { isManifest } from "./manifest-corpus.ts";
import { stored, verdictOf } from "./stored-manifests.ts";

/** Checks manifests held in memory, as `gwc check` does. */
export function checkManifests(
  text: string | Readonly<Record<string, string>>,
  options: Partial<Pick<LowerOptions, "gateway" | "isSingle" | "isDelivered">> = {},
): Checked {
  const files = typeof text === "string" ? { "manifests.yaml": text } : text;
  expectSameWhenStored(Object.values(files));
  return checkFiles(Object.keys(files), memoryHost(files), {
    name: "test",
    isStrict: false,
    ...options,
  });
}

/** An API server writes defaults into manifests, which change nothing. Texts that are no manifests are left out. */
function expectSameWhenStored(texts: readonly string[]): void {
  const documents = texts.flatMap((each) => parseAllDocuments(each));
  if (documents.some((each) => !("errors" in each) || each.errors.length > 0)) return;
  const values = documents.map((each): unknown => ("toJS" in each ? each.toJS() : undefined));
  const manifests = values.filter(isManifest);
  if (manifests.length === 0 || manifests.length < values.filter((each) => each !== null).length)
    return;
  const [written, read] = [verdictOf(manifests), verdictOf(manifests.map(stored))];
  const differences = [
    ...written.said
      .filter((each) => !read.said.includes(each))
      .map((each) => `only as written: ${each}`),
    ...read.said
      .filter((each) => !written.said.includes(each))
      .map((each) => `only as stored: ${each}`),
  ];
  if (differences.length > 0) throw new Error(differences.join("\n"));
  if (written.programs !== read.programs)
    throw new Error(
      "what an API server writes into these manifests changes what they are compiled to",
    );
}

/** The diagnostics as `LINE CODE: MESSAGE`, in the order of the text. */
export function complaints({ diagnostics, files }: Checked): readonly string[] {
  return diagnostics
    .map(({ code, params, at }) => {
      const { line } = locate(at, files);
      // The row and the parameters belong to the same code.
      return { line, text: `${code}: ${messageOf(code).text(params as never)}` };
    })
    .sort((a, b) => a.line - b.line)
    .map(({ line, text }) => `${line} ${text}`);
}

/** A Gateway, a route with one rule, and backends of three kinds, in the namespace `default`. */
export const world = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw}
spec:
  gatewayClassName: gwc
  allowedListeners: {namespaces: {from: Same}}
  listeners: [{name: own, port: 8080, protocol: HTTP, hostname: own.example.com}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: set}
spec:
  parentRef: {name: gw}
  listeners: [{name: added, port: 8080, protocol: HTTP}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web}
spec:
  parentRefs: [{kind: ListenerSet, name: set}]
  rules:
    - name: all
      matches: [{path: {value: /web}}]
      backendRefs: [{name: web, port: 80}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: tools}
spec:
  parentRefs: [{kind: ListenerSet, name: set}]
  rules:
    - name: all
      matches: [{path: {value: /mcp}}]
      backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: tools}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{name: http, port: 80}]}
`;

/** The backend of the world's route `tools`. */
export const toolsBackend = `
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: tools}
spec: {static: {host: tools.example.com, port: 80}}
`;

/** The Gateway `gw` with these listeners, each a line of YAML. */
export function gatewayWith(...listeners: readonly string[]): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw}
spec:
  gatewayClassName: gwc
  listeners:
    - ${listeners.join("\n    - ")}`;
}

/** The route `web` of the Gateway `gw`, and the Service that it leads to. */
export function webRoute(port: number): string {
  return `
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web}
spec:
  parentRefs: [{name: gw}]
  rules: [{backendRefs: [{name: web, port: ${port}}]}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: ${port}}]}
`;
}
