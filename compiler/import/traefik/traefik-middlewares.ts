import type { ConfigPath } from "../../diagnostics/diagnostic.ts";
import { fieldsIn, listIn, textIn, textsIn } from "../proxy/fields.ts";
import type { OrderedMatch } from "../proxy/ordered-routes.ts";
import type { DraftFields } from "../proxy/route-draft.ts";
import { addressTest, namesCredential, plainText, secretName } from "../proxy/texts.ts";
import type { SourceFields } from "../source-fields.ts";

/** A converted middleware. */
export interface MiddlewarePart {
  readonly policies: DraftFields;
  readonly notes: readonly string[];
}

/** Converts a middleware of Traefik; returns the reason as a string if that is impossible. */
export function middlewarePart(
  name: string,
  value: DraftFields,
  at: ConfigPath,
  source: SourceFields,
  matches: readonly OrderedMatch[],
): MiddlewarePart | string {
  const kinds = Object.keys(value);
  const [kind = ""] = kinds;
  const fields = fieldsIn(value[kind]);
  const place = `line ${source.line(...at)}`;
  const notes: string[] = [];
  if (kinds.length !== 1) return `${place}: middleware ${name} must have exactly one type`;
  const unknown = `${place}: middleware ${name} (${kind})`;
  const done = (policies: DraftFields, ...names: readonly string[]): MiddlewarePart | string => {
    const other = Object.keys(fields).find((each) => !names.includes(each));
    if (other !== undefined) return `${unknown}: ${other}`;
    source.take(...at);
    return { policies, notes };
  };
  switch (kind) {
    case "stripPrefix": {
      const prefixes = textsIn(fields.prefixes);
      const isIts = matches.every(
        ({ path }) =>
          path?.kind === "start" &&
          prefixes.length === 1 &&
          path.value.replace(/\/$/, "") === prefixes[0]?.replace(/\/$/, ""),
      );
      return isIts
        ? done({ urlRewrite: { path: { prefix: "/" } } }, "prefixes", "forceSlash")
        : `${unknown}: it strips a prefix that the rule does not match`;
    }
    case "replacePath":
      return done(
        { urlRewrite: { path: { full: plainText(textIn(fields.path) ?? "/") } } },
        "path",
      );
    case "addPrefix":
      return done(
        {
          transformations: {
            request: {
              set: {
                ":path": `${JSON.stringify(textIn(fields.prefix) ?? "")} + request.pathAndQuery`,
              },
            },
          },
        },
        "prefix",
      );
    case "redirectScheme":
      return done(
        {
          requestRedirect: {
            scheme: textIn(fields.scheme),
            ...(fields.port !== undefined && { authority: { port: Number(fields.port) } }),
            status: fields.permanent === true ? 301 : 302,
          },
        },
        ...["scheme", "permanent", "port"],
      );
    case "basicAuth": {
      const realm = textIn(fields.realm);
      const file = textIn(fields.usersFile);
      const variable = secretName(`${name}_USERS`);
      if (file === undefined)
        notes.push(`${place}: put the USER:HASH lines into the variable ${variable}`);
      if (fields.removeHeader !== true)
        notes.push(`${place}: Traefik forwards the credentials to the service; gwc does not`);
      const htpasswd = file === undefined ? `\${${variable}}` : { file: plainText(file) };
      const own = realm === undefined ? {} : { realm: plainText(realm) };
      return done(
        { basicAuth: { ...own, htpasswd } },
        "users",
        "usersFile",
        "realm",
        "removeHeader",
      );
    }
    case "ipAllowList":
    case "ipWhiteList": {
      const tests = textsIn(fields.sourceRange).map(addressTest);
      const known = tests.filter((each) => each !== undefined);
      if (known.length < tests.length || known.length === 0) return unknown;
      return done({ authorization: { rules: [{ require: known.join(" || ") }] } }, "sourceRange");
    }
    case "rateLimit": {
      const average = Number(fields.average);
      const period = textIn(fields.period) ?? "1s";
      const unit = { "1s": "Seconds", "1m": "Minutes", "1h": "Hours" }[period];
      if (!(average >= 1) || unit === undefined) return unknown;
      notes.push(
        `${place}: Traefik counts each client across all routers with ${name}; in gwc each route counts separately`,
      );
      const burst = fields.burst === undefined ? {} : { burst: Number(fields.burst) };
      return done(
        { localRateLimit: [{ requests: average, unit, ...burst, key: "source.address" }] },
        "average",
        "burst",
        "period",
      );
    }
    case "retry":
      return done(
        { retry: { attempts: Math.max(0, Number(fields.attempts) - 1) } },
        "attempts",
        "initialInterval",
      );
    case "headers":
      return headersPart(fields, at, source, notes) ?? unknown;
    case "compress":
    case "buffering":
    case "contentType":
      return { policies: {}, notes };
    default:
      return unknown;
  }
}

function headersPart(
  fields: DraftFields,
  at: ConfigPath,
  source: SourceFields,
  notes: string[],
): MiddlewarePart | undefined {
  const place = `line ${source.line(...at)}`;
  const changes = (value: unknown): DraftFields => {
    const set: Record<string, string> = {};
    const remove: string[] = [];
    for (const [name, each] of Object.entries(fieldsIn(value))) {
      const text = String(each);
      const variable = secretName(name);
      if (text === "") remove.push(name);
      else if (namesCredential(name)) {
        set[name] = `\${${variable}}`;
        notes.push(`${place} may contain a credential: put it into the variable ${variable}`);
      } else set[name] = plainText(text);
    }
    return {
      ...(Object.keys(set).length > 0 && { set }),
      ...(remove.length > 0 && { remove }),
    };
  };
  const cors: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(fields)) {
    const name = CORS[field];
    if (field === "customRequestHeaders" || field === "customResponseHeaders") continue;
    if (name === undefined && field !== "addVaryHeader") {
      const header = SECURITY[field];
      // Lost security headers are reported; they do not affect who gets access.
      if (
        header === undefined &&
        !/^(sts|custom|content|browser|referrer|permissions|frame|feature|ssl|isDevelopment)/.test(
          field,
        )
      )
        return undefined;
      continue;
    }
    if (name !== undefined)
      cors[name] = field === "accessControlMaxAge" ? `${Number(value)}s` : value;
    source.take(...at, "headers", field);
  }
  const [request, response] = [
    changes(fields.customRequestHeaders),
    changes(fields.customResponseHeaders),
  ];
  source.take(...at, "headers", "customRequestHeaders");
  source.take(...at, "headers", "customResponseHeaders");
  if (listIn(cors.allowOrigins).length === 0 && Object.keys(cors).length > 0) return undefined;
  return {
    policies: {
      ...(Object.keys(cors).length > 0 && { cors }),
      ...(Object.keys(request).length > 0 && { requestHeaderModifier: request }),
      ...(Object.keys(response).length > 0 && { responseHeaderModifier: response }),
    },
    notes,
  };
}

const CORS: Readonly<Record<string, string>> = {
  accessControlAllowOriginList: "allowOrigins",
  accessControlAllowMethods: "allowMethods",
  accessControlAllowHeaders: "allowHeaders",
  accessControlExposeHeaders: "exposeHeaders",
  accessControlAllowCredentials: "allowCredentials",
  accessControlMaxAge: "maxAge",
};

const SECURITY: Readonly<Record<string, string>> = {
  frameDeny: "x-frame-options",
  contentTypeNosniff: "x-content-type-options",
};
