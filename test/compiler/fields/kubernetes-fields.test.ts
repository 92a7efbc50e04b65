import { describe, expect, it } from "vitest";
import { type Schema, schemaAt } from "../../../compiler/schema/schema.ts";
import {
  acceptedWith,
  type ConfigurationForm,
  isTold,
  silencedBy,
  unseenBy,
  verdictOf,
} from "./acting-fields.ts";
import { known, references, seeds, told, world } from "./kubernetes-cases.ts";
import { kubernetesCompiler, specificationsOf } from "./kubernetes-compiler.ts";
import { leavesOf, type SchemaField } from "./schema-walk.ts";

/** Every kind that says something of its own; the others are what these refer to. */
const schema = specificationsOf([
  ...(["GatewayClass", "Gateway", "ListenerSet", "HTTPRoute", "GRPCRoute"] as const),
  ...(["TCPRoute", "TLSRoute"] as const),
  ...(["BackendTLSPolicy", "GatewayBackend", "GatewayModel"] as const),
  ...(["GatewayPolicy", "GatewayParameters"] as const),
]);
const compile = kubernetesCompiler(schema, world);
/**
 * Texts for people; empty values of which one is required (none can be left out to see its effect); and fields that
 * occur elsewhere with the same schema and reading: connections to guard servers, guards of GatewayBackends, authorization
 * servers of backends, and policies that act on a condition; another name of azureopenai; a field with one supported value, the default; fields that require a
 * resource name of Azure, which files are tested with; the method of a client, which depends on its other fields and is tested
 * in test/backends/token-exchange.test.ts; virtual models and the health of their models, which need several models
 * (test/kubernetes/models.test.ts); connections of users, which need a page in the same gateway
 * (test/kubernetes/user-connections.test.ts); responses in a store (test/llm/shared-cache.test.ts).
 */
const EXCEPTIONS =
  /\.auth\.oauth\.|\.cache\.shared$|^GatewayClass\.description$|\.auth\.passthrough$|(Moderation|guards\.(request|response)\.\[\]\.\w+)\.policies\.|^(GatewayBackend\.policies|GatewayPolicy\.backend)\.extAuth\.|^GatewayBackend\..*\.(promptGuard|azure)\.|^GatewayModel\.(virtualModel|policies\.(promptGuard|health))\.|\.conditional\.\[\]\.policy\.|(secretRef|keyRef|clientSecretRef|signingKeyRef|certificateRef|mtlsCertificateRef\.\[\]|tls\.caCertificateRefs\.\[\])\.(group|kind)$|\.(azureopenai|llmProvider2)\.(resourceType|projectName)$|\.clientAuth\.method$/;
/** Credentials with many fields, in several places with one schema and reading: a policy's stand for the others. */
const LIKE_CREDENTIALS =
  /^(?!GatewayPolicy\.backend\.auth\.).*\.(?:crossAppAccess|clientCredentials|jwtSign|oauthTokenExchange\.(?:path|actorToken|clientAuth))\b/;
const fields = leavesOf(schema).filter(({ path }) => {
  const name = path.join(".");
  return !EXCEPTIONS.test(name) && !LIKE_CREDENTIALS.test(name);
});

/** Different spellings with the same effect: names, a pattern of one word, a rule that is always true, empty objects. */
const SAME = [
  ...["Gateway.listeners.[].name", "ListenerSet.listeners.[].name"],
  ...["HTTPRoute", "GRPCRoute"].map((kind) => `${kind}.rules.[].matches.[].headers.[].type`),
  "HTTPRoute.rules.[].matches.[].queryParams.[].type",
  ...["GatewayPolicy.targetSelectors.[].matchLabels.*", "GatewayPolicy.traffic.phase"],
  "GatewayParameters.resources",
];

const lastActed = new Map<string, unknown>();
const actedIn: ConfigurationForm["actedIn"] = new Map();

