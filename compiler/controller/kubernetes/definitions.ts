import { customResourceDefinitions } from "../../1-parse/kubernetes/crd.ts";
import type { ApiServer } from "./api-server.ts";
import { itemsField, recordOf, textField } from "./json-fields.ts";

/** Path of the definitions of kinds. */
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/**
 * The release of the Gateway API whose definitions are installed (`v1.5.1`), as one of them says; undefined when they are
 * not, do not say, or may not be read.
 */
export async function gatewayApiVersion(api: ApiServer): Promise<string | undefined> {
  const definition = await definitionOf("gatewayclasses.gateway.networking.k8s.io", api);
  const annotations = recordOf(recordOf(definition)?.metadata)?.annotations;
  return textField(annotations, "gateway.networking.k8s.io/bundle-version");
}

/**
 * Fields of gwc's own kinds that the installed definitions do not have, as `KIND PATH`: the API server drops them before
 * anybody reads them. Definitions that are not there, or may not be read, lack nothing.
 */
export async function fieldsNotInstalled(api: ApiServer): Promise<readonly string[]> {
  const all = await Promise.all(
    customResourceDefinitions().map(async (own) => {
      const { metadata, spec } = recordOf(own) ?? {};
      const installed = await definitionOf(textField(metadata, "name") ?? "", api);
      if (installed === undefined) return [];
      const kind = textField(recordOf(spec)?.names, "kind");
      const fields = fieldsMissing(specSchema(own), specSchema(installed), "spec");
      return fields.map((field) => `${kind} ${field}`);
    }),
  );
  return all.flat();
}

async function definitionOf(name: string, api: ApiServer): Promise<unknown> {
  const { status, body } = await api.request({ method: "GET", path: `${DEFINITIONS}/${name}` });
  return status === 200 ? body : undefined;
}

/** The schema of the `spec` of a definition of one version. */
function specSchema(definition: unknown): unknown {
  const [version] = itemsField(recordOf(definition)?.spec, "versions");
  const root = recordOf(recordOf(recordOf(version)?.schema)?.openAPIV3Schema);
  return recordOf(root?.properties)?.spec;
}

/** Paths that one schema has and the other one does not. */
function fieldsMissing(own: unknown, installed: unknown, path: string): readonly string[] {
  const [ours, theirs] = [recordOf(own), recordOf(installed)];
  if (ours === undefined || theirs === undefined) return [];
  if (theirs["x-kubernetes-preserve-unknown-fields"] === true) return [];
  const known = recordOf(theirs.properties) ?? {};
  const fields = Object.entries(recordOf(ours.properties) ?? {}).flatMap(([name, schema]) => {
    const field = `${path}.${name}`;
    return Object.hasOwn(known, name) ? fieldsMissing(schema, known[name], field) : [field];
  });
  return [
    ...fields,
    ...fieldsMissing(ours.items, theirs.items, `${path}[]`),
    ...fieldsMissing(ours.additionalProperties, theirs.additionalProperties, `${path}.*`),
  ];
}
