import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { eventually } from "./eventually.ts";
import { pythonFor } from "./python.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { TestProcess } from "./test-process.ts";

/** A listener of Envoy with one route. */
export interface EnvoyListener {
  readonly name: string;
  /** The filters before its router, as Envoy's configuration has them. */
  readonly filters: readonly object[];
  /** Members of its route's action besides the cluster. */
  readonly route?: object;
}

/** Destinations of requests and of the gRPC cluster `services`, both `host:port`. */
export interface EnvoySetup {
  readonly upstream: string;
  readonly services: string;
  readonly listeners: readonly EnvoyListener[];
}

/** Starts a real Envoy; the URLs of its listeners by their names. It is gone at the end of the test. */
export async function startEnvoy(setup: EnvoySetup): Promise<ReadonlyMap<string, string>> {
  const python = await pythonFor("tests");
  const folder = temporaryFolder({ "envoy.json": JSON.stringify(bootstrap(setup)) });
  const adminPath = path.join(folder, "admin");
  const running = new TestProcess(python, [
    ...["-m", "envoy._main", "-c", path.join(folder, "envoy.json")],
    ...["--admin-address-path", adminPath, "--log-level", "warning", "--concurrency", "1"],
    // Several of them on one machine would share memory.
    "--use-dynamic-base-id",
  ]);
  return eventually(
    async () => {
      if (running.hasEnded) throw new Error(running.output);
      // Envoy makes the file before it has written to it.
      const admin = existsSync(adminPath) ? readFileSync(adminPath, "utf8") : "";
      if (!/:\d+$/.test(admin)) return null;
      const urls = await listenerUrls(admin).catch(() => new Map<string, string>());
      return urls.size === setup.listeners.length ? urls : null;
    },
    () => `Envoy: ${running.output}`,
  );
}

async function listenerUrls(admin: string): Promise<ReadonlyMap<string, string>> {
  const response = await fetch(`http://${admin}/listeners?format=json`);
  const { listener_statuses: listeners = [] } = (await response.json()) as ListenerStatuses;
  return new Map(
    listeners.map(({ name, local_address: { socket_address: at } }) => [
      name,
      `http://${at.address}:${at.port_value}`,
    ]),
  );
}

interface ListenerStatuses {
  readonly listener_statuses?: readonly {
    readonly name: string;
    readonly local_address: {
      readonly socket_address: { readonly address: string; readonly port_value: number };
    };
  }[];
}

function bootstrap({ upstream, services, listeners }: EnvoySetup): object {
  const http2 = {
    "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": typed(
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
      { explicit_http_config: { http2_protocol_options: {} } },
    ),
  };
  const http1 = {
    "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": typed(
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
      { explicit_http_config: { http_protocol_options: { enable_trailers: true } } },
    ),
  };
  return {
    admin: { address: socketAddress("127.0.0.1:0") },
    static_resources: {
      listeners: listeners.map(listener),
      clusters: [
        cluster("upstream", upstream, { typed_extension_protocol_options: http1 }),
        cluster("services", services, { typed_extension_protocol_options: http2 }),
      ],
    },
  };
}

function listener({ name, filters, route = {} }: EnvoyListener): object {
  const router = {
    name: "envoy.filters.http.router",
    typed_config: typed("envoy.extensions.filters.http.router.v3.Router", {
      suppress_envoy_headers: true,
    }),
  };
  const manager = typed(
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    {
      stat_prefix: name,
      generate_request_id: false,
      skip_xff_append: true,
      http_protocol_options: { enable_trailers: true },
      server_header_transformation: "PASS_THROUGH",
      route_config: {
        virtual_hosts: [
          {
            name: "all",
            domains: ["*"],
            routes: [
              { match: { prefix: "/" }, route: { cluster: "upstream", timeout: "0s", ...route } },
            ],
          },
        ],
      },
      http_filters: [...filters, router],
    },
  );
  return {
    name,
    address: socketAddress("127.0.0.1:0"),
    filter_chains: [
      {
        filters: [{ name: "envoy.filters.network.http_connection_manager", typed_config: manager }],
      },
    ],
  };
}

function cluster(name: string, at: string, more: object): object {
  const endpoint = { address: socketAddress(at) };
  return {
    name,
    type: "STATIC",
    connect_timeout: "10s",
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint }] }] },
    ...more,
  };
}

/** A message of any type, as protobuf's JSON has it. */
export function typed(type: string, value: object): object {
  return { "@type": `type.googleapis.com/${type}`, ...value };
}

function socketAddress(at: string): object {
  const [address, port] = at.split(":");
  return { socket_address: { address, port_value: Number(port) } };
}
