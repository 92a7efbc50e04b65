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
  "A port alone is open where binds without an address are: on loopback with `gwc run`, at every address in a bundle.";

/** `config` as the schema lets it through. */
export type ProcessValue = Infer<typeof processSchema>;

/** The shape of `config`. */
export const processSchema = object(
  {
    statsAddr: text(`Where metrics are served. ${PORT_ALONE}`, {
      format: "address",
      default: ":15020",
    }),
    readinessAddr: text(`Where readiness is served. ${PORT_ALONE}`, {
      format: "address",
      default: ":15021",
    }),
    adminAddr: text("Where `gwc run` serves the admin page; a loopback address.", {
      format: "loopback-address",
      default: "127.0.0.1:15000",
    }),
    logging: object(
      {
        format: choice("How access lines are written.", ["text", "json"], { default: "text" }),
        level: either(
          text("A directive: `warn`, or `request=warn`."),
          list(text("A directive: `warn`, or `request=warn`.")),
          {
            description:
              "What is logged, as RUST_LOG says it: `info`, or `info,request=warn,connection=debug`.",
            default: "info",
          },
        ),
        filter: expression("Which requests have a line: a CEL expression that is true for them."),
        fields: object(logFieldsSchema(), {
          atLeastOneOf: ["remove", "add"],
          description: "What access lines hold.",
        }),
        audit: object(
          {
            file: text(
              "The file that lines are added to, and opened anew when it was moved away; without it they stand between those of the access log, with `audit` as their scope.",
            ),
          },
          {
            description:
              "A stream of who was refused and why, who was let in, and what the process did: a JSON object a line. `{}` turns it on.",
          },
        ),
      },
      { description: "Logging." },
    ),
    tracing: processTracingSchema(),
    workerThreads: either(
      integer("Threads.", 1, 256),
      text("A part of the cores that the process may use: `50%`.", {
        pattern: "^[1-9][0-9]{0,3}%$",
        form: 'a percentage such as "50%"',
      }),
      {
        description:
          "How many threads serve the ports: a number, or a part of the cores that the process may use (`50%`); one unless " +
          "it is set. A thread has connections and caches of its own, and its part of `maxConnections`; `gwc run` has one " +
          "whatever this says. Variable: WORKER_THREADS.",
      },
    ),
    maxBufferedBytes: byteCount(
      "Bytes that bodies which are read whole may take together; a request beyond is a 503. By default a quarter of the " +
        "memory that the container, else the machine, has when the gateway starts.",
      65_536,
      Number.MAX_SAFE_INTEGER,
    ),
    connectionMinTerminationDeadline: duration("How long listeners stay open after SIGTERM.", {
      default: "0s",
    }),
    connectionTerminationDeadline: duration(
      "How long streams may end by themselves after SIGTERM.",
      { default: "5s" },
    ),
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
