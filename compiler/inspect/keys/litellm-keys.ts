import { isJsonObject } from "../../../runtime/json/json-object.ts";
import type { KeyChoices } from "../../../runtime/store/key-registry.ts";
import type { KeyLimit } from "../../../runtime/store/stored-key.ts";

/** A key of another gateway that can be adopted: only its SHA-256 digest is known. */
export interface ForeignKey {
  readonly name: string;
  readonly digest: string;
  readonly shown: string;
  readonly choices: KeyChoices;
}

/** Keys of a file, and why the others cannot be adopted. */
export interface ForeignKeys {
  readonly keys: readonly ForeignKey[];
  readonly problems: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads keys of LiteLLM: the response of `/key/list?return_full_object=true`, or rows of its table LiteLLM_VerificationToken as
 * JSON. LiteLLM stores the SHA-256 of a key, as gwc does. A key that would have more rights here than there is not read.
 * Returns a string that says what is wrong with the file.
 */
export function readLitellmKeys(text: string): ForeignKeys | string {
  const rows = rowsOf(text);
  if (rows === undefined)
    return "it is not JSON with a list of keys, as GET /key/list?return_full_object=true of LiteLLM returns";
  const keys: ForeignKey[] = [];
  const problems: string[] = [];
  for (const [index, row] of rows.entries()) {
    const label = typeof row.key_alias === "string" ? `"${row.key_alias}"` : `entry ${index + 1}`;
    const read = readKey(row);
    if (typeof read === "string") problems.push(`${label}: ${read}`);
    else keys.push(read);
  }
  return { keys, problems };
}

function rowsOf(text: string): readonly Fields[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const list = Array.isArray(value) ? value : fieldsOf(value).keys;
    return Array.isArray(list) ? list.map(fieldsOf) : undefined;
  } catch {
    return undefined;
  }
}

function readKey(row: Fields): ForeignKey | string {
  const digest = row.token;
  if (typeof digest !== "string" || !/^[0-9a-f]{64}$/.test(digest))
    return "has no SHA-256 digest as its token";
  if (row.blocked === true) return "is blocked";
  const unknown = Object.keys(RESTRICTIONS).find((name) => isGiven(row[name]));
  if (unknown !== undefined) return `has "${unknown}", ${RESTRICTIONS[unknown]}`;
  const expires = isGiven(row.expires) ? Date.parse(String(row.expires)) : undefined;
  if (expires !== undefined && Number.isNaN(expires)) return 'has an "expires" that is no time';
  if (expires !== undefined && expires <= Date.now()) return "has expired";
  const limits = limitsOf(row);
  if (typeof limits === "string") return limits;
  const models = modelsOf(row.models);
  if (typeof models === "string") return models;
  const { key_alias: alias, key_name: shown, team_id: team, user_id: user } = row;
  const name = typeof alias === "string" && alias !== "" ? alias : `litellm-${digest.slice(0, 12)}`;
  const { name: _, ...metadata } = fieldsOf(row.metadata);
  return {
    name:
      name.replace(/[^A-Za-z0-9._@/-]/g, "-").replace(/^[^A-Za-z0-9]+/, "") || digest.slice(0, 12),
    digest,
    shown: typeof shown === "string" ? shown.slice(0, 8) : "",
    choices: {
      metadata: JSON.parse(
        JSON.stringify({
          ...metadata,
          ...(isGiven(team) && { team }),
          ...(isGiven(user) && { user }),
        }),
      ),
      models,
      limits,
      expires,
    },
  };
}

/** Fields that restrict a key in a way that a stored key cannot express. */
const RESTRICTIONS: Readonly<Record<string, string>> = {
  max_parallel_requests: "which keys do not have here",
  permissions: "which keys do not have here",
  allowed_routes: "which rules decide here",
  model_max_budget: "and budgets are for all models of a key",
  rpm_limit_per_model: "and limits are for all models of a key",
  tpm_limit_per_model: "and limits are for all models of a key",
};

function isGiven(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === false) return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

/** An empty list and `all-proxy-models` mean any model. `all-team-models` depends on a team. */
function modelsOf(value: unknown): readonly string[] | string | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const models = value.map(String);
  if (models.includes("all-proxy-models")) return undefined;
  if (models.includes("all-team-models"))
    return 'has "all-team-models", and there are no teams here: list the models';
  if (models.includes("no-default-models")) return 'has "no-default-models": it may use no model';
  return models;
}

function limitsOf(row: Fields): readonly KeyLimit[] | string {
  const limits: KeyLimit[] = [];
  if (typeof row.rpm_limit === "number")
    limits.push({ counts: "requests", amount: row.rpm_limit, period: "minute" });
  if (typeof row.tpm_limit === "number")
    limits.push({ counts: "tokens", amount: row.tpm_limit, period: "minute" });
  if (typeof row.max_budget === "number") {
    const period = PERIODS[String(row.budget_duration)];
    if (period === undefined)
      return `has a budget per ${JSON.stringify(row.budget_duration ?? "lifetime")}: only budgets per hour, day and month (30d) can be kept`;
    limits.push({ counts: "cost", amount: row.max_budget, period });
  }
  return limits.some(({ amount }) => amount <= 0) ? "has a limit of 0: it may do nothing" : limits;
}

const PERIODS: Readonly<Record<string, KeyLimit["period"]>> = {
  "1h": "hour",
  "24h": "day",
  "1d": "day",
  "30d": "month",
  "31d": "month",
  "1mo": "month",
};

function fieldsOf(value: unknown): Fields {
  return isJsonObject(value) ? value : {};
}
