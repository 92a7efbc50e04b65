import { request } from "node:http";
import { parse } from "yaml";
import { memoryHost } from "../../../compiler/host.ts";
import { checkInput } from "../../../compiler/inspect/check-input.ts";
import { gwc } from "../../harness/gwc.ts";
import { Workspace } from "../../harness/workspace.ts";

/** Returns the output of `gwc import` for files, of which the first ones are arguments. */
export async function imported(
  files: Readonly<Record<string, string>>,
  named: readonly string[] = Object.keys(files),
  ...argv: readonly string[]
) {
  const workspace = new Workspace(files);
  const result = await gwc(["import", ...named, ...argv], { cwd: workspace.folder });
  return { ...result, value: result.code === 2 ? undefined : parse(result.stdout) };
}

/** Returns the errors of `gwc check` for a file. */
export function mistakes(text: string): readonly string[] {
  const host = memoryHost({ "gateway.yaml": text });
  const { findings } = checkInput(["gateway.yaml"], host, false);
  return findings.filter(({ severity }) => severity === "error").map(({ message }) => message);
}

/** The lines at the head of an imported file: what is not in it. */
export function leftIn(text: string): readonly string[] {
  return text.split("\n").filter((line) => /^# {3}\S/.test(line));
}

/** A request to a server on this machine as another host. */
export interface AskedAs {
  readonly method?: string;
  readonly host: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A proxy's response to a request: its status, its redirect, and the request that the server received. */
export async function outcome(
  port: number,
  { method = "GET", host, path, headers = {} }: AskedAs,
  seen: readonly string[],
): Promise<object> {
  const { status, found, body } = await new Promise<{
    status: number | undefined;
    found: NodeJS.Dict<string | string[]>;
    body: string;
  }>((resolve, reject) => {
    const own = { ...headers, host: `${host}:${port}` };
    const sent = request({ port, path, method, headers: own, host: "127.0.0.1" }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        text += part;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode, found: response.headers, body: text }),
      );
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end();
  });
  const plain = (text: unknown) => String(text).replaceAll(`:${port}`, ":PORT");
  const echoed = body.startsWith('{"method"') ? JSON.parse(body) : undefined;
  return {
    status,
    ...(found.location !== undefined && {
      location: plain(found.location).replace(/^http:\/\/[^/]+:PORT/, ""),
    }),
    ...(echoed === undefined
      ? status === 200 && { body, type: found["content-type"] }
      : {
          method: echoed.method,
          url: echoed.url,
          host: plain(echoed.headers.host).replace(":PORT", ""),
          ...Object.fromEntries(seen.map((name) => [name, echoed.headers[name]])),
        }),
    ...Object.fromEntries(
      seen.flatMap((name) =>
        found[name] === undefined ? [] : [[`response ${name}`, found[name]]],
      ),
    ),
  };
}
