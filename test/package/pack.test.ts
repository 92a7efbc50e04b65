import { execFile } from "node:child_process";
import { cpSync, readFileSync, symlinkSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { root } from "../harness/root.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { program } from "../harness/tool.ts";

const run = promisify(execFile);

/** A checkout of its own: packing writes into it, and other tests read this one meanwhile. */
function checkout(): string {
  const folder = temporaryFolder();
  const { files } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const written = ["dist", "gateway.schema.json", "compiler/gwc.mjs"];
  const packed = files.filter((file: string) => !written.includes(file));
  for (const name of ["package.json", "tsconfig.json", "compiler", "templates", ...packed])
    cpSync(path.join(root, name), path.join(folder, name), { recursive: true });
  symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  return folder;
}

it("npm pack writes the same files each time in one checkout", async () => {
  const cwd = checkout();
  const PATH = `${path.dirname(process.execPath)}:${process.env.PATH}`;
  const pack = async () => {
    const options = { cwd, env: { ...process.env, PATH } };
    const { stdout } = await run(program("npm"), ["pack", "--dry-run", "--json"], options);
    const [{ files }] = JSON.parse(stdout.slice(stdout.indexOf("[\n")));
    return files.map((file: { readonly path: string }) => file.path);
  };
  const first = await pack();
  expect(first).toContain("dist/package.json");
  expect(first).toContain("dist/runtime/http/exchange.js");
  expect(await pack()).toEqual(first);
}, 300_000);
