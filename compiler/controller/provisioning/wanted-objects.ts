import { kubernetesResources } from "../../../templates/kubernetes/resources.ts";
import type { AgentPodSettings } from "../../../templates/kubernetes/settings.ts";
import type { Program } from "../../ir/program.ts";
import { type ApiObject, apiVersionOf, readObject } from "../kubernetes/api-object.ts";
import { recordOf, textField } from "../kubernetes/json-fields.ts";
import { ownedTypes } from "./owned-types.ts";

/** How the pods of Gateways are made. */
export interface PodSettings extends Omit<AgentPodSettings, "gateway"> {
  /** What runs `gwc agent`, unless the parameters of a Gateway name another image. */
  readonly image: string;
}

/** The objects that run a Gateway: they are its own, and end with it. */
export function wantedObjects(
  program: Program,
  gateway: ApiObject,
  { image, ...agent }: PodSettings,
): readonly ApiObject[] {
  const { deployment } = program;
  if (deployment === undefined) return [];
  const { name, uid } = gateway.metadata;
  const owner = {
    ...{ apiVersion: gateway.apiVersion, kind: gateway.kind, name, uid },
    ...{ controller: true, blockOwnerDeletion: true },
  };
  const settings = { image, bundle: undefined, digest: "", agent: { ...agent, gateway: name } };
  return kubernetesResources(program, deployment, settings).flatMap(({ value }) => {
    const type = ownedTypes.find(
      (each) =>
        each.kind === textField(value, "kind") &&
        apiVersionOf(each) === textField(value, "apiVersion"),
    );
    const metadata = { ...recordOf(recordOf(value)?.metadata), ownerReferences: [owner] };
    const object = type && readObject({ ...recordOf(value), metadata }, type);
    return object ?? [];
  });
}
