import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import path from "node:path";
import type { TLSSocket } from "node:tls";
import { makeCertificate } from "../harness/certificate.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import type { RandomSource } from "../inspect/random-rules.ts";
import { writtenManifests } from "./manifest-corpus.ts";
import { stored } from "./stored-manifests.ts";
import { others, type TenantObject } from "./tenants.ts";

/** Tenants of a Gateway who make no mistakes. Tenant X makes all of them. */
export const TENANTS = ["a", "b"] as const;
export type Tenant = (typeof TENANTS)[number];

/** Values of the wrong type, size or syntax for most fields. */
const ODD_VALUES: readonly unknown[] = [
  ...["", "(", "/(?!admin).*", "/priv[", "a".repeat(5_000), "x\u0000y", "${jwt.sub}", "\u202e"],
  ...["(a+)+$", "a{1000}{1000}", "*", "*.test", "HTTP", "HTTPS", "TCP", "TLS", "Exact"],
  ...["RegularExpression", "99999999999h", "-1s", "10.0.0.0/33", "__proto__", "a.b()", "1 +"],
  ...[null, -1, 0, 1e21, 65_536, true, [], {}, [null], ["a", "a"], { kind: "x" }],
];

/** Contents of a Secret that its readers can't use. */
const ODD_ENTRIES: readonly string[] = [
  ...["", "plain text", "u:secret", "{", '{"metadata":{}}', '{"keyHash":"md5:1"}', "\u0007"],
  ...[
    "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----",
    "-----BEGIN PRIVATE KEY-----",
  ],
];

const SECRET_KEYS = [
  ...["tls.crt", "tls.key", "ca.crt", "Authorization", ".htaccess", "client", "client-secret"],
  ...["accessKey", "secretKey", "key", "hmac"],
];

/** Kinds that a tenant of a Gateway may create. */
const TENANT_KINDS = new Set([
  ...["ListenerSet", "HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute", "ReferenceGrant"],
  ...["BackendTLSPolicy", "GatewayBackend", "GatewayPolicy", "InferencePool"],
  ...["AgentgatewayBackend", "AgentgatewayPolicy", "Service", "ConfigMap"],
]);

/** Manifests of the examples, guides and tests, with and without mistakes, as far as a tenant may create them. */
const corpus: readonly TenantObject[] = [...writtenManifests().values()]
  .flat()
  .filter((each) => isOfTenant(each));

function isOfTenant(manifest: object): manifest is TenantObject {
  const { kind, metadata, spec }: Partial<TenantObject> = manifest;
  if (!TENANT_KINDS.has(kind ?? "") || typeof metadata?.name !== "string") return false;
  return typeof spec === "object" && spec !== null;
}

/** Replaces or removes one part of a value. */
function mutated(value: unknown, random: RandomSource): unknown {
  if (typeof value !== "object" || value === null || random.below(4) === 0)
    return random.below(8) === 0 ? undefined : random.pick(ODD_VALUES);
  const entries = Object.entries(value);
  if (entries.length === 0) return random.pick(ODD_VALUES);
  const [key, part] = random.pick(entries);
  const changed = { ...value, [key]: mutated(part, random) };
  return Array.isArray(value) ? Object.values(changed) : changed;
}

/** The ports of the Gateway: its own listener, one for TLS that tenants share, and one that X has alone. */
export interface GatewayPorts {
  readonly http: number;
  readonly tls: number;
  readonly extra: number;
}

