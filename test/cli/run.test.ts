import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { Agent, createServer, request, type ServerResponse } from "node:http";
import { createServer as createNetServer } from "node:net";
import { beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { GwcProcess } from "../harness/gwc.ts";
import { listen } from "../harness/listen.ts";
import { send } from "../harness/send.ts";
import { startUpstream } from "../harness/upstream.ts";
import { Workspace } from "../harness/workspace.ts";
import { gatewayText } from "./gateway-text.ts";

let first: string;
let second: string;

beforeAll(async () => {
  [first, second] = await Promise.all([
    startUpstream((_, response) => response.end("first")),
    startUpstream((_, response) => response.end("second")),
  ]);
});

async function body(port: number, path = "/"): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}${path}`)).text();
}

/** Starts `gwc run` on a file. */
async function start(
  file: string,
  env: Readonly<Record<string, string>> = {},
): Promise<GwcProcess> {
  const running = new GwcProcess(["run", "-f", file], { env });
  await running.seen(/listening on 127\.0\.0\.1:\d+/);
  await running.seen(/admin page: http:\/\/127\.0\.0\.1:\d+\/ui\/\n/);
  return running;
}

describe("gwc run starts", () => {
  it("serves the file, says where, and ends with 0 on SIGTERM", async () => {
    const port = await freePort();
    const workspace = new Workspace({
      "gateway.yaml": gatewayText({ upstream: first, port }),
    });
    const running = await start(workspace.path("gateway.yaml"));
    expect(await body(port)).toBe("first");
    expect(await running.stop()).toBe(0);
    expect(running.output).toContain("draining");
  });

  it("every line is JSON if the log is, with mistakes of later changes", async () => {
    const port = await freePort();
    const text = gatewayText({ upstream: first, port });
    const valid = text.replace("config: {", "config: {logging: {format: json}, ");
    const workspace = new Workspace({ "gateway.yaml": valid });
    const running = new GwcProcess(["run", "-f", workspace.path("gateway.yaml")]);
    await running.seen(/"message":"try: curl -i /);
    workspace.write("gateway.yaml", `${valid}\nunknown: 1\n`);
    await running.seen(/"message":"[^"]*was not applied/);
    expect(await running.stop()).toBe(0);
    const lines = running.output.trimEnd().split("\n");
    // JSON that the gateway wrote.
    const messages = lines.map((line) => (JSON.parse(line) as { message: string }).message);
    expect(messages.join()).toContain("admin page: http");
    expect(messages.join()).toContain("error[unknown-field]");
  });

  it("what to try is the last line, and then it is quiet until somebody does", async () => {
    const port = await freePort();
    const workspace = new Workspace({
      "gateway.yaml": gatewayText({ upstream: first, port }),
    });
    const running = await start(workspace.path("gateway.yaml"));
    await running.seen(/try: .*\n/);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(running.output.trimEnd().split("\n").at(-1)).toMatch(/^try: curl -i http/);
    expect(await running.stop()).toBe(0);
  });

  it("`gwc -f FILE` is the same", async () => {
    const port = await freePort();
    const workspace = new Workspace({
      "gateway.yaml": gatewayText({ upstream: first, port }),
    });
    const running = new GwcProcess(["-f", workspace.path("gateway.yaml")]);
    await running.seen(/listening on 127\.0\.0\.1:\d+/);
    expect(await body(port)).toBe("first");
    expect(await running.stop("SIGINT")).toBe(0);
  });

  it("an unexpected error is printed on stderr without the data that was read, and gwc run continues", async () => {
    const port = await freePort();
    const workspace = new Workspace({ "gateway.yaml": gatewayText({ upstream: first, port }) });
    const bug = `process.on("SIGUSR2",()=>{JSON.parse('{"key":sk-secret}')})`;
    const running = new GwcProcess(["run", "-f", workspace.path("gateway.yaml")], {
      env: { NODE_OPTIONS: `--import=data:text/javascript;base64,${btoa(bug)}` },
    });
    await running.seen(/try: .*\n/);
    running.signal("SIGUSR2");
    await running.seen(/^bug: SyntaxError: invalid JSON\n\s+at /m);
    expect(running.output).not.toContain("sk-secret");
    expect(await body(port)).toBe("first");
  });

  it("its ports are open to this machine alone, unless the configuration names an address", async () => {
    const [own, open] = [await freePort(), await freePort()];
    const bind = (port: number, address?: string) => ({
      port,
      ...(address === undefined ? {} : { address }),
      listeners: [{ routes: [{ backends: [{ host: first }] }] }],
    });
    const text = JSON.stringify({ binds: [bind(own), bind(open, "0.0.0.0")] });
    const workspace = new Workspace({ "gateway.yaml": text });
    const running = await start(workspace.path("gateway.yaml"), {
      STATS_ADDR: ":0",
      READINESS_ADDR: ":0",
      ADMIN_ADDR: "127.0.0.1:0",
    });
    await running.seen(new RegExp(`listening on 0\\.0\\.0\\.0:${open}`));
    const [, stats] = (await running.seen(/stats address on 127\.0\.0\.1:(\d+)/)) ?? [];
    const [, ready] = (await running.seen(/readiness address on 127\.0\.0\.1:(\d+)/)) ?? [];
    const metrics = (host: string) => fetch(`http://${host}:${stats}/metrics`);
    expect((await metrics("127.0.0.1")).status).toBe(200);
    expect(await body(own)).toBe("first");
    // A site that points its own name here (DNS rebinding) reads nothing.
    for (const page of [
      `http://127.0.0.1:${stats}/metrics`,
      `http://127.0.0.1:${ready}/healthz/ready`,
    ]) {
      const named = (host: string) => send(page, "GET", { host });
      expect((await named("evil.test")).status).toBe(403);
      expect((await named("evil.test.")).status).toBe(403);
      expect((await named("localhost.evil.test:80")).status).toBe(403);
      for (const host of ["localhost", "127.0.0.1:15020", "[::1]"])
        expect((await named(host)).status).toBe(200);
    }
    // Every address of 127.0.0.0/8 is this machine's; a socket is open on the one that it names.
    await expect(fetch(`http://127.0.0.2:${own}/`)).rejects.toThrow();
    await expect(metrics("127.0.0.2")).rejects.toThrow();
    expect(await (await fetch(`http://127.0.0.2:${open}/`)).text()).toBe("first");
  });

  it("SIGHUP reads the file again, and the gateway continues", async () => {
    const port = await freePort();
    const workspace = new Workspace({ "gateway.yaml": gatewayText({ upstream: first, port }) });
    const running = await start(workspace.path("gateway.yaml"));
    running.signal("SIGHUP");
    await running.seen(/changed: the gateway stays the same/);
    expect(await body(port)).toBe("first");
  });

  it("a file with mistakes is not served: they are printed, and the exit code is 1", async () => {
    const port = await freePort();
    const text = gatewayText({ upstream: first, port }).replace("name", "nam");
    const workspace = new Workspace({ "gateway.yaml": text });
    const running = new GwcProcess(["run", "-f", workspace.path("gateway.yaml")]);
    expect(await running.exited).toBe(1);
    expect(running.output).toContain('error[unknown-field]: routes[0] has no field "nam"');
  });

  it("a port that is taken ends it with one line that names the configuration", async () => {
    const workspace = new Workspace();
    const taken = await listen(createNetServer(), "::");
    workspace.write("gateway.yaml", gatewayText({ upstream: first, port: taken }));
    const running = new GwcProcess(["run", "-f", workspace.path("gateway.yaml")]);
    expect(await running.exited).toBe(1);
    expect(running.output).toBe(
      `error: cannot listen on 127.0.0.1:${taken} (gateway.yaml binds[${taken}].port): the port is in use\n`,
    );
  });

  it("a variable that is read at start and is not set ends it with one line", async () => {
    const port = await freePort();
    const workspace = new Workspace({
      "gateway.yaml": gatewayText({ upstream: "${GWC_TEST_NOT_SET}", port }),
    });
    const running = new GwcProcess(["run", "-f", workspace.path("gateway.yaml")]);
    expect(await running.exited).toBe(1);
    expect(running.output).toMatch(
      /^error: the environment variable GWC_TEST_NOT_SET is not set \(gateway\.yaml routes\[api\].*\)\n$/,
    );
  });
});

