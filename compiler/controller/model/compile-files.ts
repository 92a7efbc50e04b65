import type { PrintedModule } from "../../../templates/code/print.ts";
import { kubernetesResources } from "../../../templates/kubernetes/resources.ts";
import type { AgentPodSettings } from "../../../templates/kubernetes/settings.ts";
import { CachedModules } from "../../4-emit/cached-modules.ts";
import { emitModules } from "../../4-emit/modules.ts";
import { CachedByObject } from "../../cached-results.ts";
import { CachedCheck, type Checked, type CheckOptions, checkFiles } from "../../compile.ts";
import { type Diagnostic, Diagnostics } from "../../diagnostics/diagnostic.ts";
import { guarded } from "../../diagnostics/guarded.ts";
import { memoryHost } from "../../host.ts";
import type { Program, RouteNode } from "../../ir/program.ts";
import type { Json } from "../../model/json.ts";
import type { LiteralSecret } from "../../model/literal-secrets.ts";
import { POLICY_FOLDER } from "../../policies/custom/read-policy.ts";
import {
  concernedGateways,
  type GatewayPort,
  servedPorts,
} from "../../status/concerned-gateways.ts";
import { timelessStatuses } from "../../status/status.ts";
import { withProgrammed } from "../status/with-programmed.ts";
import { type ServicePortName, servicesOf } from "./called-services.ts";

/** How the pods of Gateways are made. */
export interface PodSettings extends Omit<AgentPodSettings, "gateway"> {
  /** Image that runs `gwc agent`, unless the parameters of a Gateway name another one. */
  readonly image: string;
}

/** A Gateway, compiled for its data planes: plain data. */
export interface CompiledGateway {
  /** `NAMESPACE/NAME`. */
  readonly key: string;
  readonly namespace: string;
  /** Of its Deployment, its Service and its account. */
  readonly name: string;
  readonly modules: readonly PrintedModule[];
  /** Credentials that its code reads and the configuration writes out. */
  readonly literals: readonly Pick<LiteralSecret, "variable" | "value">[];
  /** The Services that its code calls. */
  readonly services: readonly ServicePortName[];
  /** Whether it is part of a mesh: its data planes then get the mesh identities of pods. */
  readonly isInMesh: boolean;
  /** Names of the Secrets and ConfigMaps that its code reads. */
  readonly secrets: readonly string[];
  readonly configMaps: readonly string[];
  /** The objects that run it, when somebody asked for them. */
  readonly objects: readonly Json[];
}

/** The status of an object, without the times of its changes. */
export interface CompiledStatus {
  readonly kind: string;
  /** `NAMESPACE/NAME`. */
  readonly key: string;
  readonly status: object;
  /** The Gateways (`NAMESPACE/NAME`) that put it into force: of a route, a policy or a ListenerSet. */
  readonly gateways: readonly string[];
  /** Ports at which a route is served; empty for other objects. */
  readonly ports: readonly GatewayPort[];
}

/** Meaning of the objects of a moment: plain data. */
export interface CompiledFiles {
  /** By key; a Gateway with mistakes of its own is not there. */
  readonly gateways: ReadonlyMap<string, CompiledGateway>;
  /** Everything that has a status. */
  readonly statuses: readonly CompiledStatus[];
}

/** Cached results for the next compilations: most objects do not change. */
export class CachedCompilation {
  readonly check = new CachedCheck();
  readonly modules = new CachedModules();
  readonly variables = new CachedByObject<PrintedModule, readonly string[]>();
  readonly services = new CachedByObject<RouteNode, readonly ServicePortName[]>();

  /** A compilation has ended. */
  turn(): void {
    this.check.input.files.turn();
    this.modules.turn();
  }
}

/**
 * Compiles manifests with the functions of `gwc build`. Parts with mistakes are isolated and reported in their status;
 * the rest is served. `cached`: results of parts that have not changed, which are not read and written again.
 */