/** The state of tenant X on the Gateway at a moment. */
export interface TenantX {
  readonly objects: readonly TenantObject[];
  /** Contents of Secrets in the namespace `x`, by their names. */
  readonly secrets: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Objects of tenant X: of each kind, and some of the corpus, many with mistakes, some with an API server's defaults. */
export function randomTenantX(random: RandomSource, ports: GatewayPorts): TenantX {
  const own = others
    .filter(({ kind, metadata }) => kind !== "Secret" && metadata.namespace !== "other")
    .filter(() => random.below(3) > 0);
  const found = Array.from({ length: 1 + random.below(4) }, () => random.pick(corpus));
  const objects = [...own, ...found].map((each): TenantObject => {
    const { metadata } = each;
    const labels = metadata.labels === undefined ? {} : { labels: metadata.labels };
    const object: TenantObject = {
      ...onGateway(each, random, ports),
      metadata: { name: metadata.name, namespace: "x", ...labels },
    };
    const broken: TenantObject =
      random.below(2) === 0 ? object : { ...object, spec: Object(mutated(object.spec, random)) };
    if (random.below(2) === 0) return broken;
    // A mistake may have removed what the defaults belong into.
    return stored({ ...broken, apiVersion: String(broken.apiVersion) });
  });
  const byName = new Map(objects.map((each) => [`${each.kind} ${each.metadata.name}`, each]));
  const names = JSON.stringify(objects).matchAll(
    /"(?:\w*[sS]ecretRef|certificateRefs?|credentialRef)":\[?\{[^{}]*"name":"([a-z0-9.-]+)"/g,
  );
  const secrets = [...new Set(["x", ...[...names].map(([, name = ""]) => name)])].map((name) => {
    const keys = SECRET_KEYS.filter(() => random.below(3) > 0);
    const entries = keys.map((key) => [key, random.pick(ODD_ENTRIES)] as const);
    return [name, Object.fromEntries(entries)] as const;
  });
  return { objects: [...byName.values()], secrets: Object.fromEntries(secrets) };
}

/** The same object with its parents and ports on the shared Gateway. */
function onGateway(
  object: TenantObject,
  random: RandomSource,
  { http, tls, extra }: GatewayPorts,
): TenantObject {
  const parent = { name: "front", namespace: "default" };
  const spec: Record<string, unknown> = { ...object.spec };
  if (object.kind === "ListenerSet") {
    spec.parentRef = parent;
    const listeners: unknown = spec.listeners;
    if (Array.isArray(listeners))
      spec.listeners = listeners.map((each: object) => ({
        ...each,
        port: random.pick([extra, extra, tls, http]),
      }));
  } else if (object.kind.endsWith("Route")) {
    const section = random.pick([{}, { sectionName: "http" }, { port: tls }]);
    spec.parentRefs = [{ ...parent, ...section }];
  }
  return { ...object, spec };
}

/** The last changes of tenants A and B. */
export interface TenantState {
  readonly step: number;
  /** Ports of the backends, by tenant. */
  readonly ports: Readonly<Record<Tenant, number>>;
}

export const hostOf = (tenant: Tenant): string => `tenant-${tenant}.test`;
export const deniedPath = (step: number): string => `/denied-${step}`;
/** Denied at every step. */
export const ALWAYS_DENIED = "/always-denied";

/** Objects of tenants A and B: a listener with a certificate, a denied path, a key that may pass, a backend. */
export function tenantObjects({ step, ports }: TenantState, tlsPort: number): TenantObject[] {
  const gatewayApi = "gateway.networking.k8s.io";
  return TENANTS.flatMap((name): TenantObject[] => {
    const metadata = { name: `tenant-${name}`, namespace: "default" };
    const targetRefs = [{ group: gatewayApi, kind: "HTTPRoute", name: metadata.name }];
    const backendRefs = [{ group: "gwc.dev", kind: "GatewayBackend", name: metadata.name }];
    const denied = JSON.stringify([ALWAYS_DENIED, deniedPath(step)]);
    const policy = { matchExpressions: [`request.path in ${denied}`] };
    const tls = { mode: "Terminate", certificateRefs: [{ name: `certificate-${name}` }] };
    return [
      {
        ...{ apiVersion: `${gatewayApi}/v1`, kind: "ListenerSet", metadata },
        spec: {
          parentRef: { name: "front" },
          listeners: [
            { name: "https", port: tlsPort, protocol: "HTTPS", hostname: hostOf(name), tls },
          ],
        },
      },
      {
        ...{ apiVersion: "gwc.dev/v1alpha1", kind: "GatewayBackend", metadata },
        spec: { static: { host: "127.0.0.1", port: ports[name] } },
      },
      {
        ...{ apiVersion: `${gatewayApi}/v1`, kind: "HTTPRoute", metadata },
        spec: {
          parentRefs: [
            { name: "front", sectionName: "http" },
            { group: gatewayApi, kind: "ListenerSet", name: metadata.name },
          ],
          hostnames: [hostOf(name)],
          rules: [{ backendRefs }],
        },
      },
      {
        ...{ apiVersion: "gwc.dev/v1alpha1", kind: "GatewayPolicy", metadata },
        spec: {
          targetRefs,
          traffic: {
            authorization: { action: "Deny", policy },
            apiKeyAuthentication: { secretRef: { name: `keys-${name}` } },
          },
        },
      },
    ];
  });
}

/** A certificate and its key, as PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** The key pairs that tenants change between. */
export class KeyPairs {
  readonly #pairs: ReadonlyMap<string, KeyPair>;

  constructor() {
    const folder = temporaryFolder();
    const names = TENANTS.flatMap((tenant) => [0, 1].map((turn) => `${tenant}-${turn}`));
    const pairs = names.map((name) => {
      makeCertificate(folder, name, { names: `DNS:${hostOf(name.startsWith("a") ? "a" : "b")}` });
      const [certificate = "", key = ""] = ["pem", "key"].map((extension) =>
        readFileSync(path.join(folder, `${name}.${extension}`), "utf8"),
      );
      return [name, { certificate, key }] as const;
    });
    this.#pairs = new Map(pairs);
  }

  at(tenant: Tenant, step: number): KeyPair {
    return this.#pairs.get(`${tenant}-${step % 2}`) ?? { certificate: "", key: "" };
  }
}

/** Secrets of tenants A and B: the keys that may pass and the certificates. Tenant B's key is given by its hash. */
export function tenantSecrets(
  step: number,
  pairs: KeyPairs,
): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const pair = (tenant: Tenant) => {
    const { certificate, key } = pairs.at(tenant, step);
    return { "tls.crt": certificate, "tls.key": key };
  };
  const keyHash = `sha256:${hash("sha256", `key-b-${step}`)}`;
  return {
    ...{ "keys-a": { client: `key-a-${step}` }, "keys-b": { client: JSON.stringify({ keyHash }) } },
    ...{ "certificate-a": pair("a"), "certificate-b": pair("b") },
  };
}

/** Sends a request of a tenant with the key of a step: the body of a 200, else the status. */
export async function askAs(
  tenant: Tenant,
  port: number,
  at: string,
  step: number,
): Promise<string | number> {
  const headers = { host: hostOf(tenant), authorization: `Bearer key-${tenant}-${step}` };
  const { status, body } = await send(`http://127.0.0.1:${port}${at}`, "GET", headers);
  return status === 200 ? body : status;
}

/** The same over TLS on a connection of its own, with the certificate that the gateway shows. */
export function askSecurelyAs(
  tenant: Tenant,
  port: number,
  at: string,
  step: number,
): Promise<{ readonly status: number | undefined; readonly certificate: string | undefined }> {
  const host = hostOf(tenant);
  const headers = { host, authorization: `Bearer key-${tenant}-${step}` };
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        ...{ host: "127.0.0.1", port, path: at, headers, servername: host },
        ...{ agent: false, rejectUnauthorized: false },
      },
      (response) => {
        const certificate = (response.socket as TLSSocket).getPeerX509Certificate()?.toString();
        response.resume().on("end", () => resolve({ status: response.statusCode, certificate }));
      },
    );
    sent.on("error", reject);
    sent.end();
  });
}
