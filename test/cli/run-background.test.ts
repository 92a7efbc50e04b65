import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { GwcProcess } from "../harness/gwc.ts";
import { program } from "../harness/tool.ts";
import { Workspace } from "../harness/workspace.ts";

it("gwc run serves requests while it compiles a change", async () => {
  const [port, admin] = [await freePort(), await freePort()];
  const config = (body: string) =>
    JSON.stringify({
      config: {
        ...{ adminAddr: `127.0.0.1:${admin}`, statsAddr: "127.0.0.1:0" },
        readinessAddr: "127.0.0.1:0",
      },
      binds: [
        {
          port,
          listeners: [
            {
              routes: [
                {
                  name: "locked",
                  matches: [{ path: { pathPrefix: "/locked" } }],
                  policies: {
                    jwtAuth: {
                      issuer: "https://a.test",
                      audiences: ["a"],
                      jwks: { file: "keys.json" },
                    },
                    directResponse: { status: 200, body: "in" },
                  },
                },
                { name: "open", policies: { directResponse: { status: 200, body } } },
              ],
            },
          ],
        },
      ],
    });
  const key = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" };
  const workspace = new Workspace({
    "gateway.yaml": config("first"),
    "keys.json": JSON.stringify({ keys: [{ ...key, kid: "a" }] }),
  });
  const running = new GwcProcess(["run", "-f", workspace.path("gateway.yaml")]);
  await running.seen(/admin page/);
  const ask = async () => (await fetch(`http://127.0.0.1:${port}/`)).text();
  expect(await ask()).toBe("first");
  // A reader of a pipe waits for its writer, so compiling takes until then.
  const file = workspace.path("keys.json");
  const keys = readFileSync(file);
  rmSync(file);
  execFileSync(program("mkfifo"), [file]);
  workspace.write("gateway.yaml", config("second"));
  let pipe = -1;
  await expect
    .poll(() => {
      try {
        pipe = openSync(file, constants.O_WRONLY | constants.O_NONBLOCK);
        return true;
      } catch {
        return false;
      }
    })
    .toBe(true);
  for (let count = 0; count < 20; count++) expect(await ask()).toBe("first");
  expect(running.output).not.toContain("changed:");
  writeSync(pipe, keys);
  closeSync(pipe);
  // Removed: what reads it once more finds no writer.
  rmSync(file);
  workspace.write("keys.json", keys.toString());
  await expect.poll(ask).toBe("second");
  expect(await running.stop()).toBe(0);
});
