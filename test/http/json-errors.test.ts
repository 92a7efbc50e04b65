import { expect, it } from "vitest";
import { writeFiles } from "../../compiler/4-emit/write.ts";
import { bundle } from "../harness/bundle.ts";
import { freePort } from "../harness/free-port.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { TestProcess } from "../harness/test-process.ts";

it("a gateway that cannot start reports it in JSON if its log is JSON", async () => {
  const config = {
    config: { logging: { format: "json" } },
    gateways: { default: { port: await freePort() } },
    routes: [
      {
        policies: {
          apiKey: { keys: [{ key: "${MISSING_KEY}" }] },
          directResponse: { status: 200 },
        },
      },
    ],
  };
  const own = await failedStart(config, {});
  expect(own).toMatchObject({ level: "error", message: expect.stringContaining("MISSING_KEY") });
  // The definition is loaded, and an address cannot be used.
  const env = { MISSING_KEY: "a", GWC_STATE_DIR: "/nowhere" };
  expect(await failedStart(config, env)).toMatchObject({
    level: "error",
    scope: "gateway",
    message: expect.stringContaining("GWC_STATE_DIR"),
  });
});

/** Returns the only line of a bundle that fails to start. */
async function failedStart(config: object, env: Readonly<Record<string, string>>): Promise<object> {
  const folder = temporaryFolder();
  writeFiles(folder, await bundle({ config, files: {} }));
  const started = new TestProcess(process.execPath, ["gateway.mjs"], { cwd: folder, env });
  expect(await started.exited).toBe(1);
  return JSON.parse(started.output);
}
