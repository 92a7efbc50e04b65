import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { decodeJwt, exportPKCS8, generateKeyPair, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
const pem = await exportPKCS8(privateKey);

/** Requests to Google's servers, and the mistakes in them. */
interface Google {
  readonly origin: string;
  readonly host: string;
  readonly asked: string[];
}

/** Google's servers of tokens and metadata, which refuse what theirs refuse. `life`: seconds that tokens are good for. */
async function startGoogle(life = 3600): Promise<Google> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const url = new URL(request.url ?? "", google.origin);
    const body = Buffer.concat(pieces).toString();
    asked.push(url.pathname);
    const said = await respond(url, body, request.headers, asked.length).catch(() => undefined);
    response.writeHead(said === undefined ? 400 : 200, { "content-type": "application/json" });
    response.end(said ?? '{"error":"invalid_grant","error_description":"not for logs"}');
  });
  const host = `127.0.0.1:${await listen(server)}`;
  const google = { origin: `http://${host}`, host, asked };

  async function respond(
    { pathname, searchParams }: URL,
    body: string,
    headers: NodeJS.Dict<string | string[]>,
    count: number,
  ): Promise<string | undefined> {
    const granted = { access_token: `access-${count}`, expires_in: life, token_type: "Bearer" };
    if (pathname === "/computeMetadata/v1/instance/service-accounts/default/token") {
      return headers["metadata-flavor"] === "Google" ? JSON.stringify(granted) : undefined;
    }
    if (pathname === "/computeMetadata/v1/instance/service-accounts/default/identity") {
      return identity({ aud: searchParams.get("audience") ?? "" });
    }
    const form = new URLSearchParams(body);
    if (pathname === "/subject") return JSON.stringify({ jwt: `of-${headers["x-workload"]}` });
    if (pathname === "/sts") {
      const isExchange =
        form.get("grant_type") === "urn:ietf:params:oauth:grant-type:token-exchange" &&
        form.get("subject_token") === "of-pod" &&
        form.get("subject_token_type") === "urn:ietf:params:oauth:token-type:jwt" &&
        form.get("audience") === "//iam.googleapis.com/pool";
      return isExchange ? JSON.stringify(granted) : undefined;
    }
    if (pathname === "/impersonate:generateAccessToken") {
      if (!headers.authorization?.toString().startsWith("Bearer access-")) return undefined;
      const expireTime = new Date(Date.now() + life * 1000).toISOString();
      return JSON.stringify({ accessToken: `acting-${count}`, expireTime });
    }
    if (pathname !== "/token") return undefined;
    if (form.get("grant_type") === "refresh_token") {
      return form.get("refresh_token") === "refresh" ? JSON.stringify(granted) : undefined;
    }
    const options = {
      audience: `${google.origin}/token`,
      issuer: "robot@test",
      requiredClaims: ["exp", "iat"],
    };
    const { payload } = await jwtVerify(form.get("assertion") ?? "", publicKey, options);
    if (typeof payload.target_audience === "string") {
      return JSON.stringify({ id_token: await identity({ aud: payload.target_audience }) });
    }
    return payload.scope === "https://www.googleapis.com/auth/cloud-platform"
      ? JSON.stringify(granted)
      : undefined;
  }
  return google;
}

function identity(payload: JWTPayload): Promise<string> {
  return new SignJWT(payload)
    .setProtectedHeader({ alg: "RS256" })
    .setExpirationTime("1h")
    .sign(privateKey);
}

interface Started {
  /** Returns the credential of a request at the backend; its status if it did not get there. */
  readonly shown: () => Promise<string | number>;
  readonly output: () => string;
  readonly host: string;
}

/** A gateway with a backend that wants a token, and the file of credentials that it finds. */
async function start(gcp: object, google: Google, credentials?: object | string): Promise<Started> {
  const upstream = await startScripted((response) => response.end("ok"));
  const file = path.join(await temporaryFolder(), "credentials.json");
  if (credentials !== undefined) await writeFile(file, text(credentials));
  const gateway = await startGateway({
    env: {
      GCE_METADATA_HOST: google.host,
      ...(credentials && { GOOGLE_APPLICATION_CREDENTIALS: file }),
    },
    listeners: [
      { routes: [{ policies: { backendAuth: { gcp } }, backends: [{ host: upstream.host }] }] },
    ],
  });
  const shown = async (): Promise<string | number> => {
    const { status } = await send(`${gateway.url}/`, "GET", { authorization: "Bearer client" });
    return status === 200 ? (upstream.received.at(-1)?.headers.authorization ?? "") : status;
  };
  return { shown, output: () => gateway.output, host: upstream.host };
}

