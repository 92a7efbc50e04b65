import type { ConfigPath } from "../../diagnostics/diagnostic.ts";
import type { ImportDraft, ImportNote } from "../imported-text.ts";
import { fieldsIn, listIn, textIn } from "../proxy/fields.ts";
import type { DraftFields } from "../proxy/route-draft.ts";
import type { SourceFields } from "../source-fields.ts";
import { closedRules, MODEL_HEADER } from "./closed-rules.ts";
import type { EnvoyManifest } from "./envoy-manifest.ts";
import { envoyModel } from "./envoy-provider.ts";

/** Manifests of Envoy AI Gateway; a string is why nothing can be made of them. */
export function importEnvoyAi(sources: readonly SourceFields[]): ImportDraft | string {
  const manifests = sources.flatMap(manifestsIn);
  const routes = manifests.filter(({ kind }) => kind === "AIGatewayRoute");
  if (routes.length === 0) return "has no AIGatewayRoute";
  const notes: ImportNote[] = [];
  const models: DraftFields[] = [];
  const closed: DraftFields[] = [];
  for (const route of routes) {
    const rules = listIn(route.spec.rules);
    rules.forEach((each, index) => {
      const rule = fieldsIn(each);
      const at: ConfigPath = [...route.at, "spec", "rules", index];
      const place = `line ${route.source.line(...at)}`;
      const names = namesOf(rule, at, route.source);
      if (typeof names === "string") {
        notes.push({ path: ["llm", "policies"], text: `${place}: refused, as ${names}` });
        closed.push(rule);
        return;
      }
      const made = listIn(rule.backendRefs).flatMap((ref, number) => {
        const where: ConfigPath = [...at, "backendRefs", number];
        const found = envoyModel(fieldsIn(ref), where, route, manifests);
        if (typeof found !== "string") return [found];
        notes.push({
          path: ["llm", "models"],
          text: `line ${route.source.line(...where)}: left out: ${found}`,
        });
        return [];
      });
      if (made.length === 0) {
        notes.push({
          path: ["llm", "policies"],
          text: `${place}: refused, as it has no server here`,
        });
        closed.push(rule);
      }
      if (made.length > 1)
        notes.push({
          path: ["llm", "models", models.length],
          text: `${place}: entries of one name share its requests evenly: weights and priorities of backendRefs are not here; groups of an ai backend under binds have an order`,
        });
      for (const name of names) {
        for (const { model, notes: texts } of made) {
          for (const text of texts) notes.push({ path: ["llm", "models", models.length], text });
          models.push({ name, ...model });
        }
      }
    });
    route.source.take(...route.at, "spec", "parentRefs");
    route.source.take(...route.at, "spec", "schema");
  }
  if (models.length === 0)
    return `has no model that can be served: ${notes.map(({ text }) => text).join("; ")}`;
  notes.push({
    path: ["llm", "models"],
    text: "whoever reaches the port may use every model: give clients keys or tokens (apiKey, jwtAuth) as SecurityPolicies of Envoy Gateway did",
  });
  const policies = closedRules(closed);
  const guarded = closed.length === 0 ? {} : { policies };
  return { value: { llm: { port: 4000, ...guarded, models } }, notes };
}

function manifestsIn(source: SourceFields): readonly EnvoyManifest[] {
  const isOne = !Array.isArray(source.value);
  const values = isOne ? [source.value] : listIn(source.value);
  return values.flatMap((each, index) => {
    const own: ConfigPath = isOne ? [] : [index];
    const value = fieldsIn(each);
    const inside = value.kind === "List" ? listIn(value.items) : [each];
    return inside.map((item, number): EnvoyManifest => {
      const at = value.kind === "List" ? [...own, "items", number] : own;
      const { kind, metadata, spec } = fieldsIn(item);
      const { name, namespace = "default" } = fieldsIn(metadata);
      for (const field of ["apiVersion", "kind"]) source.take(...at, field);
      for (const field of ["name", "namespace"]) source.take(...at, "metadata", field);
      return {
        kind: textIn(kind) ?? "",
        name: textIn(name) ?? "",
        namespace: textIn(namespace) ?? "default",
        spec: fieldsIn(spec),
        at,
        source,
      };
    });
  });
}

/** The models that a rule is for; a string is why gwc can't say. */
function namesOf(
  rule: DraftFields,
  at: ConfigPath,
  source: SourceFields,
): readonly string[] | string {
  const matches = listIn(rule.matches).map(fieldsIn);
  if (matches.length === 0) return ["*"];
  const names = matches.map((match, index): string | undefined => {
    const headers = listIn(match.headers).map(fieldsIn);
    const [header] = headers;
    if (headers.length !== 1 || Object.keys(match).length !== 1) return undefined;
    if (header?.name !== MODEL_HEADER || (header.type ?? "Exact") !== "Exact") return undefined;
    source.take(...at, "matches", index);
    return textIn(header.value);
  });
  const known = names.filter((each) => each !== undefined);
  return known.length === names.length ? known : "it matches by more than the name of a model";
}
