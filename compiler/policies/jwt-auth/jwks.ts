import { SERVER_REFERENCES, serverReferenceFields } from "../../backends/parts/callout-server.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendPolicies } from "../../model/backend-policies.ts";
import type { Text } from "../../model/texts.ts";
import { parseDuration } from "../../schema/duration.ts";
import { anyText, either, type Infer, object, text } from "../../schema/schema.ts";
import { durationOfForms } from "../../schema/two-forms.ts";
import { needsField } from "../../schema/value-checks.ts";
import type { KubernetesContext, ResolveContext } from "../policy.ts";

/** A key set as configured: a file, a URL, or inline. */
export type JwksConfig =
  | { readonly kind: "file"; readonly file: string; readonly origin: Origin }
  | {
      readonly kind: "url";
      readonly url: Text;
      readonly cacheDuration: number;
      /** How to connect to the server; absent if the URL alone defines it. */
      readonly policies?: BackendPolicies;
      /** The manifest that the key set's server comes from. */
      readonly source?: Origin;
      readonly origin: Origin;
    }
  | { readonly kind: "inline"; readonly text: string; readonly origin: Origin };

/** A public key of a key set, unchanged. */
export type PublicJwk = Readonly<Record<string, unknown>>;

const inline = text("A JSON Web Key Set.", { minLength: 2, maxLength: 65536 });

const cacheDuration = durationOfForms("How long fetched keys are cached.", { default: "5m" });

/** Schema of `jwks` in a file. */
export const jwksSchema = either(
  object(
    {
      file: text(
        "Path of a JSON Web Key Set, relative to this file. Its public keys are compiled into the bundle.",
      ),
      url: text(
        "URL of the key set. The gateway fetches it, refreshes it, and fetches it again for unknown keys.",
        { format: "url", readAtStart: true },
      ),
      inline,
      cacheDuration: cacheDuration.file,
    },
    { exactlyOneOf: ["file", "url", "inline"], checks: [needsField("cacheDuration", "url")] },
  ),
  anyText({ minLength: 2, maxLength: 65536 }),
  {
    examples: [{ url: "https://issuer.example.com/jwks.json" }],
    description:
      "The issuer's public keys (RFC 7517): `{file: PATH}`, `{url: URL}`, or the key set itself as JSON.",
  },
);

/** The specification's default: five minutes, in milliseconds. */
const CACHE_DURATION = 300_000;

/** Reads a `jwks` value. */
export function lowerJwks(given: Infer<typeof jwksSchema>, origin: Origin): JwksConfig {
  if (typeof given === "string") return { kind: "inline", text: given, origin };
  if (given.file !== undefined)
    return { kind: "file", file: given.file, origin: childOf(origin, "file") };
  if (given.inline !== undefined)
    return { kind: "inline", text: given.inline, origin: childOf(origin, "inline") };
  const cacheDuration = parseDuration(given.cacheDuration ?? "") ?? CACHE_DURATION;
  return { kind: "url", url: given.url ?? "", cacheDuration, origin: childOf(origin, "url") };
}

/** Schema of the specification's `RemoteJWKS`: keys that a backend serves. */
export const kubernetesRemoteJwksSchema = object(
  {
    jwksPath: text("Path of the key set on the backend.", { maxLength: 2000 }),
    cacheDuration: cacheDuration.manifest,
    ...serverReferenceFields("The server of the key set: a Service or a static GatewayBackend."),
  },
  {
    exactlyOneOf: [...SERVER_REFERENCES],
    checks: [needsField("backendRef", "jwksPath"), needsField("jwksPath", "backendRef")],
    examples: [{ jwksPath: "/keys", backendRef: { name: "issuer", port: 80 } }],
    description: "A key set fetched from a backend and refreshed regularly.",
  },
);

/** Schema of the specification's `JWKS`: inline keys or keys served by a backend. */
export const kubernetesJwksSchema = object(
  {
    remote: kubernetesRemoteJwksSchema,
    inline,
  },
  {
    exactlyOneOf: ["remote", "inline"],
    description: "The issuer's public keys, which verify its tokens.",
  },
);

/** Reads the key set of manifests. */
export function lowerKubernetesJwks(
  { inline, remote }: Infer<typeof kubernetesJwksSchema>,
  origin: Origin,
  context: KubernetesContext,
): JwksConfig | undefined {
  if (inline !== undefined)
    return { kind: "inline", text: inline, origin: childOf(origin, "inline") };
  return remote && lowerRemoteJwks(remote, childOf(origin, "remote"), context);
}

