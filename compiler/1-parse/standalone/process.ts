import { LOG_FILTER } from "../../config/frontend-fields.ts";
import {
  byteCount,
  choice,
  duration,
  either,
  expression,
  type Infer,
  integer,
  list,
  object,
  text,
  unsupported,
} from "../../schema/schema.ts";
import { logFieldsSchema } from "./frontend.ts";
import { processTracingSchema } from "./tracing.ts";

const PORT_ALONE =
  "A port without an address is bound like a bind without one: to loopback with `gwc run`, to all addresses in a bundle.";

/** Type of a valid `config`. */
export type ProcessValue = Infer<typeof processSchema>;

/** Schema of `config`. */
export const processSchema = object(
  {
    statsAddr: text(`Address of the metrics. ${PORT_ALONE}`, {
      format: "address",
      default: ":15020",
    }),
    readinessAddr: text(`Address of the readiness check. ${PORT_ALONE}`, {
      format: "address",
      default: ":15021",
    }),
    adminAddr: text("Address of the admin page of `gwc run`; a loopback address.", {
      format: "loopback-address",
      default: "127.0.0.1:15000",
    }),
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
        filter: expression(LOG_FILTER),
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
        pattern: "^[1-9][0-9]{0,3}%$",
        form: 'a percentage such as "50%"',
      }),
      {
        description:
          "Number of threads that serve the ports, or a share of the available cores (`50%`); 1 by " +
          "default. Each thread has its own connections and caches, and a share of `maxConnections`. `gwc run` always uses " +
          "one. Variable: WORKER_THREADS.",
      },
    ),
    maxBufferedBytes: byteCount(
      "Maximum total size in bytes of buffered bodies; requests beyond it are answered with 503. By default a quarter of the " +
        "memory of the container, or of the machine, when the gateway starts.",
      65_536,
      Number.MAX_SAFE_INTEGER,
    ),
    connectionMinTerminationDeadline: duration("How long listeners stay open after SIGTERM.", {
      default: "0s",
    }),
    connectionTerminationDeadline: duration("How long streams may continue after SIGTERM.", {
      default: "5s",
    }),
    ...Object.fromEntries(
      ["metrics", "backend", "hbone", "dns", "enableIpv6", "database", "storage"]
        .concat([
          "modelCatalog",
          "mcp",
          "session",
          "sensitiveHeaders",
          "customFunctions",
          "standardAttributes",
        ])
        .map((key) => [key, unsupported(`config.${key}`)]),
    ),
  },
  { hasParts: true, description: "Settings of the process." },
);
