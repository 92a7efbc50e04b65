import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { expectedSignature, type TestKeys } from "../harness/aws-signature.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Received, type Scripted, startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const scope = { region: "eu-west-1", service: "execute-api" };
const keys = { accessKeyId: "AKIATEST", secretAccessKey: "secret/of+the=key" };

interface Started {
  readonly gateway: Gateway;
  readonly upstream: Scripted;
}

async function start(aws: object, env: Readonly<Record<string, string>>): Promise<Started> {
  const upstream = await startScripted((response) => response.end("ok"));
  const gateway = await startGateway({
    env,
    listeners: [
      {
        routes: [
          {
            policies: { backendAuth: { aws: { ...scope, ...aws } } },
            backends: [{ host: upstream.host }],
          },
        ],
      },
    ],
  });
  return { gateway, upstream };
}

async function expectSigned(request: Received | undefined, by: TestKeys): Promise<void> {
  if (request === undefined) throw new Error("nothing was received");
  const { headers } = request;
  expect(headers.authorization).toBe(await expectedSignature(request, by, scope));
  expect(headers["x-amz-security-token"]).toBe(by.sessionToken);
}

const staticKeys = { accessKeyId: "AKIATEST", secretAccessKey: "${SECRET}" };

const requests = [
  ["GET", "/", undefined],
  ["GET", "/a/b?z=1&a=2&a=1&empty=&sp=a%20b", undefined],
  [
    "POST",
    "/model/arn%3Aaws%3Abedrock%3A%3Ax/converse",
    '{"messages":[{"role":"user","content":[{"text":"ä"}]}]}',
  ],
  ["PUT", "/with%20space/(parens)/*~", "x".repeat(100_000)],
  ["DELETE", "/none", ""],
] as const;

it("AWS's own library signs like the gateway", async () => {
  const { gateway, upstream } = await start(staticKeys, { SECRET: keys.secretAccessKey });
  const headers = {
    "content-type": "application/json",
    authorization: "Bearer of-the-client",
    "x-amz-security-token": "of the client",
    "x-amz-date": "20000101T000000Z",
  };
  for (const [method, target, body] of requests) {
    const { status } = await send(`${gateway.url}${target}`, method, headers, body);
    expect({ target, status }).toEqual({ target, status: 200 });
  }
  for (const request of upstream.received) await expectSigned(request, keys);
  expect(upstream.received).toHaveLength(requests.length);
});

it("requests to a server of another provider in AWS are signed for its region", async () => {
  const message = { type: "message", role: "assistant", content: [{ type: "text", text: "hi" }] };
  const upstream = await startScripted((response) => response.end(JSON.stringify(message)));
  const serviceName = "aws-external-anthropic";
  const model = {
    name: "*",
    provider: "anthropic",
    params: { awsRegion: scope.region, baseUrl: `http://${upstream.host}/v1` },
    auth: { aws: { ...staticKeys, serviceName } },
  };
  const env = { SECRET: keys.secretAccessKey };
  const gateway = await startGateway({
    env,
    config: { llm: { port: await freePort(), models: [model] } },
  });
  const body = JSON.stringify({
    model: "m",
    max_tokens: 9,
    messages: [{ role: "user", content: "a" }],
  });
  await send(`${gateway.url}/v1/messages`, "POST", { "content-type": "application/json" }, body);
  const [request] = upstream.received;
  if (request === undefined) throw new Error("nothing was received");
  const signature = await expectedSignature(request, keys, { ...scope, service: serviceName });
  expect(request.headers.authorization).toBe(signature);
  expect(request.url).toBe("/v1/messages");
});

it("the keys are in no log", async () => {
  const { gateway } = await start(staticKeys, { SECRET: keys.secretAccessKey });
  await send(`${gateway.url}/`, "GET");
  expect(gateway.output).not.toContain(keys.secretAccessKey);
});

it("keys of the environment are used, with the token of their session", async () => {
  const { gateway, upstream } = await start(
    {},
    {
      AWS_ACCESS_KEY_ID: keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
      AWS_SESSION_TOKEN: "session",
    },
  );
  await send(`${gateway.url}/a`, "POST", {}, "body");
  await expectSigned(upstream.received[0], { ...keys, sessionToken: "session" });
});

const temporary = { accessKeyId: "ASIATEMP", secretAccessKey: "temporary", sessionToken: "token" };

/** The path of a file with a token. */
function tokenFile(text: string): string {
  return path.join(temporaryFolder({ token: text }), "token");
}

function metadata(lifetime: number): string {
  return JSON.stringify({
    AccessKeyId: temporary.accessKeyId,
    SecretAccessKey: temporary.secretAccessKey,
    Token: temporary.sessionToken,
    Expiration: new Date(Date.now() + lifetime).toISOString(),
  });
}

