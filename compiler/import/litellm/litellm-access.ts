import { isJsonObject } from "../../../runtime/json/json-object.ts";
import type { SourceFields } from "../source-fields.ts";

/** Access to models. */
export interface LiteLlmAccess {
  readonly value: Readonly<Record<string, unknown>>;
  readonly notes: readonly (readonly [field: string, text: string])[];
  /** Whether callers need a credential, or everybody is refused. */
  readonly isClosed: boolean;
}

/** Converts `general_settings` that say who may call: addresses, the master key, tokens and custom checks. */
export function liteLlmAccess(source: SourceFields): LiteLlmAccess {
  const general = objectAt(objectAt(source.value).general_settings);
  const callers = callersOf(general, source);
  const ranges = addressesOf(general, source);
  if (ranges === undefined) return callers;
  const rules = objectAt(callers.value.authorization).rules ?? [{ require: ranges }];
  return {
    value: { ...callers.value, authorization: { rules } },
    notes: [
      ...callers.notes,
      [
        "authorization",
        "the address is that of the connection: behind a proxy, set frontendPolicies.proxyProtocol",
      ],
    ],
    isClosed: true,
  };
}

/** Converts `allowed_ips` to a condition; `undefined` if every address may call. */
function addressesOf(
  { allowed_ips: list }: Readonly<Record<string, unknown>>,
  source: SourceFields,
): string | undefined {
  if (!Array.isArray(list) || !list.every((each) => typeof each === "string")) return undefined;
  source.take("general_settings", "allowed_ips");
  const tests = list.map((each) =>
    each.includes("/")
      ? `cidr(${JSON.stringify(each)}).containsIP(source.address)`
      : `source.address == ${JSON.stringify(each)}`,
  );
  return tests.length === 0 ? "false" : tests.join(" || ");
}

function callersOf(
  general: Readonly<Record<string, unknown>>,
  source: SourceFields,
): LiteLlmAccess {
  if (general.enable_jwt_auth === true) return tokensOf(general, source);
  const master = general.master_key;
  if (typeof master === "string") return masterKey(master, source);
  if (general.custom_auth === undefined) return { value: {}, notes: [], isClosed: false };
  const line = source.line("general_settings", "custom_auth");
  return everybodyRefused(`line ${line}: a Python function decides who may call`);
}

function masterKey(master: string, source: SourceFields): LiteLlmAccess {
  source.take("general_settings", "master_key");
  const key = fromEnvironment(master);
  const line = source.line("general_settings", "master_key");
  const notes: (readonly [string, string])[] = [];
  if (key === master)
    notes.push([
      "apiKey",
      `line ${line} has a literal key: put it into the variable LITELLM_MASTER_KEY`,
    ]);
  notes.push([
    "apiKey",
    "keys that the proxy created are in its database: set `store: true` here and run `gwc keys import`, or add a key for each user",
  ]);
  const value = { apiKey: { keys: [{ key: key === master ? "${LITELLM_MASTER_KEY}" : key }] } };
  return { value, notes, isClosed: true };
}

/** Converts `litellm_jwtauth`. Without its issuer, audience and keys, everybody is refused. */
function tokensOf(general: Readonly<Record<string, unknown>>, source: SourceFields): LiteLlmAccess {
  const { issuer, audience, public_key_url: url } = objectAt(general.litellm_jwtauth);
  const audiences = [audience].flat().filter((each) => typeof each === "string");
  const line = source.line("general_settings", "enable_jwt_auth");
  if (typeof issuer !== "string" || audiences.length === 0 || typeof url !== "string")
    return everybodyRefused(
      `line ${line}: tokens require an issuer, audiences and the URL of keys: set jwtAuth`,
    );
  if (/\.well-known\/openid-configuration\/?$/.test(url))
    return everybodyRefused(
      `line ${line}: write jwtAuth with the jwks_uri of the issuer's discovery document`,
    );
  source.take("general_settings", "enable_jwt_auth");
  for (const field of ["issuer", "audience", "public_key_url"])
    source.take("general_settings", "litellm_jwtauth", field);
  const value = { jwtAuth: { issuer, audiences, jwks: { url: fromEnvironment(url) } } };
  const notes = [
    [
      "jwtAuth",
      "LiteLLM also accepts its own keys, and maps claims to teams and roles; gwc accepts tokens only",
    ] as const,
  ];
  return { value, notes, isClosed: true };
}

function everybodyRefused(text: string): LiteLlmAccess {
  const value = { authorization: { rules: [{ deny: "true" }] } };
  return {
    value,
    notes: [["authorization", `${text}; until then every caller is refused`]],
    isClosed: true,
  };
}

/** Converts `os.environ/NAME` to `${NAME}`; other strings are unchanged. */
export function fromEnvironment(text: string): string {
  return text.replace(/^os\.environ\/([A-Za-z_]\w*)$/, "$${$1}");
}

function objectAt(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? { ...value } : {};
}