describe("gwc run follows its file", () => {
  it("a good edit is served without dropping a connection", async () => {
    const port = await freePort();
    const workspace = new Workspace({
      "gateway.yaml": gatewayText({ upstream: first, port }),
    });
    const running = await start(workspace.path("gateway.yaml"));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const before = await overAgent(agent, port);
    workspace.write("gateway.yaml", gatewayText({ upstream: second, port, route: "shop" }));
    await running.seen(/gateway\.yaml changed: route shop added, route api removed\n/);
    const after = await overAgent(agent, port);
    agent.destroy();
    expect([before.text, after.text]).toEqual(["first", "second"]);
    expect(after.localPort).toBe(before.localPort);
  });

  it("a stream stays with the gateway that began it", async () => {
    const port = await freePort();
    const held: ServerResponse[] = [];
    const source = createServer((_, response) => {
      response.write("before ");
      held.push(response);
    });
    const upstream = await listen(source);
    const workspace = new Workspace({ "gateway.yaml": gatewayText({ upstream, port }) });
    const running = await start(workspace.path("gateway.yaml"));
    const response = await fetch(`http://127.0.0.1:${port}/`);
    workspace.write("gateway.yaml", gatewayText({ upstream: first, port }));
    await running.seen(/changed: route api changed\n/);
    expect(await body(port)).toBe("first");
    held[0]?.end("after");
    expect(await response.text()).toBe("before after");
    source.close();
  });

  it("after a bad edit its mistakes are printed, and the last good version is still served", async () => {
    const port = await freePort();
    const good = gatewayText({ upstream: first, port });
    const workspace = new Workspace({ "gateway.yaml": good });
    const running = await start(workspace.path("gateway.yaml"));
    workspace.write("gateway.yaml", good.replace("backends", "backend"));
    await running.seen(/was not applied \(1 error\); still serving the last good version\n/);
    await running.seen(/error\[unknown-field\]: routes\[0\] has no field "backend"/);
    expect(await body(port)).toBe("first");
    workspace.write("gateway.yaml", "binds: [\n");
    await running.seen(/error\[yaml-syntax\]/);
    expect(await body(port)).toBe("first");
    workspace.write("gateway.yaml", gatewayText({ upstream: second, port }));
    await running.seen(/gateway\.yaml changed: route api changed\n/);
    expect(await body(port)).toBe("second");
  });

  it("an edit that changes nothing changes nothing", async () => {
    const port = await freePort();
    const good = gatewayText({ upstream: first, port });
    const workspace = new Workspace({ "gateway.yaml": good });
    const running = await start(workspace.path("gateway.yaml"));
    workspace.write("gateway.yaml", `# a comment\n${good}`);
    await running.seen(/gateway\.yaml changed: the gateway stays the same\n/);
  });

  it("a port that can't be opened keeps the old gateway whole", async () => {
    const port = await freePort();
    const workspace = new Workspace({
      "gateway.yaml": gatewayText({ upstream: first, port }),
    });
    const running = await start(workspace.path("gateway.yaml"));
    const taken = await listen(createNetServer(), "::");
    workspace.write("gateway.yaml", gatewayText({ upstream: second, port: taken }));
    await running.seen(
      /was not applied \(cannot listen on .*: the port is in use\); still serving the last good/,
    );
    expect(await body(port)).toBe("first");
  });

  it("a new port is opened and the old one is closed", async () => {
    const port = await freePort();
    const workspace = new Workspace({
      "gateway.yaml": gatewayText({ upstream: first, port }),
    });
    const running = await start(workspace.path("gateway.yaml"));
    const other = await freePort();
    workspace.write("gateway.yaml", gatewayText({ upstream: first, port: other }));
    await running.seen(new RegExp(`port ${other} opened, port ${port} closed\n`));
    expect(await body(other)).toBe("first");
    // The port takes the connections that wait in the kernel's queue before it closes.
    await expect.poll(() => body(port).catch(() => "refused")).toBe("refused");
  });
});

