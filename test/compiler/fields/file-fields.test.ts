import { describe, expect, it } from "vitest";
import { listenerPolicyFields } from "../../../compiler/1-parse/standalone/policies.ts";
import { standaloneSchema } from "../../../compiler/1-parse/standalone/standalone.ts";
import type { ConfigValue } from "../../../compiler/schema/config-values.ts";
import {
  type ConfigurationForm,
  isTold,
  silencedBy,
  unseenBy,
  verdictOf,
} from "./acting-fields.ts";
import { files, known, seeds, told } from "./file-cases.ts";
import { fileCompiler } from "./file-compiler.ts";
import { placed } from "./placed-field.ts";
import { leavesOf, type SchemaField, type Step, valueWithAll } from "./schema-walk.ts";

const schema = standaloneSchema();
/** Fields that only others refer to. */
const NAMES = [
  ...["backends", "routeGroups", "services"].map((part) => `${part}.[].name`),
  "services.[].namespace",
];
/** Fields for editors, fields without references, and fields with one value that may be left out: a file is one gateway. */
const LABELS =
  /^\$schema$|^policies\.\[\]\.(name\.|target\.(gateway\.gateway(Name|Namespace)|route\.namespace)$)|^llm\.providers\.\[\]\.name$/;
/** Any other route and its policies, by the same schema: a bind's route stands for them. */
const LIKE_A_ROUTE =
  /^(?:(?:llm|mcp)\.policies|(?:routeGroups\.\[\]\.)?routes\.\[\]|tcpRoutes\.\[\]|policies\.\[\]\.policy)\.(?!gateways\b)/;
/** Credentials of backends with many fields: those of a bind's route stand for the others. */
const LIKE_CREDENTIALS =
  /^(?!binds\.\[\]\.listeners\.\[\]\.routes\.\[\]\.policies\.backendAuth\.).*\.(?:crossAppAccess|clientCredentials|jwtSign|oauthTokenExchange\.(?:actorToken|clientAuth|policies|backend))\b/;
/** Policies of a gateway, by the same schema: those of a bind's listener stand for them. */
const LIKE_A_LISTENER = new RegExp(
  `^gateways\\.\\*\\.(?:listeners\\.\\[\\]\\.)?(?:${Object.keys(listenerPolicyFields()).join("|")})\\.`,
);
/**
 * Fields that occur in several places with one schema and one reading: another place of them is tested. A connection of users
 * needs a page in the same gateway, and is tested in test/policies/user-connections.test.ts. Names of servers are tested in
 * test/backends/named-servers.test.ts.
 */
const REPEATED =
  /\.(?:backendAuth|auth)\.oauth\.|\.userConnections\.servers\.\[\]\.clientSecret\.|\.conditional\.\[\]\.|\.extAuth\.|\.rateLimit\.(remote|global)\.|\.(remoteRateLimit|networkExtAuthz|extProc|endpointPicker|mcpGuardrails\.processors\.\[\])\.policies\.|listeners\.\[\]\.policies\.extAuthz\.policies\.|backends\.\[\]\.policies\.extAuthz\.|(tracing|otlp)\.policies\.|(requestMirror|promptGuard|mcpGuards)\..*policies\.|(webhook\.target|semantic|mcpGuardrails\.processors\.\[\]|proxy|targets\.\[\]\.(mcp|sse|openapi)|tcpRoutes\.\[\]\.backends\.\[\])\.backend$|(backends|providers|models|defaults)\b.*\.(promptGuard|guardrails|cache\.semantic)\.|^llm\.(models|providers)\.\[\]\.(defaults\.)?(tls|auth\.(gcp|aws))\.|(groups|^backends)\b.*\.provider\.custom\.|\.provider\.azure\w*\.(resourceType|projectName)$|^(?:llm|mcp|gateways\.\*(?:\.listeners\.\[\])?)\.tls\.acme\./;
