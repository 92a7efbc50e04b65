import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeFiles } from "../../compiler/4-emit/write.ts";
import { compileFile } from "../harness/compile-file.ts";
import { freePort } from "../harness/free-port.ts";
import { gatewayEnvironment } from "./bench.ts";
import type { Contender } from "./duel.ts";

/** Builds a gateway with one route to a host, on a port of its own. `config`: the section of its file. */
export async function plainGateway(
  folder: string,
  host: string,
  config: object = {},
): Promise<Contender> {
  const port = await freePort();
  const output = join(folder, `plain-${port}`);
  const file = `${output}.json`;
  const routes = [{ name: "api", backends: [{ host }] }];
  const binds = [{ port, listeners: [{ name: "web", routes }] }];
  writeFileSync(file, JSON.stringify({ config, binds }));
  writeFiles(output, (await compileFile(file, { name: "plain" })).files);
  return { script: join(output, "gateway.mjs"), environment: gatewayEnvironment(host) };
}
