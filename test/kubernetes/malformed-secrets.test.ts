import { hash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import path from "node:path";
import { expect, it } from "vitest";
import { compileFiles } from "../../compiler/controller/model/compile-files.ts";
import { makeCertificate } from "../harness/certificate.ts";
import { startEcho } from "../harness/echo.ts";
import { eventually } from "../harness/eventually.ts";
import { freePorts } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { mountsIn } from "../harness/mounts.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { checkManifests, complaints } from "./manifests.ts";

const API = "gateway.networking.k8s.io/v1";
const passwords = (password: string) => `u:{SHA}${hash("sha1", password, "base64")}\n`;

/** Contents of `.htaccess` that are no passwords. */
const BAD_PASSWORDS = {
  plain: "user password",
  empty: "",
  garbage: "\u0000\u0001\u0002:x",
  unhashed: "u:secret",
};
/** Entries that are no API keys. */
const BAD_KEYS = {
  blank: "",
  json: "{not json",
  keyless: '{"metadata": {}}',
  hashless: '{"keyHash": "sha256:12"}',
  twice: '{"key": "a", "keyHash": "sha256:00"}',
};

interface World {
  readonly gateway: Gateway;
  readonly put: (secret: string, entries: Readonly<Record<string, string>>) => void;
  readonly https: number;
  readonly folder: string;
  readonly status: (route: string, headers?: Record<string, string>) => Promise<number>;
}

/** A shared Gateway whose Secrets are mounted with these contents; those without entries are not mounted. */
async function startWorld(
  secrets: Readonly<Record<string, Readonly<Record<string, string>>>>,
  routes: Readonly<Record<string, string>>,
): Promise<World> {
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, "secrets"));
  const put: World["put"] = (secret, entries) => {
    const own = path.join(folder, "secrets", secret);
    mkdirSync(own, { recursive: true });
    for (const [key, value] of Object.entries(entries)) writeFileSync(path.join(own, key), value);
  };
  for (const [name, entries] of Object.entries(secrets)) put(name, entries);
  const [http = 0, https = 0] = await freePorts(2);
  const [host, port] = new URL((await startEcho()).url).host.split(":");
  const gatewaySpec = [
    `{name: http, port: ${http}, protocol: HTTP}`,
    ...["a", "x"].map(
      (name) =>
        `{name: ${name}, port: ${https}, protocol: HTTPS, hostname: ${name}.test, tls: {certificateRefs: [{name: tls-${name}}]}}`,
    ),
  ];
  const secret = (name: string, keys: readonly string[]) =>
    `{apiVersion: v1, kind: Secret, metadata: {name: ${name}}, data: {${keys.map((key) => `${key}: ""`).join(", ")}}}`;
  const documents = [
    `{apiVersion: ${API}, kind: Gateway, metadata: {name: gw}, spec: {gatewayClassName: gwc, listeners: [${gatewaySpec.join(", ")}]}}`,
    secret("tls-a", ["tls.crt", "tls.key"]),
    secret("tls-x", ["tls.crt", "tls.key"]),
    ...Object.entries(routes).flatMap(([name, policies]) => {
      const [traffic = "", auth = "", keys = ""] = policies.split(" | ");
      return [
        `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: ${name}}, spec: {static: {host: ${host}, port: ${port}}${auth === "" ? "" : `, policies: {auth: ${auth}}`}}}`,
        `{apiVersion: ${API}, kind: HTTPRoute, metadata: {name: ${name}}, spec: {parentRefs: [{name: gw}], rules: [{matches: [{path: {value: /${name}}}], backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: ${name}}]}]}}`,
        ...(traffic === ""
          ? []
          : [
              `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: ${name}}, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: ${name}}], traffic: {${traffic}}}}`,
            ]),
        ...(keys === "" ? [] : [secret(name, keys.split(","))]),
      ];
    }),
  ];
  const gateway = await startGateway({
    config: documents.join("\n---\n"),
    folder,
    env: mountsIn(folder),
  });
  const url = `http://127.0.0.1:${http}`;
  const status: World["status"] = async (route, headers = {}) =>
    (await send(`${url}/${route}`, "GET", headers)).status;
  return { gateway, put, https, folder, status };
}

