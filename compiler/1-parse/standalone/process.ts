import { LOG_FILTER } from "../../config/frontend-fields.ts";
import { usageSchema } from "../../manifests/usage.ts";
import { hintFor } from "../../schema/hint-for.ts";
import { HBONE_INSTEAD } from "../../schema/refused-features.ts";
import {
  byteCount,
  choice,
  duration,
  either,
  expression,
  type Infer,
  ignored,
  inPhase,
  integer,
  list,
  object,
  text,
  unsupportedBut,
} from "../../schema/schema.ts";
import { acmeSchema } from "./acme.ts";
import { adminSchema } from "./admin.ts";
import { logFieldsSchema, metricLabelsSchema } from "./frontend.ts";
import { keysApiSchema } from "./keys-api.ts";
import { modelCatalogSchema } from "./model-catalog.ts";
import { storeSchema } from "./store.ts";
import { processTracingSchema } from "./tracing.ts";

const PORT_ALONE =
  "A port without an address is bound like a bind without one: to loopback with `gwc run`, to all addresses in a bundle.";

/** Settings for the control plane of a mesh, which a file does not have. */
const meshSettings = Object.fromEntries(
  [
    ...["namespace", "gateway", "network", "clusterId", "serviceAccount"],
    ...["trustDomain", "additionalTrustDomains", "skipValidateTrustDomain"],
  ].map((key) => [key, ignored("only a mesh reads it, and a file has none", "remove it")]),
);

/** Settings of agentgateway that gwc accepts without effect: none of them restricts who may do what. */
const ignoredSettings = {
  database: ignored(
    "gwc does not write requests to a database",
    "write them to the access log (config.logging), the audit log (config.logging.audit) or a collector (frontendPolicies.accessLog.otlp)",
  ),
  storage: ignored("gwc never changes its configuration", "edit the file: `gwc run` reloads it"),
  standardAttributes: ignored(
    "it describes requests in a database, which gwc does not write",
    "add fields to the access log: frontendPolicies: { accessLog: { add: {...} } }",
  ),
  histograms: ignored("metrics use classic histograms", "remove it"),
  enableIpv6: ignored(
    "the address of each port decides, and the operating system resolves names",
    'to listen on IPv6 as well, set address: "::" on a gateway or bind',
  ),
  dns: ignored(
    "the operating system resolves names",
    "configure its resolver: /etc/resolv.conf, or dnsConfig of a pod",
  ),
  session: ignored(
    "the key of sessions is only read from the environment",
    "set the variable SESSION_KEY of the process, to the same value on every replica",
  ),
  mcp: ignored(
    "each MCP backend limits its own sessions",
    "write it in the backend or the `mcp` section: sessions: { idleTimeout: 30m }",
  ),
  backend: ignored(
    "connections to backends are configured where they are used",
    "write it in a route or backend: policies: { tcp: { connectTimeout: 5s } }",
  ),
  sensitiveHeaders: ignored(
    "no log or trace contains headers other than those that an expression names",
    "remove it",
  ),
};

/** Addresses of the Workload API (SPIFFE Workload Endpoint 4). */
const WORKLOAD_API =
  "^(unix:///[^?#\\s]+|tcp://([0-9]{1,3}(\\.[0-9]{1,3}){3}|\\[[0-9a-fA-F:.]+\\]):[0-9]{1,5})$";

/** Type of a valid `config`. */
export type ProcessValue = Infer<typeof processSchema>;