/** The configurations that have a resource of the field's kind. */
function formFor({ path: [kind = ""] }: SchemaField): ConfigurationForm {
  const own = seeds.filter((seed) => Object.hasOwn(seed, kind));
  return { schema, known, seeds: own, compile, references, lastActed, actedIn };
}

function isMisplaced({ path }: SchemaField): boolean {
  return told.some(([part]) => path.join(".").includes(part));
}

/** Adds a function that returns its argument to parameters: to a manifest, or to those of a configuration. */
function definingFunctions<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  const rawConfig = { config: { customFunctions: "same(x) { x }" } };
  const { kind, spec, GatewayParameters: own } = Object(value);
  if (kind === "GatewayParameters") return { ...value, spec: { ...spec, rawConfig } };
  return own === undefined ? value : { ...value, GatewayParameters: { ...own, rawConfig } };
}

/** Changes all expressions of a configuration. */
function mapTexts(
  value: unknown,
  root: Schema,
  change: (text: string) => string,
  path: readonly (string | number)[] = [],
): unknown {
  if (typeof value === "string")
    return schemaAt(root, path)?.expression === true ? change(value) : value;
  if (Array.isArray(value))
    return value.map((each, index) => mapTexts(each, root, change, [...path, index]));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, mapTexts(each, root, change, [...path, key])]),
  );
}

/** Calls become bodies in brackets, of which an expression may have any number. */
function withoutBrackets(text: string): string {
  return text.replace(/[()]/g, "");
}

describe("every field of Kubernetes manifests", () => {
  it("the resources that fields are put into have no mistakes", () => {
    expect(seeds.flatMap((seed) => (compile(seed).text === undefined ? [seed] : []))).toEqual([]);
  });

  it("decides something in the program, or names what has to be there", {
    timeout: 300_000,
  }, () => {
    expect(fields.length).toBeGreaterThan(500);
    const verdicts = fields
      .filter((field) => !isMisplaced(field))
      .map((field) => [field.path.join("."), verdictOf(field, formFor(field))]);
    expect(verdicts.filter(([, verdict]) => verdict !== "acts")).toEqual([]);
  });

  it("is seen by gwc diff when it has another value", () => {
    expect(actedIn.size).toBeGreaterThan(500);
    expect(unseenBy({ actedIn }).toSorted()).toEqual(SAME.toSorted());
  });

  it("can call functions of the Gateway if it is an expression", () => {
    const withFunctions = kubernetesCompiler(schema, world.map(definingFunctions));
    const found = fields.flatMap((field) => {
      if (field.schema.expression !== true) return [];
      const config = acceptedWith(field, formFor(field));
      return config === undefined ? [] : [{ name: field.path.join("."), config }];
    });
    expect(found.length).toBeGreaterThan(30);
    const differing = found.filter(({ config }) => {
      const changed = (around: (text: string) => string) => mapTexts(config, schema, around);
      const called = withFunctions(definingFunctions(changed((text) => `same(${text})`))).text;
      const { text: plain } = compile(changed((text) => `(${text})`));
      if (plain === undefined) return false;
      return called === undefined || withoutBrackets(called) !== withoutBrackets(plain);
    });
    expect(differing.map(({ name }) => name)).toEqual([]);
  });

  it("is a mistake where it can't act at all", () => {
    const silent = told.flatMap(([part, code]) => {
      const inside = fields.filter(({ path }) => path.join(".").includes(part));
      expect(inside).not.toEqual([]);
      return inside.filter((field) => !isTold(field, code, formFor(field)));
    });
    expect(silent.map(({ path }) => path.join("."))).toEqual([]);
  });

  it("has a diagnostic when another one removes its effect", { timeout: 300_000 }, () => {
    const silent = fields.flatMap((field) =>
      silencedBy(field, formFor(field)).map((other) => `${field.path.join(".")} with ${other}`),
    );
    expect(silent).toEqual([]);
  });
});
