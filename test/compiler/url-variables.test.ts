import { expect, it } from "vitest";
import { writeFiles } from "../../compiler/4-emit/write.ts";
import { bundle } from "../harness/bundle.ts";
import { startEcho } from "../harness/echo.ts";
import { freePort } from "../harness/free-port.ts";
import { Gateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

/** A gateway in front of `host`, with variables. */
async function gatewayOf(host: string, env: Readonly<Record<string, string>>): Promise<Gateway> {
  const routes = [{ backends: [{ host }] }];
  const config = { binds: [{ port: await freePort(), listeners: [{ routes }] }] };
  const folder = temporaryFolder();
  writeFiles(folder, await bundle({ config }));
  return new Gateway(`${folder}/gateway.mjs`, folder, env);
}

it("a variable in the host of a URL names a host and no more", async () => {
  const echo = (await startEcho()).url.slice("http://".length);
  const served = await (await gatewayOf("http://${HOST}/base", { HOST: echo })).listening();
  expect((await send(`${served.url}/x`, "GET")).body).toContain('"/base/x"');
  for (const evil of [`user@${echo}`, `${echo}/other?x=`, `${echo}#`, `${echo}\\x`]) {
    const refused = await gatewayOf("http://${HOST}/base", { HOST: evil });
    await refused.seen(/HOST must be a part of a host name/);
  }
});

it("a variable after the scheme names a host and a path, and no user", async () => {
  const echo = (await startEcho()).url.slice("http://".length);
  const served = await (
    await gatewayOf("http://${ADDRESS}", { ADDRESS: `${echo}/base` })
  ).listening();
  expect((await send(`${served.url}/x`, "GET")).body).toContain('"/base/x"');
  for (const evil of [`user@${echo}`, `${echo}\\x`]) {
    const refused = await gatewayOf("http://${ADDRESS}", { ADDRESS: evil });
    await refused.seen(/ADDRESS must be host:port, or host:port\/path/);
  }
});

it("a variable in the path of a URL begins no query", async () => {
  const refused = await gatewayOf("http://127.0.0.1:1/${BASE}", { BASE: "a?b" });
  await refused.seen(/BASE must be a part of a path/);
});

it("a variable without braces is read as agentgateway reads it", async () => {
  const echo = (await startEcho()).url.slice("http://".length);
  const [host = "", port = ""] = echo.split(":");
  const served = await (
    await gatewayOf("http://$HOST:$PORT/base", { HOST: host, PORT: port })
  ).listening();
  expect((await send(`${served.url}/x`, "GET")).body).toContain('"/base/x"');
});