/** The keys of a role. */
function stsResponse(action: string): string {
  return `<${action}Response><${action}Result><Credentials>
      <AccessKeyId>${temporary.accessKeyId}</AccessKeyId>
      <SecretAccessKey>${temporary.secretAccessKey}</SecretAccessKey>
      <SessionToken>${temporary.sessionToken}</SessionToken>
      <Expiration>${new Date(Date.now() + 3_600_000).toISOString()}</Expiration>
      </Credentials></${action}Result></${action}Response>`;
}

it("a web identity takes on its role once for many requests", async () => {
  const action = "AssumeRoleWithWebIdentity";
  const sts = await startScripted((response) => response.end(stsResponse(action)));
  const { gateway, upstream } = await start(
    {},
    {
      AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile("web-identity\n"),
      AWS_ROLE_ARN: "arn:aws:iam::1:role/r",
      AWS_ENDPOINT_URL_STS: `http://${sts.host}`,
    },
  );
  await Promise.all(Array.from({ length: 20 }, () => send(`${gateway.url}/`, "GET")));
  await send(`${gateway.url}/`, "GET");
  expect(upstream.received).toHaveLength(21);
  await expectSigned(upstream.received[0], temporary);
  expect(sts.received.map(formOf)).toEqual([
    {
      Action: "AssumeRoleWithWebIdentity",
      Version: "2011-06-15",
      RoleArn: "arn:aws:iam::1:role/r",
      RoleSessionName: "gwc",
      WebIdentityToken: "web-identity",
    },
  ]);
});

function formOf({ body }: Received): object {
  return Object.fromEntries(new URLSearchParams(body.toString("utf8")));
}

it("the agent of a container is asked with the token of its file", async () => {
  const agent = await startScripted((response) => response.end(metadata(3_600_000)));
  const { gateway, upstream } = await start(
    {},
    {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://${agent.host}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: tokenFile("pod-token"),
    },
  );
  await send(`${gateway.url}/`, "GET");
  await expectSigned(upstream.received[0], temporary);
  expect(agent.received).toHaveLength(1);
  expect(agent.received[0]).toMatchObject({
    url: "/v1/credentials",
    headers: { authorization: "pod-token" },
  });
});

/** EC2's metadata (IMDSv2), whose keys are good for so many milliseconds. */
function startMetadata(lifetime: number): Promise<Scripted> {
  return startScripted((response, _, { method, url, headers }) => {
    if (method === "PUT" && url === "/latest/api/token") return response.end("imds-token");
    if (headers["x-aws-ec2-metadata-token"] !== "imds-token") {
      return response.writeHead(401).end();
    }
    const roles = "/latest/meta-data/iam/security-credentials/";
    return response.end(url === roles ? "my-role\n" : metadata(lifetime));
  });
}

it("the metadata of an instance is asked with a session of its own", async () => {
  const server = await startMetadata(3_600_000);
  const { gateway, upstream } = await start(
    {},
    { AWS_EC2_METADATA_SERVICE_ENDPOINT: `http://${server.host}` },
  );
  await send(`${gateway.url}/`, "GET");
  await send(`${gateway.url}/`, "GET");
  await expectSigned(upstream.received[0], temporary);
  expect(server.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
    "PUT /latest/api/token",
    "GET /latest/meta-data/iam/security-credentials/",
    "GET /latest/meta-data/iam/security-credentials/my-role",
  ]);
});

it("keys that have expired are fetched anew", async () => {
  const server = await startMetadata(-1);
  const { gateway } = await start(
    {},
    { AWS_EC2_METADATA_SERVICE_ENDPOINT: `http://${server.host}` },
  );
  await send(`${gateway.url}/`, "GET");
  await send(`${gateway.url}/`, "GET");
  expect(server.received).toHaveLength(6);
});

it("without credentials the client gets 503, the log the reason, and the upstream nothing", async () => {
  const { gateway, upstream } = await start({}, { AWS_EC2_METADATA_DISABLED: "true" });
  expect(await send(`${gateway.url}/`, "GET")).toMatchObject({ status: 503 });
  await gateway.seen(/no credentials for the request/);
  expect(upstream.received).toEqual([]);
});

it("a metadata server that is down is not asked for every request", async () => {
  const server = await startScripted((response) => response.writeHead(500).end());
  const { gateway } = await start(
    {},
    { AWS_EC2_METADATA_SERVICE_ENDPOINT: `http://${server.host}` },
  );
  for (let i = 0; i < 5; i++) expect((await send(`${gateway.url}/`, "GET")).status).toBe(503);
  // It pauses for seconds; five requests may take longer on a busy machine.
  expect(server.received.length).toBeLessThan(5);
});

