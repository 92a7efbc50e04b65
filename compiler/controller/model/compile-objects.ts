import type { PrintedModule } from "../../../templates/code/print.ts";
import { emitModules } from "../../4-emit/modules.ts";
import { checkFiles } from "../../compile.ts";
import { memoryHost } from "../../host.ts";
import { CONTROLLER } from "../../inspect/status/conditions.ts";
import { type TimelessStatus, timelessStatuses } from "../../inspect/status/status.ts";
import type { Program } from "../../ir/program.ts";
import type { LiteralSecret } from "../../model/literal-secrets.ts";
import { apiVersionOf, objectKey } from "../kubernetes/api-object.ts";
import { textField } from "../kubernetes/json-fields.ts";
import type { WatchedObjects } from "./watched-objects.ts";

/** A Gateway, compiled for its data planes. */
export interface CompiledGateway {
  /** `NAMESPACE/NAME`. */
  readonly key: string;
  readonly program: Program;
  readonly modules: readonly PrintedModule[];
  readonly literals: readonly LiteralSecret[];
}

/** What the objects of a moment mean. */
export interface CompiledObjects {
  /** By key; a Gateway with mistakes of its own is not there. */
  readonly gateways: ReadonlyMap<string, CompiledGateway>;
  /** Everything that has a status. */
  readonly statuses: readonly TimelessStatus[];
}

/**
 * Compiles what is declared with the functions of `gwc build`. What has mistakes is isolated: its status says so, and
 * the rest is served.
 */
export function compileObjects(objects: WatchedObjects): CompiledObjects {
  const files = { ...Object.fromEntries(objects.manifests()), ...foreignClasses(objects) };
  const host = memoryHost(files);
  const options = { name: "gateway", isStrict: false, isIsolating: true };
  const checked = checkFiles(Object.keys(files), host, options);
  const { kubernetes, programs, literals } = checked;
  const gateways = programs.map((program): readonly [string, CompiledGateway] => {
    const key = gatewayKey(program);
    const own = { ...program, inputs: [{ name: `Gateway ${key}`, sha256: "" }] };
    const modules = emitModules(own, "path", checked.files);
    return [key, { key, program, modules, literals: literals.filter(isReadBy(modules)) }];
  });
  return {
    gateways: new Map(gateways),
    statuses: kubernetes === undefined ? [] : timelessStatuses(checked, kubernetes),
  };
}

/** Whether a credential is one of a Gateway's own: others must not get it. */
function isReadBy(modules: readonly PrintedModule[]): (literal: LiteralSecret) => boolean {
  return ({ variable }) => modules.some(({ text }) => text.includes(JSON.stringify(variable)));
}

/** `NAMESPACE/NAME` of the Gateway that a program serves. */
function gatewayKey({ deployment }: Program): string {
  const title = deployment?.origin.resource?.name ?? "";
  return title.slice(title.indexOf(" ") + 1);
}

/** Classes that are not ours, and those that Gateways name and nobody made: whatever is of them is left alone. */
function foreignClasses(objects: WatchedObjects): Readonly<Record<string, string>> {
  const known = new Set<string>();
  const foreign: [string, string][] = [];
  for (const { metadata, spec, apiVersion } of objects.ofKind("GatewayClass")) {
    known.add(metadata.name);
    if (textField(spec, "controllerName") === CONTROLLER) continue;
    foreign.push([
      `/${apiVersion}/GatewayClass/${objectKey(metadata)}.json`,
      classOf(metadata.name),
    ]);
  }
  for (const { spec } of objects.ofKind("Gateway")) {
    const name = textField(spec, "gatewayClassName");
    if (name === undefined || known.has(name)) continue;
    foreign.push([`/${CLASS_VERSION}/GatewayClass/${name}.json`, classOf(name)]);
  }
  return Object.fromEntries(foreign);
}

const CLASS_VERSION = apiVersionOf({ group: "gateway.networking.k8s.io", version: "v1" });

function classOf(name: string): string {
  return JSON.stringify({
    apiVersion: CLASS_VERSION,
    kind: "GatewayClass",
    metadata: { name },
    spec: { controllerName: "other.invalid/controller" },
  });
}