/** The status of a request over TLS for a host; the code of the error when there is no handshake. */
function statusOverTls(port: number, servername: string): Promise<number | string> {
  const options = { host: "127.0.0.1", port, servername, rejectUnauthorized: false, agent: false };
  return new Promise((resolve) => {
    get({ ...options, path: "/open", headers: { host: servername } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    }).on("error", (error) => resolve("code" in error ? String(error.code) : error.message));
  });
}

function pair(folder: string, cert: string, key = cert): Record<string, string> {
  const read = (name: string) => readFileSync(path.join(folder, name), "utf8");
  return { "tls.crt": read(`${cert}.pem`), "tls.key": read(`${key}.key`) };
}

const basic = (name: string) => `basicAuthentication: {secretRef: {name: ${name}}}`;
const login = (password: string) => ({
  authorization: `Basic ${Buffer.from(`u:${password}`).toString("base64")}`,
});

it("a mounted Secret that is malformed or missing closes what reads it, and the process starts and serves the rest", async () => {
  const certificates = temporaryFolder();
  for (const name of ["a.test", "x.test"])
    makeCertificate(certificates, name, { names: `DNS:${name}` });
  const bad = Object.keys(BAD_PASSWORDS);
  const { status, https, gateway, put } = await startWorld(
    {
      ...Object.fromEntries(
        Object.entries(BAD_PASSWORDS).map(([name, text]) => [name, { ".htaccess": text }]),
      ),
      good: { ".htaccess": passwords("right") },
      keys: { ...BAD_KEYS, right: "right-key" },
      control: { Authorization: "to\u0007ken" },
      "tls-a": pair(certificates, "a.test"),
      "tls-x": pair(certificates, "x.test", "a.test"),
    },
    {
      open: "",
      deny: 'authorization: {action: Deny, policy: {matchExpressions: ["true"]}}',
      good: `${basic("good")} |  | .htaccess`,
      ...Object.fromEntries(bad.map((name) => [name, `${basic(name)} |  | .htaccess`])),
      unmounted: `${basic("unmounted")} |  | .htaccess`,
      keys: `apiKeyAuthentication: {secretRef: {name: keys}} |  | ${[...Object.keys(BAD_KEYS), "right"].join(",")}`,
      control: " | {secretRef: {name: control}} | Authorization",
    },
  );
  expect(await status("open")).toBe(200);
  expect(await status("deny")).toBe(403);
  expect(await status("good", login("right"))).toBe(200);
  expect(await status("good", login("wrong"))).toBe(401);
  for (const name of [...bad, "unmounted"])
    expect([name, await status(name, login("right"))]).toEqual([name, 500]);
  const key = (value: string) => ({ authorization: `Bearer ${value}` });
  expect(await status("keys", key("right-key"))).toBe(200);
  for (const text of ["{not json", "a", "x"]) expect(await status("keys", key(text))).toBe(401);
  expect(await status("control")).toBe(503);
  expect(await statusOverTls(https, "a.test")).toBe(200);
  expect(await statusOverTls(https, "x.test")).toMatch(/ECONNRESET|SSL|EPROTO/);
  await gateway.seen(
    /\twarn\t.*tls-x\/tls\.crt.*the private key does not belong to the certificate/,
  );

  // Fixed Secrets open again; broken ones close.
  put("plain", { ".htaccess": passwords("mended") });
  put("good", { ".htaccess": "no passwords" });
  put("tls-x", pair(certificates, "x.test"));
  put("tls-a", { "tls.key": "no key" });
  await eventually(
    async () => ((await status("plain", login("mended"))) === 200 ? true : null),
    "a mended Secret",
  );
  await eventually(
    async () => ((await status("good", login("right"))) === 500 ? true : null),
    "a broken Secret",
  );
  await eventually(
    async () => ((await statusOverTls(https, "x.test")) === 200 ? true : null),
    "a mended certificate",
  );
  await eventually(
    async () => (typeof (await statusOverTls(https, "a.test")) === "string" ? true : null),
    "a broken certificate",
  );
  expect(await status("deny")).toBe(403);
  for (const secret of ["to\u0007ken", "no passwords", "user password", "right-key"])
    expect(gateway.output).not.toContain(secret);
});

