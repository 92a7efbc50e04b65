import { connect } from "node:net";
import { expect, test } from "vitest";
import { makeCertificate, startCompiled, temporaryFolder } from "../harness/compiled-gateway.ts";
import { RawClient, startPlain, startUpstream } from "../harness/gateway-process.ts";

async function start(level: string | readonly string[] | undefined, env = {}) {
  const folder = temporaryFolder();
  makeCertificate(folder, "site");
  const host = await startUpstream((_request, response) => response.end("ok"));
  const secure = { protocol: "HTTPS", tls: { cert: "site.pem", key: "site.key" } };
  const gateway = await startCompiled({
    file: level === undefined ? {} : { config: { logging: { level } } },
    listeners: [{ ...secure, routes: [{ backends: [{ host }] }] }],
    folder,
    env,
  });
  // Plain HTTP to a TLS port.
  const socket = connect(gateway.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.end("GET / HTTP/1.1\r\nHost: secret\r\n\r\n");
  await new Promise((resolve) => socket.on("close", resolve));
  await gateway.end();
  return gateway.output();
}

test("connections that are broken off are told of at debug, without what they sent", async () => {
  const output = await start("info,connection=debug");
  expect(output).toMatch(
    /\tdebug\tconnection the connection of \S+ is broken off: ERR_SSL_HTTP_REQUEST$/m,
  );
  expect(output).not.toContain("secret");
  expect(await start(undefined)).not.toContain("\tconnection ");
  expect(await start(["info", "rustls=debug", "request=warn"])).toContain("\tdebug\tconnection ");
});

test("a level leaves out what is less grave, also from the environment", async () => {
  const host = await startUpstream((_request, response) => response.end("ok"));
  const ofLevel = async (env: Record<string, string>) => {
    const { gateway, url } = await startPlain(host, env);
    await (await fetch(`${url}/asked`)).text();
    const client = new RawClient(Number(new URL(url).port));
    client.send("garbage\r\n\r\n");
    await client.closes();
    gateway.child.kill("SIGTERM");
    await new Promise((resolve) => gateway.child.on("exit", resolve));
    return gateway.output;
  };
  const defaults = await ofLevel({});
  expect(defaults).toMatch(/\tgateway listening/);
  expect(defaults).toMatch(/\trequest .*asked/);
  expect(defaults).toMatch(/\tgateway draining/);
  expect(defaults).not.toContain("\tconnection ");
  const quiet = await ofLevel({ RUST_LOG: "request=off,debug" });
  expect(quiet).not.toContain("\trequest ");
  expect(quiet).toMatch(/\tdebug\tconnection .*HPE_/);
  const foreign = await ofLevel({ RUST_LOG: "info,some::other=debug" });
  expect(foreign).toContain('warn\tgateway RUST_LOG: the log has no part "some::other"');
});
