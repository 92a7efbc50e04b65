import type { ConfigPath } from "../../diagnostics/diagnostic.ts";
import { fieldsIn, listIn, textIn, textsIn } from "../proxy/fields.ts";
import type { DraftFields } from "../proxy/route-draft.ts";
import { addressTest, celText, namesCredential, plainText, secretName } from "../proxy/texts.ts";
import type { SourceFields } from "../source-fields.ts";
import { modelBackend } from "./kong-models.ts";

/** A converted plugin: policies, and backends if it replaces the service. */
export interface KongPart {
  readonly policies: DraftFields;
  readonly backends?: readonly DraftFields[];
  readonly notes: readonly string[];
}

/** A plugin and its location in the file. */
export interface KongPlugin {
  readonly name: string;
  readonly config: DraftFields;
  readonly at: ConfigPath;
}

/** A consumer and its credentials. */
export interface KongConsumer {
  readonly name: string;
  readonly keys: number;
  readonly groups: readonly string[];
  readonly hasPassword: boolean;
}

/** Converts a plugin; returns the reason as a string if that is impossible. */
export function pluginPart(
  { name, config, at }: KongPlugin,
  consumers: readonly KongConsumer[],
  source: SourceFields,
): KongPart | string {
  const place = `line ${source.line(...at)}`;
  const notes: string[] = [];
  const unknown = `${place}: plugin ${name}`;
  const done = (
    policies: DraftFields,
    fields: readonly string[],
    backends?: readonly DraftFields[],
  ): KongPart | string => {
    const other = Object.keys(config).find(
      (field) => config[field] !== null && !fields.includes(field),
    );
    if (other !== undefined) return `${unknown}: ${other}`;
    source.take(...at);
    return { policies, notes, ...(backends !== undefined && { backends }) };
  };
  switch (name) {
    case "key-auth": {
      const [header = "apikey"] = textsIn(config.key_names ?? []);
      const keys = consumers.flatMap((each) =>
        Array.from({ length: each.keys }, (_, index) => ({
          key: `\${${secretName(`${each.name}${index === 0 ? "" : index + 1}_KEY`)}}`,
          metadata: { consumer: each.name, groups: each.groups },
        })),
      );
      if (
        config.anonymous !== undefined ||
        textsIn(config.key_names ?? []).length > 1 ||
        keys.length === 0
      )
        return unknown;
      notes.push(
        `${place}: put each key into its variable: ${keys.map(({ key }) => key).join(", ")}; unlike Kong, gwc does not accept keys in the query`,
      );
      return done({ apiKey: { keys, location: { header: { name: header } } } }, [
        ...["key_names", "key_in_header", "key_in_query", "key_in_body", "hide_credentials"],
      ]);
    }
    case "basic-auth": {
      if (config.anonymous !== undefined || !consumers.some(({ hasPassword }) => hasPassword))
        return unknown;
      notes.push(`${place}: put the USER:HASH lines of the consumers into the variable KONG_USERS`);
      return done({ basicAuth: { htpasswd: "${KONG_USERS}" } }, ["hide_credentials", "realm"]);
    }
    case "acl": {
      const allowed = textsIn(config.allow ?? []);
      if (allowed.length === 0) return unknown;
      const rules = allowed.map((group) => `${celText(group)} in apiKey.groups`);
      return done({ authorization: { rules: [{ require: plainText(rules.join(" || ")) }] } }, [
        "allow",
        "hide_groups_header",
      ]);
    }
    case "ip-restriction": {
      const [allow, deny] = [config.allow, config.deny].map((each) =>
        textsIn(each ?? []).map(addressTest),
      );
      const rules = [
        ...(allow?.length ? [{ require: allow.join(" || ") }] : []),
        ...(deny?.length ? [{ deny: deny.join(" || ") }] : []),
      ];
      if ([...(allow ?? []), ...(deny ?? [])].includes(undefined) || rules.length === 0)
        return unknown;
      return done({ authorization: { rules } }, ["allow", "deny", "message", "status"]);
    }
    case "rate-limiting": {
      const units = {
        second: "Seconds",
        minute: "Minutes",
        hour: "Hours",
        day: "Days",
        month: "Months",
      };
      const limits = Object.entries(units).flatMap(([field, unit]) =>
        config[field] === undefined || config[field] === null
          ? []
          : [{ requests: Number(config[field]), unit, ...limitKey(config) }],
      );
      if (limits.length === 0) return unknown;
      notes.push(
        `${place}: Kong counts in fixed windows (full seconds, minutes, ...); gwc uses a token bucket`,
      );
      return done({ localRateLimit: limits }, [
        ...Object.keys(units),
        "policy",
        "limit_by",
        "fault_tolerant",
        "hide_client_headers",
      ]);
    }
    case "cors": {
      const origins = textsIn(config.origins ?? ["*"]);
      const cors = {
        allowOrigins: origins,
        ...(config.methods !== undefined && { allowMethods: textsIn(config.methods) }),
        ...(config.headers !== undefined && { allowHeaders: textsIn(config.headers) }),
        ...(config.exposed_headers !== undefined && {
          exposeHeaders: textsIn(config.exposed_headers),
        }),
        ...(config.credentials === true && { allowCredentials: true }),
        ...(config.max_age !== undefined && { maxAge: `${Number(config.max_age)}s` }),
      };
      if (origins.some((each) => each !== "*" && !/^https?:\/\/[\w.:-]+$/.test(each)))
        return unknown;
      return done({ cors }, [
        "origins",
        "methods",
        "headers",
        "exposed_headers",
        "credentials",
        "max_age",
        "preflight_continue",
      ]);
    }
    case "request-transformer":
    case "response-transformer": {
      const headers = transformerHeaders(config, place, notes);
      const modifier = name.startsWith("request")
        ? "requestHeaderModifier"
        : "responseHeaderModifier";
      return headers === undefined
        ? unknown
        : done({ [modifier]: headers }, ["add", "replace", "append", "remove"]);
    }
    case "request-termination": {
      const status = Number(config.status_code ?? 503);
      const body = textIn(config.body ?? config.message);
      const type = textIn(config.content_type);
      const headers = type === undefined ? {} : { headers: { "content-type": type } };
      return done(
        {
          directResponse: {
            status,
            ...headers,
            ...(body !== undefined && { body: plainText(body) }),
          },
        },
        [...["status_code", "body", "message", "content_type"]],
      );
    }
    case "ai-prompt-decorator": {
      const { prepend, append } = fieldsIn(config.prompts);
      const texts = (list: unknown) =>
        listIn(list).map((each) => {
          const { role, content } = fieldsIn(each);
          return { role, content: plainText(textIn(content) ?? "") };
        });
      const prompts = {
        ...(prepend !== undefined && { prepend: texts(prepend) }),
        ...(append !== undefined && { append: texts(append) }),
      };
      return done({ ai: { prompts } }, ["prompts", "max_request_body_size"]);
    }
    case "ai-proxy":
    case "ai-proxy-advanced": {
      const targets = name === "ai-proxy" ? [config] : listIn(config.targets).map(fieldsIn);
      const made = modelBackend(targets, config, place, notes);
      if (typeof made === "string") return `${unknown}: ${made}`;
      source.take(...at);
      return { policies: made.policies, backends: [made.backend], notes };
    }
    // Plugins for logs, metrics, traces and compression do not affect access.
    case "prometheus":
    case "correlation-id":
    case "file-log":
    case "http-log":
    case "tcp-log":
    case "zipkin":
    case "opentelemetry":
    case "datadog":
    case "gzip":
      return { policies: {}, notes };
    default:
      return unknown;
  }
}