describe("gwc run sees every way in which a file changes", () => {
  it("an editor that writes a new file and renames it", async () => {
    const port = await freePort();
    const workspace = new Workspace({
      "gateway.yaml": gatewayText({ upstream: first, port }),
    });
    const running = await start(workspace.path("gateway.yaml"));
    for (const upstream of [second, first]) {
      const from = running.output.length;
      workspace.write(".gateway.yaml.swp", gatewayText({ upstream: upstream, port }));
      renameSync(workspace.path(".gateway.yaml.swp"), workspace.path("gateway.yaml"));
      await running.seen(/changed: route api changed\n/, from);
    }
    expect(await body(port)).toBe("first");
  });

  it("a ConfigMap, whose files are switched by one symbolic link above them", async () => {
    const port = await freePort();
    const workspace = new Workspace({
      "..1/gateway.yaml": gatewayText({ upstream: first, port }),
      "..2/gateway.yaml": gatewayText({ upstream: second, port }),
      "..3/gateway.yaml": gatewayText({ upstream: first, port, route: "third" }),
    });
    symlinkSync("..1", workspace.path("..data"));
    symlinkSync("..data/gateway.yaml", workspace.path("gateway.yaml"));
    const running = await start(workspace.path("gateway.yaml"));
    const swap = (version: string): void => {
      symlinkSync(version, workspace.path("..data_tmp"));
      renameSync(workspace.path("..data_tmp"), workspace.path("..data"));
    };
    swap("..2");
    await running.seen(/changed: route api changed\n/);
    expect(await body(port)).toBe("second");
    rmSync(workspace.path("..1"), { recursive: true });
    swap("..3");
    await running.seen(/changed: route third added, route api removed\n/);
    expect(await body(port)).toBe("first");
  });

  it("a file that the configuration names", async () => {
    const port = await freePort();
    const keys = (kid: string): string =>
      JSON.stringify({
        keys: [
          { kty: "OKP", crv: "Ed25519", kid, x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" },
        ],
      });
    const more =
      "            policies: {jwtAuth: {issuer: 'https://a', jwks: {file: keys/jwks.json}}}\n";
    const workspace = new Workspace({
      "gateway.yaml": gatewayText({ upstream: first, port, more }),
      "keys/jwks.json": keys("one"),
    });
    const running = await start(workspace.path("gateway.yaml"));
    workspace.write("keys/jwks.json", keys("two"));
    await running.seen(/changed: route api changed\n/);
    rmSync(workspace.path("keys"), { recursive: true });
    await running.seen(/error\[file-not-found\]/);
    mkdirSync(workspace.path("keys"));
    workspace.write("keys/jwks.json", keys("three"));
    await running.seen(/changed: route api changed\n[\s\S]*changed: route api changed\n/);
  });
});

function overAgent(
  agent: Agent,
  port: number,
): Promise<{ readonly text: string; readonly localPort: number | undefined }> {
  return new Promise((resolve, reject) => {
    const call = request({ host: "127.0.0.1", port, agent }, (response) => {
      const localPort = response.socket.localPort;
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ text, localPort }));
    });
    call.on("error", reject);
    call.end();
  });
}
