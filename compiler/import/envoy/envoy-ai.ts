import type { ConfigPath } from "../../diagnostics/diagnostic.ts";
import type { ImportDraft, ImportNote } from "../imported-text.ts";
import { fieldsIn, listIn, textIn, textsIn } from "../proxy/fields.ts";
import { CLOSED, type DraftFields } from "../proxy/route-draft.ts";
import { plainText } from "../proxy/texts.ts";
import type { SourceFields } from "../source-fields.ts";
import { type EnvoyManifest, envoyModel } from "./envoy-provider.ts";

/** Access to models, from the SecurityPolicies of Envoy Gateway. */
interface EnvoyAccess {
  /** Policies of the `llm` section. */
  readonly policies: DraftFields;
  readonly note: string;
}

/** Parts of a SecurityPolicy that decide who may call. */
const DECIDING = ["jwt", "apiKeyAuth", "basicAuth", "oidc", "extAuth", "authorization"] as const;

/** Converts manifests of Envoy AI Gateway; returns the reason as a string if that is impossible. */
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
        notes.push({ path: ["llm", "policies"], text: `${place}: refused, because ${names}` });
        closed.push(rule);
        return;
      }
      const made = listIn(rule.backendRefs).flatMap((ref, number) => {
        const where: ConfigPath = [...at, "backendRefs", number];
        const found = envoyModel(fieldsIn(ref), where, route, manifests);
        if (typeof found !== "string") return [found];
        notes.push({
          path: ["llm", "models"],
          text: `line ${route.source.line(...where)}: skipped: ${found}`,
        });
        return [];
      });
      if (made.length === 0) {
        notes.push({
          path: ["llm", "policies"],
          text: `${place}: refused, because it has no server that gwc supports`,
        });
        closed.push(rule);
      }
      if (made.length > 1)
        notes.push({
          path: ["llm", "models", models.length],
          text: `${place}: entries with the same name share requests evenly; weights and priorities of backendRefs are lost. Use groups of an ai backend for priorities`,
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
  const access = envoyAccess(manifests);
  const refusals = closedRules(closed);
  // Both may have rules; if everybody is refused anyway, those of models are not needed.
  const policies =
    "authorization" in access.policies ? access.policies : { ...access.policies, ...refusals };
  const isGuarded = Object.keys(access.policies).length > 0;
  notes.push({ path: ["llm", isGuarded ? "policies" : "models"], text: access.note });
  const guarded = Object.keys(policies).length === 0 ? {} : { policies };
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

/** Returns the models that a rule matches, or the reason why gwc cannot tell. */
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
    if (header?.name !== MODEL_HEADER) return undefined;
    const name = modelName(header);
    if (name !== undefined) source.take(...at, "matches", index);
    return name;
  });
  const known = names.filter((each) => each !== undefined);
  return known.length === names.length ? known : "it matches by more than the model's name";
}

/** Returns the name, or the pattern with one `*`, that a match of the model's header is about. */
function modelName({ type = "Exact", value }: DraftFields): string | undefined {
  const text = textIn(value);
  if (type === "Exact") return text;
  if (type !== "RegularExpression" || text === undefined) return undefined;
  const [, name, rest] = /^\^?([\w/:-]*)(\.[*+])?\$?$/.exec(text) ?? [];
  if (name === undefined) return undefined;
  return rest === undefined ? name : `${name}*`;
}

/**
 * Returns policies that refuse the requests of skipped rules, so that a catch-all rule does not serve them. If the matches
 * of a skipped rule cannot be expressed, all requests are refused.
 */
function closedRules(rules: readonly DraftFields[]): DraftFields {
  if (rules.length === 0) return {};
  const conditions = rules.flatMap(({ matches }) => listIn(matches).map(conditionOf));
  const known = conditions.filter((each) => each !== undefined);
  const isEach = rules.every(({ matches }) => listIn(matches).length > 0);
  if (!isEach || known.length < conditions.length) return { directResponse: CLOSED };
  return { authorization: { rules: [...new Set(known)].map((deny) => ({ deny })) } };
}

/** Converts a match to a CEL condition; `undefined` if gwc cannot express it. */
function conditionOf(match: unknown): string | undefined {
  const { headers, ...others } = fieldsIn(match);
  const parts = listIn(headers).map((each) => headerCondition(fieldsIn(each)));
  const known = parts.filter((each) => each !== undefined);
  if (known.length === 0 || known.length < parts.length || Object.keys(others).length > 0)
    return undefined;
  return plainText(known.join(" && "));
}

/** Converts a header match to CEL; an absent header counts as empty, so that it alone does not refuse a request. */
function headerCondition({ name, type = "Exact", value }: DraftFields): string | undefined {
  const [header, text] = [textIn(name)?.toLowerCase(), textIn(value)];
  if (header === undefined || text === undefined) return undefined;
  const read =
    header === MODEL_HEADER
      ? "json(request.body).model"
      : `request.headers[${JSON.stringify(header)}]`;
  const subject = `default(${read}, "")`;
  if (type === "Exact") return `${subject} == ${JSON.stringify(text)}`;
  if (type !== "RegularExpression") return undefined;
  return `${subject}.matches(${JSON.stringify(`^(?:${text})$`)})`;
}

/** Header by which Envoy AI Gateway's rules match the model in the request body. */
const MODEL_HEADER = "x-ai-eg-model";

/**
 * Converts the SecurityPolicies of the files: the tokens of one issuer. Everybody is refused if they decide by anything else,
 * because the result would be open otherwise.
 */
function envoyAccess(manifests: readonly EnvoyManifest[]): EnvoyAccess {
  const policies = manifests.filter(
    ({ kind, spec }) => kind === "SecurityPolicy" && DECIDING.some((part) => part in spec),
  );
  const [first] = policies;
  if (first === undefined)
    return {
      policies: {},
      note: "every client that reaches the port may use every model: require keys or tokens (apiKey, jwtAuth), as SecurityPolicies of Envoy Gateway did",
    };
  const jwtAuth = policies.length === 1 ? tokensOf(first) : undefined;
  if (jwtAuth !== undefined)
    return {
      policies: { jwtAuth },
      note: `SecurityPolicy ${first.name} applied to its targets; here its tokens are required for every model`,
    };
  const lines = policies.map(({ source, at }) => `line ${source.line(...at)}`).join(", ");
  return {
    policies: { authorization: { rules: [{ deny: "true" }] } },
    note: `${lines}: every caller is refused until you decide who may call, as SecurityPolicies did`,
  };
}

/** Returns `jwtAuth` for a policy that only requires tokens of one issuer; `undefined` for any other policy. */
function tokensOf({ spec, source, at }: EnvoyManifest): DraftFields | undefined {
  if (DECIDING.some((part) => part !== "jwt" && part in spec)) return undefined;
  const jwt = fieldsIn(spec.jwt);
  const [provider, second] = listIn(jwt.providers).map(fieldsIn);
  if (provider === undefined || second !== undefined || jwt.optional === true) return undefined;
  const { issuer, audiences, remoteJWKS, extractFrom } = provider;
  const [url, names] = [textIn(fieldsIn(remoteJWKS).uri), textsIn(audiences)];
  const name = textIn(issuer);
  if (name === undefined || url === undefined || names.length === 0 || extractFrom !== undefined)
    return undefined;
  const path = [...at, "spec", "jwt", "providers", 0];
  for (const field of ["issuer", "audiences"]) source.take(...path, field);
  source.take(...path, "remoteJWKS", "uri");
  return { issuer: name, audiences: names, jwks: { url } };
}