/**
 * Empty values of which one has to be there, so that none can be left out to see what it does; lists that stay empty; fields
 * with one supported value, the default; fields that act together only: how a client signs (test/backends/token-exchange.test.ts),
 * responses in a store (test/llm/shared-cache.test.ts),
 * a document that `gwc lock` has copied, and what the module of a policy declares or imports (test/policies/custom-mistakes.test.ts).
 */
const EMPTY_CHOICES =
  /^config\.acme\.termsOfServiceAgreed$|\.cache\.shared$|\.tls\.mode$|^binds\.\[\]\.mode$|\.azure\.(implicit|explicitConfig\.workloadIdentity)$|^services\.\[\]\.vips\.\[\]$|\.clientAuth\.(method|alg|kid)$|\.openapi\.schema\.url$|\.custom\.\[\]\.(with\.\*|allow)\.\[\]$/;

/** By what others have too, it is put to the question there. */
function isRepeated(path: readonly Step[]): boolean {
  const name = path.join(".");
  return [LIKE_A_ROUTE, LIKE_A_LISTENER, LIKE_CREDENTIALS, REPEATED].some((each) =>
    each.test(name),
  );
}

function isMisplaced({ path }: SchemaField): boolean {
  return told.some(([part]) => path.join(".").includes(part));
}

const everywhere = leavesOf(schema).filter(({ path }) => !LIKE_CREDENTIALS.test(path.join(".")));
const misplaced = everywhere
  .filter(isMisplaced)
  .map(({ path }) => placed(schema, {}, path, null, known));
// Configurations are data.
const examples = [
  valueWithAll(schema, isRepeated),
  ...misplaced,
  ...seeds,
] as readonly ConfigValue[];
const compile = fileCompiler(files, examples);
const form: ConfigurationForm = {
  schema,
  known,
  seeds,
  compile,
  lastActed: new Map(),
  actedIn: new Map(),
};
const fields = everywhere.filter(({ path }) => {
  const name = path.join(".");
  const isLeftOut = NAMES.includes(name) || EMPTY_CHOICES.test(name) || LABELS.test(name);
  return !isLeftOut && !isRepeated(path);
});

describe("every field of a standalone file", () => {
  it("the configurations that fields are put into have no mistakes", () => {
    expect(seeds.flatMap((seed) => (compile(seed).text === undefined ? [seed] : []))).toEqual([]);
  });

  it("decides something in the program", { timeout: 300_000 }, () => {
    expect(fields.length).toBeGreaterThan(500);
    const decisive = fields.filter((field) => !isMisplaced(field));
    const verdicts = decisive.map((field) => [field.path.join("."), verdictOf(field, form)]);
    expect(verdicts.filter(([, verdict]) => verdict !== "acts")).toEqual([]);
  });

  it("is seen by gwc diff when it has another value", () => {
    expect(form.actedIn.size).toBeGreaterThan(500);
    // Names make no difference to clients.
    expect(unseenBy(form)).toEqual([
      ...["name", "binds.[].listeners.[].name", "binds.[].listeners.[].routes.[].name"],
      ...["binds.[].listeners.[].routes.[].ruleName", "gateways.*.listeners.[].name"],
    ]);
  });

  it("is a mistake where it can't act at all", () => {
    const silent = told.flatMap(([part, code]) => {
      const inside = everywhere.filter(({ path }) => path.join(".").includes(part));
      expect(inside).not.toEqual([]);
      return inside.filter((field) => !isTold(field, code, form));
    });
    expect(silent.map(({ path }) => path.join("."))).toEqual([]);
  });

  it.each(NAMES)("%s says what others mean, who miss it under another one", (field) => {
    const [list = ""] = field.split(".");
    const [seed] = seeds.filter((each) => JSON.stringify(each).includes(`"${list}":[{"name":"a"`));
    const renamed = compile(placed(schema, seed, field.split("."), "other", known));
    expect(renamed.diagnostics.map(({ code }) => code)).toContain("missing-reference");
  });

  it("has a diagnostic when another one removes its effect", { timeout: 300_000 }, () => {
    const silent = fields.flatMap((field) =>
      silencedBy(field, form).map((other) => `${field.path.join(".")} with ${other}`),
    );
    expect(silent).toEqual([]);
  });
});
