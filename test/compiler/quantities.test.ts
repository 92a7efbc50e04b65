import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { memoryHost } from "../../compiler/host.ts";
import { compileFile } from "../harness/compile-file.ts";
import { gwc } from "../harness/gwc.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

/** A configuration with a size as it is written. */
const withSize = (size: string): string => `
frontendPolicies:
  http:
    maxBufferSize: ${size}
binds: [{ port: 8080, listeners: [{ routes: [{ backends: [{ host: "127.0.0.1:1" }] }] }] }]
`;

/** Output of the build, without the digest of the input. */
async function built(size: string): Promise<readonly string[]> {
  const variables = { SIZE: "2Mi" };
  const host = memoryHost({ "gateway.yaml": withSize(size) }, variables);
  const { files } = await compileFile("gateway.yaml", { name: "sized", host });
  return files.filter(({ path }) => path.endsWith(".ts")).map(({ text }) => text);
}

it.each(["2Mi", "2048Ki", "'2Mi'", "2.0Mi", `\${SIZE}`, `\${OTHER:-2Mi}`])(
  "sizes may be quantities: %s",
  async (size) => {
    expect(await built(size)).toEqual(await built("2097152"));
  },
);

it("decimal units are of 1000", async () => {
  expect(await built("3M")).toEqual(await built("3000000"));
});

it.each([
  ["2MB", "write 2M"],
  ["2 mib", "write 2Mi"],
  ["lots", "a whole number"],
])("says how %s is written", async (size, advice) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "gateway.yaml"), withSize(size));
  const { code, stderr, stdout } = await gwc(["check"], { cwd: folder });
  expect(code).toBe(1);
  expect(stderr + stdout).toContain(advice);
});
