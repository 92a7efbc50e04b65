import { childOf } from "../../../diagnostics/diagnostic.ts";
import type { PodPower } from "../../../ir/deployment.ts";
import { type Json, jsonAt } from "../../../model/json.ts";
import { workloadField } from "./overlays.ts";
import type { ParametersSpec } from "./parameters.ts";

type Path = readonly (string | number)[];

/** Returns the privileges that parameters give to a gateway's pods beyond what it needs, with their locations. */
export function podPowers(parameters: readonly ParametersSpec[]): readonly PodPower[] {
  const field = workloadField(parameters);
  return parameters.flatMap(({ env, [field]: workload, origin }) => [
    ...ofEnvironment(env, ["env"]).map(({ what, path }) => ({
      what,
      origin: childOf(origin, "spec", ...path),
    })),
    ...ofPod(jsonAt(workload?.spec ?? {}, "template", "spec"), ["template", "spec"]).map(
      ({ what, path }) => ({
        what,
        origin: childOf(origin, "spec", field, "spec", ...path),
      }),
    ),
  ]);
}

interface Power {
  readonly what: string;
  readonly path: Path;
}

/** Fields of a pod that grant privileges, with what they grant. */
const OF_POD: Readonly<Record<string, string>> = {
  hostNetwork: "the network of its node",
  hostPID: "the processes of its node",
  hostIPC: "the shared memory of its node",
  serviceAccountName: "another service account",
  serviceAccount: "another service account",
  automountServiceAccountToken: "a token of the API server",
  shareProcessNamespace: "the processes of all its containers",
};

/** Fields of a container that replace the program it runs. */
const COMMANDS: Readonly<Record<string, string>> = {
  command: "another command",
  args: "other arguments",
  lifecycle: "commands when it starts or stops",
};

/** Fields of a security context that are only harmless with this value. */
const CONTEXT: readonly (readonly [
  path: readonly string[],
  harmless: (value: Json) => boolean,
  what: string,
])[] = [
  [["privileged"], (value) => value === false, "all rights on its node (privileged)"],
  [["allowPrivilegeEscalation"], (value) => value === false, "programs that gain rights"],
  [["runAsUser"], (value) => value !== 0, "the user root"],
  [["runAsNonRoot"], (value) => value === true, "the user root"],
  [["capabilities", "add"], isEmpty, "capabilities of the kernel"],
  [["procMount"], (value) => value === "Default", "all of /proc"],
  [["seccompProfile", "type"], (value) => value !== "Unconfined", "every system call"],
  [["appArmorProfile", "type"], (value) => value !== "Unconfined", "no AppArmor profile"],
];

/** Variables that load code into Node.js or any program, or change what Node.js trusts. */
const LOADS_CODE =
  /^(?:NODE_OPTIONS|NODE_PATH|NODE_EXTRA_CA_CERTS|NODE_TLS_REJECT_UNAUTHORIZED|LD_PRELOAD|LD_LIBRARY_PATH|LD_AUDIT)$/;

function ofPod(pod: Json | undefined, path: Path): readonly Power[] {
  if (pod === undefined) return [];
  const fields = Object.entries(OF_POD).flatMap(([field, what]) => {
    const value = jsonAt(pod, field);
    return isUnset(value) ? [] : [{ what: `${what} (${field})`, path: [...path, field] }];
  });
  const volumes = itemsOf(pod, "volumes").flatMap((volume, index) =>
    isUnset(jsonAt(volume, "hostPath"))
      ? []
      : [{ what: "files of its node (hostPath)", path: [...path, "volumes", index, "hostPath"] }],
  );
  const containers = ["initContainers", "containers"].flatMap((kind) =>
    itemsOf(pod, kind).flatMap((container, index) =>
      ofContainer(container, [...path, kind, index]),
    ),
  );
  return [...fields, ...volumes, ...ofContext(pod, path), ...containers];
}

function ofContainer(container: Json, path: Path): readonly Power[] {
  const commands = Object.entries(COMMANDS).flatMap(([field, what]) =>
    isUnset(jsonAt(container, field))
      ? []
      : [{ what: `${what} (${field})`, path: [...path, field] }],
  );
  const ports = itemsOf(container, "ports").flatMap((port, index) =>
    isUnset(jsonAt(port, "hostPort"))
      ? []
      : [{ what: "a port of its node (hostPort)", path: [...path, "ports", index, "hostPort"] }],
  );
  const env = ofEnvironment(itemsOf(container, "env"), [...path, "env"]);
  return [...commands, ...ports, ...env, ...ofContext(container, path)];
}

function ofContext(owner: Json, path: Path): readonly Power[] {
  return CONTEXT.flatMap(([field, isHarmless, what]) => {
    const value = jsonAt(owner, "securityContext", ...field);
    if (value === undefined || value === null || isHarmless(value)) return [];
    return [{ what, path: [...path, "securityContext", ...field] }];
  });
}

function ofEnvironment(list: readonly Json[] | undefined, path: Path): readonly Power[] {
  return (list ?? []).flatMap((variable, index) => {
    const name = jsonAt(variable, "name");
    if (typeof name !== "string" || !LOADS_CODE.test(name)) return [];
    return [{ what: `code or certificates from elsewhere (${name})`, path: [...path, index] }];
  });
}

function itemsOf(owner: Json, field: string): readonly Json[] {
  const list = jsonAt(owner, field);
  return Array.isArray(list) ? list : [];
}

function isEmpty(value: Json): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isUnset(value: Json | undefined): boolean {
  return value === undefined || value === null || value === false || isEmpty(value);
}
