import type { ConfigPath } from "../../diagnostics/diagnostic.ts";
import { fieldsIn, listIn, textIn } from "../proxy/fields.ts";
import type { DraftFields } from "../proxy/route-draft.ts";
import { namesCredential, plainText, secretName } from "../proxy/texts.ts";
import type { SourceFields } from "../source-fields.ts";

/** A manifest and its location. */
export interface EnvoyManifest {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly spec: DraftFields;
  readonly at: ConfigPath;
  readonly source: SourceFields;
}

/** An entry of `llm.models` without its name, and notes for the user. */
export interface EnvoyModel {
  readonly model: DraftFields;
  readonly notes: readonly string[];
}

/** Converts a backendRef of a rule; returns the reason as a string if that is impossible. */
export function envoyModel(
  ref: DraftFields,
  at: ConfigPath,
  route: EnvoyManifest,
  manifests: readonly EnvoyManifest[],
): EnvoyModel | string {
  const find = (kind: string, name: unknown, namespace: unknown = route.namespace) =>
    manifests.find(
      (each) => each.kind === kind && each.name === name && each.namespace === namespace,
    );
  if (ref.kind !== undefined && ref.kind !== "AIServiceBackend")
    return `${textIn(ref.kind)} ${textIn(ref.name)}`;
  const service = find("AIServiceBackend", ref.name, ref.namespace);
  if (service === undefined) return `the files have no AIServiceBackend ${textIn(ref.name)}`;
  const notes: string[] = [];
  const place = `line ${service.source.line(...service.at)}`;
  const { schema, backendRef, headerMutation, backendSecurityPolicyRef } = service.spec;
  const backendName = fieldsIn(backendRef).name;
  const backend = find("Backend", backendName, fieldsIn(backendRef).namespace ?? service.namespace);
  const isOf = (policy: EnvoyManifest) =>
    policy.namespace === service.namespace &&
    (policy.name === fieldsIn(backendSecurityPolicyRef).name ||
      listIn(policy.spec.targetRefs).some((each) => fieldsIn(each).name === service.name));
  const security = manifests.find((each) => each.kind === "BackendSecurityPolicy" && isOf(each));
  const tls = manifests.find(
    ({ kind, spec }) =>
      kind === "BackendTLSPolicy" &&
      listIn(spec.targetRefs).some((each) => fieldsIn(each).name === backendName),
  );
  const { name, prefix, version } = fieldsIn(schema);
  const kind = KINDS[textIn(name) ?? ""];
  if (kind === undefined) return `gwc has no provider for the schema ${textIn(name)}`;
  for (const field of ["name", "modelNameOverride"]) route.source.take(...at, field);
  for (const field of ["schema", "backendRef", "backendSecurityPolicyRef"])
    service.source.take(...service.at, "spec", field);
  const override = textIn(ref.modelNameOverride);
  const params: Record<string, unknown> =
    override === undefined ? {} : { model: plainText(override) };
  const server = serverOf(backend, tls);
  if (backend === undefined)
    notes.push(
      `${place}: the files have no server for ${textIn(backendName)}: requests go to the provider's own`,
    );
  const secured = keyOf(security, kind, service.name, params, notes);
  if (typeof secured === "string") return secured;
  switch (kind) {
    case "openAI": {
      Object.assign(params, server && { hostOverride: server });
      const path = textIn(prefix ?? version);
      if (path !== undefined && path !== "v1" && path !== "/v1") {
        params.pathOverride = plainText(`/${path.replace(/^\//, "")}/chat/completions`);
        notes.push(
          `${place}: this is the path of chat completions; other endpoints of this server need other paths`,
        );
      }
      break;
    }
    case "anthropic":
    case "gemini":
      Object.assign(params, server && { hostOverride: server });
      break;
    case "azure":
      params.azureHost =
        server?.replace(/^https?:\/\//, "").replace(/:\d+$/, "") ?? "RESOURCE.openai.azure.com";
      params.azureApiVersion = textIn(version);
      break;
    default:
      break;
  }
  const headers = headersOf(fieldsIn(headerMutation), place, notes);
  service.source.take(...service.at, "spec", "headerMutation");
  return {
    model: {
      provider: kind,
      params,
      ...(Object.keys(headers).length > 0 && { requestHeaders: headers }),
    },
    notes,
  };
}

/** The gwc provider for each schema of Envoy AI Gateway. */
const KINDS: Readonly<Record<string, string>> = {
  OpenAI: "openAI",
  Anthropic: "anthropic",
  AzureOpenAI: "azure",
  AWSBedrock: "bedrock",
  AWSAnthropic: "bedrock",
  GCPVertexAI: "vertex",
  GCPAnthropic: "vertex",
};

/** Returns `https://host:port`; `undefined` if it is unknown. */
function serverOf(
  backend: EnvoyManifest | undefined,
  tls: EnvoyManifest | undefined,
): string | undefined {
  if (backend === undefined) return undefined;
  const [first] = listIn(backend.spec.endpoints).map(fieldsIn);
  const { hostname, address, port } = { ...fieldsIn(first?.fqdn), ...fieldsIn(first?.ip) };
  const host = textIn(hostname ?? address);
  if (host === undefined) return undefined;
  backend.source.take(...backend.at, "spec", "endpoints", 0);
  if (tls !== undefined) {
    for (const field of ["targetRefs", "validation"]) tls.source.take(...tls.at, "spec", field);
  }
  const isSecure = tls !== undefined || backend.spec.tls !== undefined || Number(port) === 443;
  const own = Number(port) === (isSecure ? 443 : 80) ? "" : `:${textIn(port) ?? ""}`;
  return `${isSecure ? "https" : "http"}://${host}${own}`;
}

/** Converts the credentials of a provider into `params`; returns the reason as a string if that is impossible. */
function keyOf(
  policy: EnvoyManifest | undefined,
  kind: string,
  name: string,
  params: Record<string, unknown>,
  notes: string[],
): string | undefined {
  if (policy === undefined) {
    notes.push(`${name} has no BackendSecurityPolicy: the client's own key is forwarded`);
    return undefined;
  }
  const { source, at, spec } = policy;
  const place = `line ${source.line(...at)}`;
  const type = textIn(spec.type) ?? "";
  const variable = `${secretName(name)}_API_KEY`;
  for (const field of ["type", "targetRefs"]) source.take(...at, "spec", field);
  const secret = ["apiKey", "anthropicAPIKey", "azureAPIKey"].find(
    (field) => spec[field] !== undefined,
  );
  if (secret !== undefined) {
    source.take(...at, "spec", secret);
    params.apiKey = `\${${variable}}`;
    const { name: where } = fieldsIn(fieldsIn(spec[secret]).secretRef);
    notes.push(
      `${place}: set the variable ${variable} to the key in the Secret ${textIn(where) ?? ""}`,
    );
    return undefined;
  }
  if (type === "AWSCredentials" && kind === "bedrock") {
    const aws = fieldsIn(spec.awsCredentials);
    params.awsRegion = textIn(aws.region);
    source.take(...at, "spec", "awsCredentials", "region");
    notes.push(
      `${place}: requests are signed with the AWS credentials of the gateway's environment (AWS_PROFILE, AWS_ACCESS_KEY_ID, ...)`,
    );
    return undefined;
  }
  if (type === "GCPCredentials" && kind === "vertex") {
    const gcp = fieldsIn(spec.gcpCredentials);
    params.vertexProject = textIn(gcp.projectName);
    params.vertexRegion = textIn(gcp.region);
    source.take(...at, "spec", "gcpCredentials", "projectName");
    source.take(...at, "spec", "gcpCredentials", "region");
    notes.push(
      `${place}: tokens come from GOOGLE_APPLICATION_CREDENTIALS or the service account that the gateway runs as`,
    );
    return undefined;
  }
  if (type === "AzureCredentials" && kind === "azure") {
    notes.push(
      `${place}: Entra tokens are supported only under binds (backendAuth.azure): set an API key here`,
    );
    params.apiKey = `\${${variable}}`;
    return undefined;
  }
  return `${place}: gwc does not support credentials of type ${type}`;
}

function headersOf(mutation: DraftFields, place: string, notes: string[]): DraftFields {
  const set: Record<string, string> = {};
  for (const each of listIn(mutation.set).map(fieldsIn)) {
    const [name, value] = [textIn(each.name) ?? "", textIn(each.value) ?? ""];
    const variable = secretName(name);
    if (namesCredential(name))
      notes.push(`${place} may contain a credential: put it into the variable ${variable}`);
    set[name] = namesCredential(name) ? `\${${variable}}` : plainText(value);
  }
  const remove = listIn(mutation.remove).filter((each) => typeof each === "string");
  return {
    ...(Object.keys(set).length > 0 && { set }),
    ...(remove.length > 0 && { remove }),
  };
}
