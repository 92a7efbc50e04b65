import path from "node:path";
import { writeFiles } from "../../compiler/4-emit/write.ts";
import { bundle } from "./bundle.ts";
import { freePort } from "./free-port.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { TestProcess } from "./test-process.ts";

/** The listeners of one free port, or a whole configuration. */
export type GatewayConfig =
  | {
      readonly listeners: readonly object[];
      /** Sections of the file in addition to `binds`. */
      readonly file?: object;
    }
  | {
      /** A standalone file or manifests: YAML text, or a value (JSON is YAML). */
      readonly config: string | object;
    };

/** How a gateway is built and run. */
export interface GatewayOptions {
  /** Further files that the build reads, by their paths. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Folder of the bundle, in which relative paths of its configuration start. An empty folder unless given. */
  readonly folder?: string;
  /** Working directory, if it is not the folder of the bundle. */
  readonly cwd?: string;
}

/** A compiled gateway that runs as a process of its own. It is gone at the end of the test. */
export class Gateway extends TestProcess {
  /** Working directory. */
  readonly folder: string;
  /** The first port of its configuration. */
  port = 0;
  /** Of the URL: "" unless the gateway serves one path. */
  path = "";

  constructor(script: string, folder: string, env: Readonly<Record<string, string>>) {
    super(process.execPath, [script], { cwd: folder, env: { ...anyServicePorts, ...env } });
    this.folder = folder;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}${this.path}`;
  }

  /** Resolves when it serves all its ports. */
  async listening(): Promise<this> {
    const [, port] = await this.seen(/listening on 0\.0\.0\.0:(\d+)/);
    this.port = Number(port);
    return this;
  }

  async statsPort(): Promise<number> {
    return Number((await this.seen(/stats address on 127\.0\.0\.1:(\d+)/))[1]);
  }

  async readinessPort(): Promise<number> {
    return Number((await this.seen(/readiness address on 127\.0\.0\.1:(\d+)/))[1]);
  }
}

/** Compiles a configuration and runs the bundle in a folder that holds nothing else. */
export async function startGateway(options: GatewayConfig & GatewayOptions): Promise<Gateway> {
  const { files = {}, env = {}, folder = temporaryFolder() } = options;
  const config = "config" in options ? options.config : await onFreePort(options);
  writeFiles(folder, await bundle({ config, files }));
  const gateway = new Gateway(path.join(folder, "gateway.mjs"), options.cwd ?? folder, env);
  return gateway.listening().catch((error: Error) => {
    // Another program may take a free port before the gateway does.
    const isTaken = "listeners" in options && error.message.includes("the port is in use");
    if (!isTaken) throw error;
    return startGateway(options);
  });
}

/** Ports of what serves nobody's requests; the inspector's is opened by held-memory.ts alone. */
const anyServicePorts = {
  NODE_OPTIONS: "--inspect-port=127.0.0.1:0",
  ADMIN_ADDR: "127.0.0.1:0",
  STATS_ADDR: "127.0.0.1:0",
  READINESS_ADDR: "127.0.0.1:0",
};

async function onFreePort({
  listeners,
  file,
}: Extract<GatewayConfig, { readonly listeners: unknown }>): Promise<object> {
  return { ...file, binds: [{ port: await freePort(), listeners }] };
}
