import { connect } from "node:net";
import { expect, it } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { startGateway } from "../harness/gateway.ts";
import { RawClient } from "../harness/raw-client.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startUpstream } from "../harness/upstream.ts";
import { startPlain } from "./plain-gateway.ts";

async function start(level: string | readonly string[] | undefined, env = {}) {
  const folder = temporaryFolder();
  makeCertificate(folder, "site");
  const host = await startUpstream((_request, response) => response.end("ok"));
  const secure = { protocol: "HTTPS", tls: { cert: "site.pem", key: "site.key" } };
  const gateway = await startGateway({
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
  await gateway.stop();
  return gateway.output;
}

it("aborted connections are logged at debug, without what they sent", async () => {
  const output = await start("info,connection=debug");
  expect(output).toMatch(
    /\tdebug\tconnection the connection of \S+ is aborted: ERR_SSL_HTTP_REQUEST$/m,
  );
  expect(output).not.toContain("secret");
  expect(await start(undefined)).not.toContain("\tconnection ");
  expect(await start(["info", "rustls=debug", "request=warn"])).toContain("\tdebug\tconnection ");
});

it("a level leaves out what is less grave, also from the environment", async () => {
  const host = await startUpstream((_request, response) => response.end("ok"));
  const ofLevel = async (env: Record<string, string>) => {
    const { gateway, url } = await startPlain(host, env);
    await (await fetch(`${url}/asked`)).text();
    const client = new RawClient(Number(new URL(url).port));
    client.send("garbage\r\n\r\n");
    await client.closes();
    await gateway.stop();
    return gateway.output;
  };
  const defaults = await ofLevel({});
  expect(defaults).toMatch(/\tgateway listening/);
  expect(defaults).toMatch(/\trequest .*asked/);
  expect(defaults).toMatch(/\tgateway draining/);
  expect(defaults).not.toContain("\tconnection ");
  const quiet = await ofLevel({ RUST_LOG: "request=off,debug" });
  expect(quiet).not.toContain("\trequest ");
  expect(quiet).toMatch(/\tdebug\tconnection .* is aborted: malformed request line$/m);
  const foreign = await ofLevel({ RUST_LOG: "info,some::other=debug" });
  expect(foreign).toContain('warn\tgateway RUST_LOG: the log has no part "some::other"');
});