/** A folder of AWS's shared files, and the environment that names them. */
function sharedFiles(files: { readonly credentials: string; readonly config: string }) {
  const folder = temporaryFolder(files);
  return {
    AWS_SHARED_CREDENTIALS_FILE: path.join(folder, "credentials"),
    AWS_CONFIG_FILE: path.join(folder, "config"),
  };
}

const credentials = `
# Keys of people.
[default]
aws_access_key_id = AKIADEFAULT
aws_secret_access_key = default-secret
[team]
aws_access_key_id=${keys.accessKeyId}
aws_secret_access_key=${keys.secretAccessKey}
aws_session_token = session
`;

const config = `
[default]
region = eu-central-1
s3 =
  aws_access_key_id = nested
[profile over]
role_arn = arn:aws:iam::1:role/r
source_profile = team
external_id = outside
`;

it("the profile that is named counts before the environment, the default one behind it", async () => {
  const files = sharedFiles({ credentials, config });
  const others = { AWS_ACCESS_KEY_ID: "AKIAENV", AWS_SECRET_ACCESS_KEY: "env" };
  const named = await start({}, { ...files, ...others, AWS_PROFILE: "team" });
  await send(`${named.gateway.url}/`, "GET");
  await expectSigned(named.upstream.received[0], { ...keys, sessionToken: "session" });
  const ambient = await start({}, { ...files, ...others });
  await send(`${ambient.gateway.url}/`, "GET");
  const env = { accessKeyId: "AKIAENV", secretAccessKey: "env" };
  await expectSigned(ambient.upstream.received[0], env);
  const alone = await start({}, files);
  await send(`${alone.gateway.url}/`, "GET");
  const own = { accessKeyId: "AKIADEFAULT", secretAccessKey: "default-secret" };
  await expectSigned(alone.upstream.received[0], own);
});

it("a profile takes on its role with the keys of another one, once for many requests", async () => {
  const sts = await startScripted((response) => response.end(stsResponse("AssumeRole")));
  const { gateway, upstream } = await start(
    {},
    {
      ...sharedFiles({ credentials, config }),
      AWS_PROFILE: "over",
      AWS_ENDPOINT_URL_STS: `http://${sts.host}`,
    },
  );
  await Promise.all(Array.from({ length: 5 }, () => send(`${gateway.url}/`, "GET")));
  await expectSigned(upstream.received[0], temporary);
  expect(sts.received).toHaveLength(1);
  const [request] = sts.received;
  if (request === undefined) throw new Error("nobody was asked");
  expect(formOf(request)).toEqual({
    Action: "AssumeRole",
    Version: "2011-06-15",
    RoleArn: "arn:aws:iam::1:role/r",
    RoleSessionName: "gwc",
    ExternalId: "outside",
  });
  const by = { ...keys, sessionToken: "session" };
  const place = { region: scope.region, service: "sts" };
  expect(request.headers.authorization).toBe(await expectedSignature(request, by, place));
});

it("a profile that is not there ends the start with its name", async () => {
  const env = { ...sharedFiles({ credentials, config }), AWS_PROFILE: "other" };
  await expect(start({}, env)).rejects.toThrow('there is no AWS profile "other"');
});

/** A home with the token of a login. */
function loggedIn(login: string, expiresAt: string): string {
  const name = createHash("sha1").update(login).digest("hex");
  const token = JSON.stringify({ accessToken: "login-token", expiresAt });
  return temporaryFolder({ [`.aws/sso/cache/${name}.json`]: token });
}

const ofSessions = `
[profile session]
sso_session = ours
sso_account_id = 123456789012
sso_role_name = Models
[sso-session ours]
sso_region = eu-west-3
sso_start_url = https://ours.awsapps.com/start
[profile portal]
sso_start_url = https://ours.awsapps.com/start
sso_region = eu-west-3
sso_account_id = 123456789012
sso_role_name = Models
`;

it.each([
  ["session", "ours"],
  ["portal", "https://ours.awsapps.com/start"],
])(
  "who has logged in at IAM Identity Center signs with the keys of a role: %s",
  async (profile, login) => {
    const roleCredentials = { ...temporary, expiration: Date.now() + 3_600_000 };
    const portal = await startScripted((response) =>
      response.end(JSON.stringify({ roleCredentials })),
    );
    const { gateway, upstream } = await start(
      {},
      {
        ...sharedFiles({ credentials: "", config: ofSessions }),
        HOME: loggedIn(login, "2999-01-01T00:00:00Z"),
        AWS_PROFILE: profile,
        AWS_ENDPOINT_URL_SSO: `http://${portal.host}`,
      },
    );
    await Promise.all(Array.from({ length: 5 }, () => send(`${gateway.url}/`, "GET")));
    await expectSigned(upstream.received[0], temporary);
    expect(portal.received).toHaveLength(1);
    expect(portal.received[0]).toMatchObject({
      url: "/federation/credentials?role_name=Models&account_id=123456789012",
      headers: { "x-amz-sso_bearer_token": "login-token" },
    });
  },
);

