import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { hashSync } from "bcryptjs";
import { expect, it, onTestFinished } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { heldMegabytes } from "../harness/held-memory.ts";
import { startFollowing } from "../harness/routes-gateway.ts";
import { startUpstream } from "../harness/upstream.ts";

/** Each password is `pass-NAME`. */
const htpasswd = [
  `slow:${hashSync("pass-slow", 10)}`,
  "bcrypt:$2y$08$abcdefghijklmnopqrstuujpJdAP1Y8i/tKjKxHlJ.5s7zIwlMlL6",
  "sha:{SHA}DAQZCQEbf+4ltq84dNFKcCdGjl4=",
].join("\n");

async function startLogins(): Promise<Gateway> {
  const host = await startUpstream((_request, response) => response.end("ok"));
  const backends = [{ host }];
  const matches = [{ path: { exact: "/open" } }];
  const policies = { basicAuth: { htpasswd: "${USERS}" } };
  const routes = [
    { matches, backends },
    { policies, backends },
  ];
  return startGateway({ env: { USERS: htpasswd }, listeners: [{ routes }] });
}

/** GET with a login, from one of the addresses of this machine. */
function statusOf(port: number, path: string, login?: string, localAddress = "127.0.0.1") {
  return new Promise<number>((resolve, reject) => {
    const auth = login === undefined ? {} : { auth: login };
    const asked = request({ host: "127.0.0.1", port, path, localAddress, ...auth }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    });
    asked.on("error", reject);
    asked.end();
  });
}

/** Keeps many wrong logins waiting until the test has finished. Their statuses. */
function flood({ port }: Gateway): number[] {
  const statuses: number[] = [];
  let isOver = false;
  const attack = async (number: number) => {
    for (let count = 0; !isOver; count++) {
      statuses.push(await statusOf(port, "/", `slow:wrong-${number}-${count}`));
    }
  };
  for (let number = 0; number < 40; number++) attack(number).catch(() => {});
  onTestFinished(() => {
    isOver = true;
  });
  return statuses;
}

it("a flood of wrong passwords is bounded, and costs nobody else more than a place in the queue", async () => {
  const gateway = await startLogins();
  const { port } = gateway;
  expect(await statusOf(port, "/", "bcrypt:pass-bcrypt")).toBe(200);
  const before = await heldMegabytes(gateway);
  const statuses = flood(gateway);
  const checks = () => statuses.filter((each) => each === 401).length;
  const checksMeanwhile: number[] = [];
  for (let count = 0; count < 30; count++) {
    const had = checks();
    // Neither a route without logins, nor one that was right before, nor a cheap one waits.
    expect(await statusOf(port, "/open")).toBe(200);
    expect(await statusOf(port, "/", "bcrypt:pass-bcrypt")).toBe(200);
    expect(await statusOf(port, "/", "sha:pass-sha")).toBe(200);
    checksMeanwhile.push(checks() - had);
  }
  // A request in the queue would see many checks of those before it.
  const [median] = checksMeanwhile.sort((a, b) => a - b).slice(15);
  expect(median).toBeLessThan(3);
  // A first login from elsewhere gets its turn.
  expect(await statusOf(port, "/", "slow:pass-slow", "127.0.0.2")).toBe(200);
  expect(new Set(statuses)).toEqual(new Set([401, 503]));
  expect((await heldMegabytes(gateway)) - before).toBeLessThan(20);
  expect(gateway.output).not.toMatch(/pass-|wrong-|\$2b\$/);
}, 120_000);

it("passwords are checked by a thread, which starts with the first that needs it", async () => {
  const gateway = await startLogins();
  expect(threadNames(gateway)).not.toContain("passwords");
  expect(await statusOf(gateway.port, "/", "sha:pass-sha")).toBe(200);
  expect(threadNames(gateway)).not.toContain("passwords");
  // The same login many times at once is one check.
  const logins = Array.from({ length: 50 }, () => statusOf(gateway.port, "/", "slow:pass-slow"));
  expect(new Set(await Promise.all(logins))).toEqual(new Set([200]));
  expect(threadNames(gateway)).toContain("passwords");
  expect(await gateway.stop()).toBe(0);
});

it("gwc run checks passwords by a thread, too", async () => {
  const upstream = await startUpstream((_request, response) => response.end("ok"));
  process.env.GWC_TEST_LOGINS = htpasswd;
  const gateway = await startFollowing(
    `- policies: {basicAuth: {htpasswd: "\${GWC_TEST_LOGINS}"}}\n  backends: [{host: "${upstream}"}]`,
  );
  delete process.env.GWC_TEST_LOGINS;
  expect(await statusOf(gateway.port, "/", "bcrypt:pass-bcrypt")).toBe(200);
  expect(await statusOf(gateway.port, "/", "bcrypt:pass")).toBe(401);
});

function threadNames({ pid }: Gateway): string[] {
  return readdirSync(`/proc/${pid}/task`).map((task) =>
    readFileSync(`/proc/${pid}/task/${task}/comm`, "utf8").trim(),
  );
}