export function compileFiles(
  files: Readonly<Record<string, string>>,
  pods: PodSettings | undefined,
  cached?: CachedCompilation,
): CompiledFiles {
  const options = { name: "gateway", isStrict: false, isIsolating: true, isDelivered: true };
  // Each path is a file: looking for folders among thousands of them takes longer than compiling.
  const host = { ...memoryHost(files), filesIn: () => undefined };
  const manifests = Object.keys(files).filter((file) => !file.startsWith(POLICY_FOLDER));
  const attempt = (more: Pick<CheckOptions, "bugs" | "unwritable">): Attempt => {
    const checked = checkFiles(manifests, host, { ...options, ...more }, cached?.check);
    const tried = checked.programs.map((program) => tryToEmit(program, checked, pods, cached));
    return { checked, tried };
  };
  const first = attempt({});
  const bugs = first.tried.flatMap((each) => each.bugs);
  // Routes and listeners that cannot be emitted are closed, and other parts without which the rest can be.
  const { checked, tried } = first.tried.every(({ gateway }) => gateway !== undefined)
    ? first
    : attempt({
        bugs,
        unwritable: (program, sources) => {
          const again = tryToEmit(program, { files: sources, literals: [] }, pods, cached);
          return again.gateway === undefined ? [...again.bugs, ...again.error] : [];
        },
      });
  const compiled = tried.flatMap(({ gateway }) => gateway ?? []);
  cached?.turn();
  const { kubernetes } = checked;
  const statuses = kubernetes === undefined ? [] : timelessStatuses(checked, kubernetes);
  const gateways = new Map(compiled.map((gateway) => [gateway.key, gateway]));
  return {
    gateways,
    statuses: statuses.map(({ manifest, status }) => {
      const { kind, namespace, name } = manifest;
      const key = namespace === "" ? name : `${namespace}/${name}`;
      const isLost = kind === "Gateway" && !gateways.has(key);
      return {
        ...{ kind, key },
        status: isLost ? withProgrammed(status, NO_PROGRAM) : status,
        gateways: kubernetes === undefined ? [] : concernedGateways(manifest, kubernetes),
        ports: kubernetes === undefined ? [] : servedPorts(manifest, kubernetes),
      };
    }),
  };
}

/** A compilation, and its Gateways as far as their code could be written. */
interface Attempt {
  readonly checked: Checked;
  readonly tried: readonly TriedGateway[];
}

/** A Gateway whose code was written, or the bugs of gwc that prevent it. */
interface TriedGateway {
  /** `undefined` if its code could not be written. */
  readonly gateway: CompiledGateway | undefined;
  /** Bugs at its routes and listeners. */
  readonly bugs: readonly Diagnostic[];
  /** The bug at anything else; empty if there is none. */
  readonly error: readonly Diagnostic[];
}

/** Writes the code of a program; without one of its modules it would not run. */
function tryToEmit(
  program: Program,
  checked: Pick<Checked, "files" | "literals">,
  pods: PodSettings | undefined,
  cached: CachedCompilation | undefined,
): TriedGateway {
  const { deployment } = program;
  if (deployment === undefined) return { gateway: undefined, bugs: [], error: [] };
  const [bugs, error] = [new Diagnostics(), new Diagnostics()];
  const emit = () => emitGateway(program, deployment, checked, { pods, cached, bugs });
  const gateway = guarded(deployment.origin, error, emit);
  const isWhole = bugs.list.length === 0;
  return { gateway: isWhole ? gateway : undefined, bugs: bugs.list, error: error.list };
}

/** Settings of emitting a Gateway. */
interface EmitGatewaySettings {
  readonly pods: PodSettings | undefined;
  readonly cached: CachedCompilation | undefined;
  readonly bugs: Diagnostics;
}

/** The condition of a Gateway that has no program although its own status gives no reason. */
const NO_PROGRAM = {
  status: "False",
  reason: "Invalid",
  message: "it could not be compiled, by an error of gwc itself",
};

function emitGateway(
  program: Program,
  deployment: NonNullable<Program["deployment"]>,
  { files, literals }: Pick<Checked, "files" | "literals">,
  { pods, cached, bugs }: EmitGatewaySettings,
): CompiledGateway {
  const title = deployment.origin.resource?.name ?? "";
  const key = title.slice(title.indexOf(" ") + 1);
  const own = { ...program, inputs: [{ name: title, sha256: "" }] };
  const modules = emitModules(own, "path", files, cached?.modules, bugs);
  const { namespace, name, secrets, configMaps } = deployment;
  return {
    ...{ key, namespace, name, modules, secrets, configMaps },
    literals: literals.filter(isReadBy(modules, cached?.variables)),
    services: servicesOf(program, cached?.services),
    isInMesh: program.mesh !== undefined,
    objects: pods === undefined ? [] : objectsOf(program, key, pods),
  };
}

/** Whether a credential is one of a Gateway's own: others must not get it. */
function isReadBy(
  modules: readonly PrintedModule[],
  cached: CachedCompilation["variables"] = new CachedByObject(),
): (literal: LiteralSecret) => boolean {
  const read = new Set(modules.flatMap((each) => cached.of(each, () => variablesIn(each))));
  return ({ variable }) => read.has(variable);
}

/** Returns the variables of literal credentials that a module names. */
function variablesIn({ text }: PrintedModule): readonly string[] {
  return [...text.matchAll(/"(GWC_[A-Z0-9_]+)"/g)].flatMap(([, variable]) => variable ?? []);
}

function objectsOf(
  program: Program,
  key: string,
  { image, ...agent }: PodSettings,
): readonly Json[] {
  const { deployment } = program;
  const gateway = key.slice(key.indexOf("/") + 1);
  const settings = { image, bundle: undefined, digest: "", agent: { ...agent, gateway } };
  const resources = deployment && kubernetesResources(program, deployment, settings);
  return (resources ?? []).map(({ value }) => value);
}
