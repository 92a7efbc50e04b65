import { exportJWK, generateKeyPair } from "jose";
import { expect, it } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { now, publicPart, sign } from "../harness/token.ts";

const issuer = "https://issuer.example.com";
const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});

async function start(): Promise<{ gateway: Gateway; token: string }> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: "k", alg: "RS256" };
  const route = (name: string, policies: object) => ({
    name,
    matches: [{ path: { pathPrefix: `/${name}` } }],
    policies: { ...policies, directResponse: { status: 200, body: "hello" } },
  });
  const jwks = JSON.stringify({ keys: [publicPart(key)] });
  const keys = [{ key: "${CI}", metadata: { name: "ci" } }, { key: "${OTHER}" }];
  const apiKey = { keys, location: { header: { name: "x-key" } }, mode: "optional" };
  const htpasswd = "ann:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g="; // "password"
  const gateway = await startGateway({
    env: { CI: "named-key-of-ci", OTHER: "key-without-a-name" },
    listeners: [
      {
        routes: [
          route("both", {
            jwtAuth: { issuer, audiences: ["a"], jwks, mode: "optional" },
            apiKey,
          }),
          route("password", { basicAuth: { htpasswd, mode: "optional" } }),
        ],
      },
    ],
  });
  const claims = { iss: issuer, aud: "a", sub: "alice", exp: now() + 600 };
  return { gateway, token: await sign(key, claims) };
}

it("an access line names the subject, else the key, else the user of the password", async () => {
  const { gateway, token } = await start();
  const bearer = { authorization: `Bearer ${token}` };
  const cases: readonly [
    path: string,
    headers: Record<string, string>,
    user: string | undefined,
  ][] = [
    ["/both/1", { ...bearer, "x-key": "named-key-of-ci" }, "alice"],
    ["/both/2", { "x-key": "named-key-of-ci" }, "ci"],
    ["/both/3", { "x-key": "key-without-a-name" }, undefined],
    ["/password/4", basic("ann", "password"), "ann"],
    ["/password/5", {}, undefined],
  ];
  for (const [path, headers, user] of cases) {
    expect((await send(`${gateway.url}${path}`, "GET", headers)).status, path).toBe(200);
    const named = user === undefined ? "" : `user=${user} `;
    await gateway.seen(new RegExp(`src.addr=\\S+ ${named}http.method=GET .*${path} `));
  }
});