it("an entry with the digest of a key admits that key, with its metadata", async () => {
  const digest = hash("sha256", "the-key");
  const { status } = await startWorld(
    {
      "tls-a": {},
      keys: { client: JSON.stringify({ keyHash: `sha256:${digest}`, metadata: { team: "a" } }) },
    },
    {
      keys: "apiKeyAuthentication: {secretRef: {name: keys}}, authorization: {policy: {matchExpressions: ['apiKey.team == \"a\"']}} |  | client",
    },
  );
  expect(await status("keys", { authorization: "Bearer the-key" })).toBe(200);
  expect(await status("keys", { authorization: `Bearer ${digest}` })).toBe(401);
});

/** Manifests with a policy of a route whose Secret `s` has these entries. */
function withSecret(entries: Readonly<Record<string, string>>, traffic: string): string {
  return [
    `{apiVersion: ${API}, kind: Gateway, metadata: {name: gw}, spec: {gatewayClassName: gwc, listeners: [{name: http, port: 8080, protocol: HTTP}]}}`,
    "{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: b}, spec: {static: {host: a.test, port: 80}}}",
    `{apiVersion: ${API}, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: b}]}]}}`,
    `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: p}, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}], traffic: {${traffic}}}}`,
    `{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: ${JSON.stringify(entries)}}`,
  ].join("\n---\n");
}

const NOT_EMPTY = ([, text]: readonly [string, string]) => text !== "";
const keysOf = "apiKeyAuthentication: {secretRef: {name: s}}";

it("each malformed entry is reported where values are delivered, without the value", () => {
  const reported = (entries: Readonly<Record<string, string>>, traffic: string) =>
    complaints(checkManifests(withSecret(entries, traffic), { isDelivered: true }));
  for (const [, text] of Object.entries(BAD_PASSWORDS).filter(NOT_EMPTY)) {
    const [only = "", ...more] = reported({ ".htaccess": text }, basic("s"));
    expect(more).toEqual([]);
    expect(only).toMatch(/broken-entry: "\.htaccess" of Secret "default\/s" has /);
    expect(only).not.toContain(text);
  }
  for (const [, text] of Object.entries(BAD_KEYS).filter(NOT_EMPTY)) {
    expect(reported({ one: text }, keysOf)).toEqual([
      expect.stringMatching(/broken-entry: "one" of Secret "default\/s" (?:has|begins)/),
    ]);
    expect(reported({ one: text, two: "good" }, keysOf)).toEqual([
      expect.stringMatching(/unusable-entry: "one" of Secret "default\/s" (?:has|begins)/),
    ]);
  }
});

it("the status of a policy says that its Secret is malformed, and that one API key among several is", () => {
  const conditionsOf = (entries: Readonly<Record<string, string>>, traffic: string): string => {
    const files = { "/a.yaml": withSecret(entries, traffic) };
    const { statuses } = compileFiles(files, undefined);
    return JSON.stringify(statuses.find(({ kind }) => kind === "GatewayPolicy")?.status);
  };
  expect(conditionsOf({ ".htaccess": "no passwords" }, basic("s"))).toContain(
    '"type":"Accepted","status":"False","reason":"Invalid"',
  );
  expect(conditionsOf({ one: "{", two: "good" }, keysOf)).toContain(
    '"type":"Accepted","status":"True","reason":"PartiallyValid"',
  );
});