it("an expired login is reported with the command that renews it", async () => {
  const { gateway } = await start(
    {},
    {
      ...sharedFiles({ credentials: "", config: ofSessions }),
      HOME: loggedIn("ours", "2020-01-01T00:00:00Z"),
      AWS_PROFILE: "session",
    },
  );
  expect((await send(`${gateway.url}/`, "GET")).status).toBe(503);
  await gateway.seen(/no AWS credentials .*: run "aws sso login --profile session"/);
});

it("a profile's program prints its keys, and is run once for many requests", async () => {
  const folder = temporaryFolder();
  const printed = {
    Version: 1,
    AccessKeyId: temporary.accessKeyId,
    SecretAccessKey: temporary.secretAccessKey,
    SessionToken: temporary.sessionToken,
    Expiration: "2999-01-01T00:00:00Z",
  };
  const config = `[default]\ncredential_process = echo run >> ${folder}/runs && echo '${JSON.stringify(printed)}'\n`;
  const { gateway, upstream } = await start({}, sharedFiles({ credentials: "", config }));
  await Promise.all(Array.from({ length: 5 }, () => send(`${gateway.url}/`, "GET")));
  await expectSigned(upstream.received[0], temporary);
  expect(readFileSync(`${folder}/runs`, "utf8")).toBe("run\n");
});

it("what a program prints besides keys, or as it fails, stays out of the log", async () => {
  const config = "[default]\ncredential_process = echo secret-key; echo secret-key >&2; exit 3\n";
  const { gateway } = await start({}, sharedFiles({ credentials: "", config }));
  expect((await send(`${gateway.url}/`, "GET")).status).toBe(503);
  await gateway.seen(/no AWS credentials of the profile "default": the credential process failed/);
  expect(gateway.output).not.toContain("secret-key");
});

const role = {
  roleArn: "arn:aws:iam::123456789012:role/gateway",
  sessionName: "shop",
  tags: [{ key: "team", value: "blue" }],
};

/** The same backend in manifests. */
async function startManifests(env: Readonly<Record<string, string>>): Promise<Started> {
  const upstream = await startScripted((response) => response.end("ok"));
  const { hostname: host, port } = new URL(`http://${upstream.host}`);
  const aws = { region: scope.region, serviceName: scope.service, assumeRole: role };
  const group = "gateway.networking.k8s.io";
  const of = (apiVersion: string, kind: string, name: string, spec: object) =>
    JSON.stringify({ apiVersion, kind, metadata: { name, namespace: "default" }, spec });
  const config = [
    of(`${group}/v1`, "Gateway", "edge", {
      gatewayClassName: "gwc",
      listeners: [{ name: "http", port: await freePort(), protocol: "HTTP" }],
    }),
    of(`${group}/v1`, "HTTPRoute", "all", {
      parentRefs: [{ name: "edge" }],
      rules: [{ backendRefs: [{ group: "gwc.dev", kind: "GatewayBackend", name: "signed" }] }],
    }),
    of("gwc.dev/v1alpha1", "GatewayBackend", "signed", {
      static: { host, port: Number(port) },
      policies: { auth: { aws } },
    }),
  ].join("\n---\n");
  return { gateway: await startGateway({ env, config }), upstream };
}

it.each([
  ["a file", (env: Readonly<Record<string, string>>) => start({ assumeRole: role }, env)],
  ["manifests", startManifests],
] as const)(
  "the role of %s is assumed once with the environment's keys, and tagged",
  async (_, run) => {
    const sts = await startScripted((response) => response.end(stsResponse("AssumeRole")));
    const { gateway, upstream } = await run({
      AWS_ACCESS_KEY_ID: keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
      AWS_ENDPOINT_URL_STS: `http://${sts.host}`,
    });
    await Promise.all(Array.from({ length: 5 }, () => send(`${gateway.url}/`, "GET")));
    await expectSigned(upstream.received[0], temporary);
    expect(sts.received.map(formOf)).toEqual([
      {
        Action: "AssumeRole",
        Version: "2011-06-15",
        RoleArn: role.roleArn,
        RoleSessionName: "shop",
        "Tags.member.1.Key": "team",
        "Tags.member.1.Value": "blue",
      },
    ]);
    expect(sts.received[0]?.headers.authorization).toContain(`Credential=${keys.accessKeyId}/`);
  },
);
