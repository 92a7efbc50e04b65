import path from "node:path";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { pythonFor } from "./python.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { TestProcess } from "./test-process.ts";
import { program } from "./tool.ts";

/** Starts Caddy with what stands in the block of its one site; `host:port`. */
export async function startCaddy(site: string): Promise<string> {
  const port = await freePort();
  return startCaddyFile(`http://127.0.0.1:${port} {\n${site}\n}\n`, port);
}

/** Starts Caddy with the sites of a Caddyfile; one of their ports is to be named. */
export async function startCaddyFile(sites: string, port: number): Promise<string> {
  const python = await pythonFor("tests");
  const options = "{\n admin off\n auto_https off\n persist_config off\n}\n";
  const folder = temporaryFolder({ Caddyfile: `${options}${sites}` });
  const caddy = path.join(path.dirname(python), "caddy");
  const env = { XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder };
  return serving(new TestProcess(caddy, ["run"], { cwd: folder, env }), port);
}

/** Starts nginx (Debian's) with what stands in the block of its one server; `host:port`. */
export async function startNginx(server: string): Promise<string> {
  const port = await freePort();
  return startNginxFile(`access_log off;\nserver { listen 127.0.0.1:${port};\n${server}\n}`, port);
}

/**
 * Starts nginx (Debian's) with the contents of its block `http`, and with files in its folder; one of its ports has a
 * name.
 */
export async function startNginxFile(
  http: string,
  port: number,
  files: Readonly<Record<string, string>> = {},
): Promise<string> {
  const folder = temporaryFolder();
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join("\n");
  const file = `daemon off; master_process off; pid ${folder}/pid; error_log stderr;
events {}
http {
${paths}
${http}
}`;
  const config = temporaryFolder({ ...files, "nginx.conf": file });
  const parameters = ["-e", "stderr", "-p", folder, "-c", path.join(config, "nginx.conf")];
  return serving(new TestProcess(program("nginx"), parameters), port);
}

/** Starts Traefik with the file `dynamic.yaml` of a folder behind one port; `host:port`. */
export async function startTraefik(program: string, folder: string, port: number): Promise<string> {
  const parameters = [
    `--entryPoints.web.address=127.0.0.1:${port}`,
    `--providers.file.filename=${path.join(folder, "dynamic.yaml")}`,
    "--global.checkNewVersion=false",
    "--global.sendAnonymousUsage=false",
  ];
  return serving(new TestProcess(program, parameters, { cwd: folder }), port);
}

async function serving(server: TestProcess, port: number): Promise<string> {
  const host = `127.0.0.1:${port}`;
  await eventually(
    () => {
      if (server.hasEnded) throw new Error(server.output);
      return fetch(`http://${host}`, { redirect: "manual" }).then(
        () => true,
        () => null,
      );
    },
    () => server.output,
  );
  return host;
}