/** Reads the key set of a backend; returns `undefined` if its server is unknown (reported). */
export function lowerRemoteJwks(
  { jwksPath = "", cacheDuration, backendRef, url }: Infer<typeof kubernetesRemoteJwksSchema>,
  origin: Origin,
  { server }: Pick<KubernetesContext, "server">,
): JwksConfig | undefined {
  const duration = parseDuration(cacheDuration ?? "") ?? CACHE_DURATION;
  if (url !== undefined)
    return { kind: "url", url, cacheDuration: duration, origin: childOf(origin, "url") };
  const found = backendRef && server(backendRef, childOf(origin, "backendRef"));
  if (found === undefined) return undefined;
  return {
    kind: "url",
    url: `${found.url}/${jwksPath.replace(/^\/+/, "")}`,
    cacheDuration: duration,
    ...(found.policies && { policies: found.policies }),
    source: found.source,
    origin,
  };
}

/** Returns the default key set of an issuer without a configured one. */
export function issuerJwks(url: Text, origin: Origin): JwksConfig {
  return { kind: "url", url, cacheDuration: CACHE_DURATION, origin };
}

/** Returns the public keys of a key set that is known at build time; `undefined` if it is refused (reported). */
export function publicKeys(
  config: Extract<JwksConfig, { kind: "file" | "inline" }>,
  { host, diagnostics, resolvePath }: Pick<ResolveContext, "host" | "diagnostics" | "resolvePath">,
): readonly PublicJwk[] | undefined {
  let json = config.kind === "inline" ? config.text : "";
  if (config.kind === "file") {
    const file = host.readText(resolvePath(config.file, config.origin));
    if (file.kind === "problem") {
      diagnostics.report("file-not-found", config.origin, {
        file: config.file,
        problem: file.problem,
      });
      return undefined;
    }
    json = file.text;
  }
  const { keys, problem } = readKeySet(json);
  if (keys === undefined) {
    const advice = config.kind === "inline" ? addressAdvice(json) : undefined;
    diagnostics.report("bad-key-set", config.origin, { problem: problem ?? "", advice });
    return undefined;
  }
  if (keys.length === 0) diagnostics.report("empty-key-set", config.origin, {});
  const problems = keys.flatMap((key, index) => keyProblem(key, index) ?? []);
  for (const each of problems) diagnostics.report("bad-key-set", config.origin, { problem: each });
  return problems.length === 0 ? keys : undefined;
}

/** Advises to use `url` or `file` if the inline string looks like a URL or a path. */
function addressAdvice(text: string): string | undefined {
  if (/^https?:\/\/[^\s@]+$/.test(text)) return `write { url: ${text} }`;
  return /^[\w./-]+$/.test(text) ? `write { file: ${text} }` : undefined;
}

function readKeySet(json: string): { keys?: readonly PublicJwk[]; problem?: string } {
  let set: unknown;
  try {
    set = JSON.parse(json);
  } catch {
    return { problem: "it is not valid JSON" };
  }
  const keys = typeof set === "object" && set !== null && "keys" in set ? set.keys : undefined;
  if (!Array.isArray(keys)) return { problem: 'it has no list "keys"' };
  if (
    !keys.every((key) => typeof key === "object" && key !== null && typeof key.kty === "string")
  ) {
    return { problem: 'a key has no type ("kty")' };
  }
  return { keys };
}

/** Members of a private or symmetric key (RFC 7518, section 6). */
const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

function keyProblem(key: PublicJwk, index: number): string | undefined {
  const which = typeof key.kid === "string" ? `the key "${key.kid}"` : `key ${index}`;
  if (key.kty === "oct")
    return `${which} is symmetric: anyone who can verify with it can also sign`;
  if (PRIVATE_MEMBERS.some((member) => Object.hasOwn(key, member)))
    return `${which} is a private key`;
  if (key.kty !== "RSA" && key.kty !== "EC" && key.kty !== "OKP")
    return `${which} has the unknown type "${key.kty}"`;
  const needed = { RSA: ["n", "e"], EC: ["crv", "x", "y"], OKP: ["crv", "x"] }[key.kty];
  const missing = needed.find((member) => typeof key[member] !== "string");
  return missing === undefined ? undefined : `${which} lacks "${missing}"`;
}