function limitKey(config: DraftFields): DraftFields {
  if (config.limit_by === "ip") return { key: "source.address" };
  return config.limit_by === "service"
    ? {}
    : { key: "has(apiKey.consumer) ? apiKey.consumer : source.address" };
}

/** Converts the header changes of a transformer; `undefined` if it also changes something else. */
function transformerHeaders(
  config: DraftFields,
  place: string,
  notes: string[],
): DraftFields | undefined {
  const lists = Object.values(config).flatMap((each) => Object.entries(fieldsIn(each)));
  if (lists.some(([name, value]) => name !== "headers" && listIn(value).length > 0))
    return undefined;
  const values = (...names: readonly string[]) =>
    Object.fromEntries(
      names.flatMap((name) =>
        textsIn(fieldsIn(config[name]).headers ?? []).map((text) => {
          const at = text.indexOf(":");
          const [header, value] = [text.slice(0, at), text.slice(at + 1)];
          if (!namesCredential(header)) return [header, plainText(value)];
          notes.push(
            `${place} may contain a credential: put it into the variable ${secretName(header)}`,
          );
          return [header, `\${${secretName(header)}}`];
        }),
      ),
    );
  if (JSON.stringify(lists).includes("$(")) return undefined;
  const [set, add] = [values("replace"), values("add", "append")];
  const remove = textsIn(fieldsIn(config.remove).headers ?? []);
  return {
    ...(Object.keys(set).length > 0 && { set }),
    ...(Object.keys(add).length > 0 && { add }),
    ...(remove.length > 0 && { remove }),
  };
}