/** Schema of `config`. */
export const processSchema = object(
  {
    statsAddr: text(`Address of the metrics, or \`off\`. ${PORT_ALONE}`, {
      format: "address-or-off",
      default: ":15020",
      examples: [":15020"],
    }),
    readinessAddr: text(`Address of the readiness check, or \`off\`. ${PORT_ALONE}`, {
      format: "address-or-off",
      default: ":15021",
      examples: [":15021"],
    }),
    adminAddr: text(
      "Address of the admin page of `gwc run`, or `off`. Without `admin.key` the page stays on loopback: of other addresses only the port is used.",
      { format: "address-or-off", default: "127.0.0.1:15000" },
    ),
    admin: adminSchema(),
    logging: object(
      {
        format: choice("Format of access lines.", ["text", "json"], { default: "text" }),
        level: either(
          text("A directive: `warn`, or `request=warn`."),
          list(text("A directive: `warn`, or `request=warn`.")),
          {
            description:
              "Log levels in the syntax of RUST_LOG: `info`, or `info,request=warn,connection=debug`.",
            default: "info",
          },
        ),
        filter: inPhase("log", expression(LOG_FILTER)),
        database: ignoredSettings.database,
        fields: object(logFieldsSchema(), {
          atLeastOneOf: ["remove", "add"],
          description: "Fields of access lines.",
        }),
        audit: object(
          {
            file: text(
              "File that lines are appended to, and that is reopened after it was moved; without it they are written to the access log with the scope `audit`.",
            ),
          },
          {
            description:
              "Audit log of refused requests with the reason, admitted callers, and process events: one JSON object per line. `{}` enables it.",
          },
        ),
      },
      { description: "Logging." },
    ),
    tracing: processTracingSchema(),
    workerThreads: either(
      integer("Threads.", 1, 256),
      text("A share of the available cores: `50%`.", {
        pattern: "^([1-9][0-9]{0,3}%|[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-6])$",
        form: 'a number from 1 to 256, or a percentage such as "50%"',
      }),
      {
        description:
          "Number of threads that serve the ports, or a share of the available cores (`50%`); 1 by " +
          "default. Each thread has its own connections and caches, and a share of `maxConnections`. `gwc run` always uses " +
          "one. Variable: WORKER_THREADS.",
      },
    ),
    maxBufferedBytes: byteCount(
      "Maximum total size in bytes of buffered bodies; requests beyond it are answered with 503, and one that is larger alone " +
        "with 413. By default a quarter of the memory of the container, or of the machine, when the gateway starts.",
      65_536,
      Number.MAX_SAFE_INTEGER,
    ),
    metrics: object(
      {
        fields: object(
          { add: metricLabelsSchema },
          { required: ["add"], description: "Own labels of metrics about requests." },
        ),
        remove: ignored("all metrics are collected", "drop them where they are scraped"),
      },
      {
        misplacedFieldHints: hintFor(
          'write config: { statsAddr: ":15020" }, whose path is /metrics',
          [...["port", "address", "addr", "path", "enabled", "prometheus"]],
        ),
        description:
          "Own labels of metrics, as in `frontendPolicies.metrics`, which replaces those of the same names.",
      },
    ),
    modelCatalog: modelCatalogSchema(),
    store: storeSchema(),
    usage: usageSchema(),
    keysApi: keysApiSchema(),
    connectionMinTerminationDeadline: duration("How long listeners stay open after SIGTERM.", {
      default: "0s",
    }),
    connectionTerminationDeadline: duration("How long streams may continue after SIGTERM.", {
      default: "5s",
    }),
    ...ignoredSettings,
    ...meshSettings,
    customFunctions: text(
      'Functions that every CEL expression of the file can call. Each has a name, parameters and an expression: `isInternal() { request.headers["x-env"] == "internal" }`. `this.NAME(...)` is called on a value, and a last parameter `REST...` is the list of all further arguments. Functions may call each other, but not themselves.',
      {
        maxLength: 65_536,
        hasDollarSigns: true,
        examples: ['isInternal() { request.headers["x-env"] == "internal" }'],
      },
    ),
    acme: acmeSchema(),
    hbone: unsupportedBut("HBONE tunnels", HBONE_INSTEAD),
    spiffe: object(
      {
        endpoint: text(
          "The SPIFFE Workload API of this machine: `unix://` and the path of its socket, or `tcp://` with an IP address and a port.",
          {
            pattern: WORKLOAD_API,
            form: "unix:///PATH, or tcp:// with an IP address and a port",
            examples: ["unix:///run/spire/agent/public/api.sock"],
          },
        ),
      },
      {
        required: ["endpoint"],
        description:
          "Source of the gateway's own identity, for `tls: { spiffe: {} }` of listeners and `backendTLS: { spiffe: {} }`.",
      },
    ),
    ...Object.fromEntries(
      ["xdsAddress", "xdsAuthToken", "caAddress", "caAuthToken", "localXdsPath"].map((key) => [
        key,
        unsupportedBut("a control plane over xDS", "compile the manifests: gwc build MANIFESTS"),
      ]),
    ),
  },
  { hasParts: true, description: "Settings of the process." },
);
