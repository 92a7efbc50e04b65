import { GATEWAY_GROUP } from "../../1-parse/kubernetes/kinds.ts";
import type { KubernetesModel } from "../../2-lower/kubernetes/gateway/gateways.ts";
import { kindsTaken } from "../../2-lower/kubernetes/gateway/listeners.ts";
import type { ListenerSpec, Manifest, ManifestOf } from "../../manifests/manifests.ts";
import {
  type Condition,
  falseCondition,
  type Problem,
  trueCondition,
  within,
} from "./conditions.ts";

/** The status of a Gateway or ListenerSet: its own conditions, and those of its listeners. */
export function gatewayStatus(
  manifest: ManifestOf<"Gateway"> | ManifestOf<"ListenerSet">,
  problems: readonly Problem[],
  kubernetes: KubernetesModel,
): object {
  const errors = problems.filter(({ isError }) => isError);
  const parameters = within(errors, "spec", "infrastructure");
  const ofListeners = within(errors, "spec", "listeners");
  const others = errors.filter((each) => !parameters.includes(each) && !ofListeners.includes(each));
  const accepted =
    parameters.length > 0
      ? falseCondition("Accepted", "InvalidParameters", parameters)
      : others.length > 0
        ? falseCondition("Accepted", others.find(({ cause }) => cause)?.cause ?? "Invalid", others)
        : ofListeners.length > 0
          ? falseCondition("Accepted", "ListenersNotValid", ofListeners)
          : trueCondition("Accepted", "Accepted");
  const programmed =
    errors.length === 0
      ? trueCondition("Programmed", "Programmed")
      : falseCondition("Programmed", "Invalid", errors);
  return {
    conditions: [accepted, programmed],
    listeners: (manifest.spec?.listeners ?? []).flatMap((listener, index) =>
      listener === undefined
        ? []
        : {
            name: listener.name,
            ...(manifest.kind === "ListenerSet" ? { port: listener.port } : {}),
            supportedKinds: supportedKinds(listener),
            attachedRoutes: attachedRoutes(manifest, listener.name, kubernetes),
            conditions: listenerConditions(within(problems, "spec", "listeners", index)),
          },
    ),
  };
}

/** The status of a GatewayClass: it is accepted, or its parameters are no good. */
export function classStatus(problems: readonly Problem[]): object {
  const errors = problems.filter(({ isError }) => isError);
  return {
    conditions: [
      errors.length === 0
        ? trueCondition("Accepted", "Accepted")
        : falseCondition("Accepted", "InvalidParameters", errors),
    ],
  };
}

function listenerConditions(problems: readonly Problem[]): readonly Condition[] {
  const errors = problems.filter(({ isError }) => isError);
  const kinds = problems.filter(({ code }) => code === "wrong-route-kind");
  const conflicts = errors.filter(({ code }) => CONFLICTS[code] !== undefined);
  const references = errors.filter(({ path }) => path.includes("certificateRefs"));
  const others = errors.filter((each) => !conflicts.includes(each) && !references.includes(each));
  const unsupported = others.some(({ path }) => path.includes("protocol"));
  const denied = references.some(({ code }) => code === "reference-not-permitted");
  return [
    others.length === 0
      ? trueCondition("Accepted", "Accepted")
      : falseCondition("Accepted", unsupported ? "UnsupportedProtocol" : "Invalid", others),
    conflicts.length === 0
      ? { type: "Conflicted", status: "False", reason: "NoConflicts", message: "" }
      : {
          ...falseCondition(
            "Conflicted",
            CONFLICTS[conflicts[0]?.code ?? ""] ?? "HostnameConflict",
            conflicts,
          ),
          status: "True",
        },
    references.length > 0
      ? falseCondition(
          "ResolvedRefs",
          denied ? "RefNotPermitted" : "InvalidCertificateRef",
          references,
        )
      : kinds.length > 0
        ? falseCondition("ResolvedRefs", "InvalidRouteKinds", kinds)
        : trueCondition("ResolvedRefs", "ResolvedRefs"),
    errors.length === 0
      ? trueCondition("Programmed", "Programmed")
      : falseCondition("Programmed", "Invalid", errors),
  ];
}

const CONFLICTS: Readonly<Record<string, string>> = {
  "listener-conflict": "HostnameConflict",
  "protocol-conflict": "ProtocolConflict",
};

/** Of the kinds that it takes those whose data path is built. */
function supportedKinds(listener: ListenerSpec): readonly object[] {
  return kindsTaken(listener).map((kind) => ({ group: GATEWAY_GROUP, kind }));
}

function attachedRoutes(owner: Manifest, name: string, { attachments }: KubernetesModel): number {
  const routes = attachments
    .filter(({ listener }) => listener.owner === owner && listener.spec.name === name)
    .map(({ route }) => route);
  return new Set(routes).size;
}
