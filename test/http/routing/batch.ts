import { createServer } from "node:net";
import { join } from "node:path";
import { Client } from "undici";
import { emit } from "../../../compiler/4-emit/emit.ts";
import { writeFiles } from "../../../compiler/4-emit/write.ts";
import { type Checked, checkFiles } from "../../../compiler/compile.ts";
import { memoryHost } from "../../../compiler/host.ts";
import { Gateway } from "../../harness/gateway.ts";
import { temporaryFolder } from "../../harness/temporary-folder.ts";
import type { Table, TableRequest } from "./model.ts";
import { queryText } from "./naive.ts";

/** A configuration of tables, a port each; routes that `isLeftOut` names are not in it. */
export type Form = (
  tables: readonly Table[],
  ports: readonly number[],
  isLeftOut: (name: string) => boolean,
) => string;

/** A bundle of many tables that runs as a process of its own. */
export interface Batch {
  /** The route that a table chooses: its `id`; `undefined` for a 404. */
  ask(table: number, requests: readonly TableRequest[]): Promise<readonly (string | undefined)[]>;
  stop(): Promise<void>;
}

/** Compiles tables into one bundle and starts it, once more when somebody else took one of its ports meanwhile. */
export async function startBatch(tables: readonly Table[], form: Form): Promise<Batch> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryBatch(tables, form);
    } catch (error) {
      if (attempt === 5 || !String(error).includes("the port is in use")) throw error;
    }
  }
}

async function tryBatch(tables: readonly Table[], form: Form): Promise<Batch> {
  const ports = await freePorts(tables.length);
  const { program, files } = compiled(tables, ports, form);
  if (program === undefined) throw new Error("there is no program");
  const emitted = await emit(program, files, {
    trace: "path",
    isTypeChecked: false,
    version: "test",
    progress: () => {},
  });
  const folder = temporaryFolder();
  writeFiles(folder, emitted.files);
  const gateway = new Gateway(join(folder, "gateway.mjs"), folder, { RUST_LOG: "request=off" });
  await gateway.listening();
  return {
    ask: (table, requests) => responses(`http://127.0.0.1:${ports[table]}`, requests),
    stop: async () => void (await gateway.stop("SIGKILL")),
  };
}

/** A route that is never chosen is a mistake: it is left out then, and nobody may miss it. */
function compiled(tables: readonly Table[], ports: readonly number[], form: Form): Checked {
  const excludedFields = new Set<string>();
  const checkInput = () => {
    const host = memoryHost({
      "gateway.yaml": form(tables, ports, (name) => excludedFields.has(name)),
    });
    return checkFiles(["gateway.yaml"], host, { name: "test", isStrict: false });
  };
  const first = checkInput();
  for (const { code, params } of first.diagnostics) {
    if (code === "unreachable-route")
      excludedFields.add(String((params as { route: string }).route));
  }
  const found = excludedFields.size === 0 ? first : checkInput();
  if (found.program !== undefined) return found;
  const mistakes = found.diagnostics.filter(({ code }) => code !== "unreachable-match");
  throw new Error(`refused: ${JSON.stringify(mistakes.slice(0, 5))}`);
}

async function responses(
  url: string,
  requests: readonly TableRequest[],
): Promise<readonly (string | undefined)[]> {
  const client = new Client(url, { pipelining: 10 });
  try {
    return await Promise.all(requests.map((request) => response(client, request)));
  } finally {
    await client.close();
  }
}

async function response(client: Client, request: TableRequest): Promise<string | undefined> {
  const { host, method, path, headers } = request;
  const query = queryText(request);
  const {
    statusCode,
    body,
    headers: responded,
  } = await client.request({
    // undici's type lists the usual methods.
    method: method as "GET",
    path: query === "" ? path : `${path}?${query}`,
    headers: ["host", host, ...headers.flat()],
  });
  const text = await body.text();
  if (statusCode === 404) return undefined;
  if (statusCode === 200) return text.split("/")[1];
  if (statusCode === 302) return new URL(String(responded.location)).hostname.split(".")[0];
  throw new Error(`${statusCode} ${text}: ${JSON.stringify(request)}`);
}

/**
 * Ports that are free now, above a gateway's own and below those that the system gives away by itself: while a bundle is built, a connection of
 * some other test would take one of so many.
 */
async function freePorts(count: number): Promise<readonly number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = 16_000 + Math.floor(Math.random() * 16_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.on("error", () => resolve(false));
      server.listen(port, () => server.close(() => resolve(true)));
    });
    if (isFree) found.add(port);
  }
  return [...found];
}