function text(credentials: object | string): string {
  return typeof credentials === "string" ? credentials : JSON.stringify(credentials);
}

function serviceAccount({ origin }: Google): object {
  return {
    type: "service_account",
    client_email: "robot@test",
    private_key: pem,
    private_key_id: "k1",
    token_uri: `${origin}/token`,
  };
}

function workload({ origin }: Google, more: object = {}): object {
  return {
    type: "external_account",
    audience: "//iam.googleapis.com/pool",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    token_url: `${origin}/sts`,
    credential_source: {
      url: `${origin}/subject`,
      headers: { "X-Workload": "pod" },
      format: { type: "json", subject_token_field_name: "jwt" },
    },
    ...more,
  };
}

it("one token of the metadata server serves many requests at once", async () => {
  const google = await startGoogle();
  const { shown } = await start({}, google);
  const all = await Promise.all(Array.from({ length: 10 }, shown));
  expect(new Set(all)).toEqual(new Set(["Bearer access-1"]));
  expect(google.asked).toHaveLength(1);
});

it("a token that ends is fetched anew", async () => {
  const google = await startGoogle(2);
  const { shown } = await start({}, google);
  expect(await shown()).toBe("Bearer access-1");
  await expect.poll(shown, { interval: 200 }).not.toBe("Bearer access-1");
  expect(await shown()).toMatch(/^Bearer access-\d+$/);
});

it("a service account signs for its token", async () => {
  const google = await startGoogle();
  const { shown, output } = await start({}, google, serviceAccount(google));
  expect(await shown()).toBe("Bearer access-1");
  expect(google.asked).toEqual(["/token"]);
  expect(output()).not.toContain("access-1");
});

it("a user's refresh token is exchanged", async () => {
  const google = await startGoogle();
  const user = { client_id: "c", client_secret: "s", refresh_token: "refresh" };
  const file = { type: "authorized_user", token_uri: `${google.origin}/token`, ...user };
  const { shown } = await start({}, google, file);
  expect(await shown()).toBe("Bearer access-1");
});

it("a workload's own token is exchanged, and for that of a service account", async () => {
  const google = await startGoogle();
  const plain = await start({}, google, workload(google));
  expect(await plain.shown()).toBe("Bearer access-2");
  const url = `${google.origin}/impersonate:generateAccessToken`;
  const acting = await start(
    {},
    google,
    workload(google, { service_account_impersonation_url: url }),
  );
  expect(await acting.shown()).toBe("Bearer acting-5");
});

it("identity tokens are for the backend's host, or the audience of the configuration", async () => {
  const google = await startGoogle();
  const audience = async ({ shown }: Started) =>
    decodeJwt(String(await shown()).replace("Bearer ", "")).aud;
  expect(await audience(await start({ type: "IdToken" }, google))).toBe("https://127.0.0.1");
  const named = { type: "idToken", audience: "https://run.test" };
  expect(await audience(await start(named, google, serviceAccount(google)))).toBe(
    "https://run.test",
  );
});

it.each([
  ["a refused grant", { refresh_token: "secret-of-another" }, "invalid_grant"],
  ["no JSON", "no json but a secret", "is not JSON"],
  ["an unknown type", { type: "gdch_service_account" }, "not supported"],
  [
    "a broken key",
    { type: "service_account", private_key: "secret" },
    '"private_key" is not a private key',
  ],
])(
  "with %s the backend is not asked, and the log says why without a secret",
  async (_, given, why) => {
    const google = await startGoogle();
    const user = {
      type: "authorized_user",
      client_id: "c",
      client_secret: "secret",
      client_email: "robot@test",
    };
    const file =
      typeof given === "string"
        ? given
        : { ...user, token_uri: `${google.origin}/token`, ...given };
    const { shown, output } = await start({}, google, file);
    expect(await shown()).toBe(503);
    await expect.poll(output).toContain(why);
    expect(output()).not.toMatch(/secret|not for logs/);
  },
);

it("configured credentials are used instead of those of the environment", async () => {
  const google = await startGoogle();
  const upstream = await startScripted((response) => response.end("ok"));
  const gateway = await startGateway({
    env: { GCE_METADATA_HOST: "127.0.0.1:1", ACCOUNT: JSON.stringify(serviceAccount(google)) },
    listeners: [
      {
        routes: [
          {
            policies: { backendAuth: { gcp: { credential: "${ACCOUNT}" } } },
            backends: [{ host: upstream.host }],
          },
        ],
      },
    ],
  });
  expect((await send(`${gateway.url}/`, "GET")).status).toBe(200);
  expect(upstream.received[0]?.headers.authorization).toBe("Bearer access-1");
  expect(gateway.output).not.toContain("PRIVATE KEY");
});
