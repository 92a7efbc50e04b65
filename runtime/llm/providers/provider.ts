import { ACCOUNT_HEADER } from "../../auth/subscription-tokens.ts";
import { type HealthSettings, ServerHealth } from "../../backends/server-health.ts";
import { HeaderNames } from "../../http/headers/header-lines.ts";
import { type AddedFields, addedFields, fieldLines } from "../../http/http1/fields.ts";
import { openUpstream } from "../../http/upstream/open-upstream.ts";
import type { Upstream, UpstreamSettings } from "../../http/upstream/upstream.ts";
import type { ModelPriceList } from "../chat/prices.ts";

/** Complete settings of one provider of a route. */
export interface ProviderSettings extends UpstreamSettings {
  /** Configured name, for logs, metrics and clients. */
  readonly name: string;
  /** `gen_ai.provider.name` of the OpenTelemetry conventions: `anthropic`, `aws.bedrock`. */
  readonly system: string;
  /** Model of every request; absent: the requested one. */
  readonly model?: string;
  /** Prices of its models, by its names; absent if they are not known. */
  readonly prices?: ModelPriceList;
  /** Headers of every request to it: a flat list, names in lower case. */
  readonly headers?: readonly string[];
  /** Header that forwards the client's own key; absent if the gateway has its own key. */
  readonly clientKey?: KeyHeader;
  /** Ejection settings; absent if there is no other provider. */
  readonly health?: HealthSettings;
  /** Opens its servers if an endpoint picker chooses one for each request; absent for a single server. */
  readonly open?: (server: UpstreamSettings) => Upstream;
}

/** The header in which a provider reads keys, possibly depending on the path. */
export type KeyHeader = KeyHeaderName | KeyHeaderByPath;

/** Headers with keys of providers, clients and guards. */
export type KeyHeaderName =
  | "authorization"
  | "x-api-key"
  | "api-key"
  | "x-goog-api-key"
  | "ocp-apim-subscription-key";

/** Key headers of a provider with APIs of several vendors. */
export interface KeyHeaderByPath {
  /** Prefix of paths of the first API, after a base path. */
  readonly prefix: string;
  readonly header: KeyHeaderName;
  readonly otherwise: KeyHeaderName;
}

/** A server of models. */
export interface Provider {
  readonly name: string;
  /** Name for clients. */
  readonly shown: ShownName;
  readonly system: string;
  readonly model: string | undefined;
  readonly prices: ModelPriceList | undefined;
  /** Headers of every request to it, including Host: a flat list. */
  readonly headers: readonly string[];
  /** The same with BODY_HEADERS, as lines; `undefined` if they cannot be written as lines. */
  readonly headerLines: string | undefined;
  /**
   * Client headers that are not forwarded: keys, which are meant for the gateway, and those that the provider has its own
   * values for.
   */
  readonly withheld: ReadonlySet<string>;
  /** The withheld headers, and those that depend on the rewritten body. */
  readonly replaced: ReadonlySet<string>;
  /** The replaced headers, for searching in lines. */
  readonly replacedLines: HeaderNames;
  /** The replaced headers and those of vendors' own APIs, which clients of another format must not forward. */
  readonly foreignLines: HeaderNames;
  /** Configured response headers, which clients get whether or not the gateway has created the body. */
  readonly given: ReadonlySet<string>;
  readonly clientKey: KeyHeader | undefined;
  readonly health: ServerHealth | undefined;
  readonly upstream: Upstream;
  /** Whether an endpoint picker chooses a server for each request. */
  readonly isPicked: boolean;
}

/** Headers with keys of clients of any format, which are meant for the gateway. */
const CREDENTIALS = ["authorization", "api-key", "x-api-key", "x-goog-api-key", "cookie"];

/** Headers that every rewritten request replaces, because its body differs. */
const OF_BODY = ["content-type", "content-encoding", "accept-encoding"];

/** Prefixes of headers that vendors defined for their own APIs. */
export const VENDOR_PREFIXES: readonly string[] = [
  ...[
    "anthropic-",
    "openai-",
    "x-goog-",
    "x-stainless-",
    "x-amz-",
    "x-amzn-",
    "x-bedrock-",
    "chatgpt-",
  ],
];

/** Headers of every rewritten request about its body, and the accepted encoding of the response: a flat list. */
export const BODY_HEADERS: readonly string[] = [
  ...["content-type", "application/json", "accept-encoding", "identity"],
];

/** Opens a provider. Connects on the first call. Throws StartupError on a malformed URL. */
export function openProvider(settings: ProviderSettings): Provider {
  const {
    name,
    system,
    model,
    prices,
    headers = [],
    clientKey,
    health,
    open,
    ...server
  } = settings;
  const { set = [], add = [] } = server.responseHeaders ?? {};
  const changed = [...set, ...add];
  const withheld = new Set([
    ...CREDENTIALS,
    ...(system === "openai" ? [] : [ACCOUNT_HEADER]),
    ...headers.filter((_, index) => index % 2 === 0),
  ]);
  const replaced = new Set([...withheld, ...OF_BODY, ...OF_SIGNATURE]);
  const upstream = open === undefined ? openUpstream(server) : open(server);
  const own = [...headers, "host", upstream.authority];
  return {
    name,
    shown: new ShownName(name),
    system,
    model,
    prices,
    headers: own,
    headerLines: fieldLines([...own, ...BODY_HEADERS]),
    withheld,
    replaced,
    replacedLines: new HeaderNames(replaced),
    foreignLines: new HeaderNames(replaced, VENDOR_PREFIXES),
    given: new Set(changed.map(([header]) => header).filter((header) => !OF_BODY.includes(header))),
    clientKey,
    health: health && new ServerHealth(health),
    upstream,
    isPicked: open !== undefined,
  };
}

/** Headers of AWS's SDKs about their own signature and attempts, which the gateway's replace. */
const OF_SIGNATURE: readonly string[] = [
  ...["x-amz-date", "x-amz-security-token", "x-amz-content-sha256"],
  ...["amz-sdk-invocation-id", "amz-sdk-request"],
];

/** Name of a provider in response headers for clients. */
class ShownName {
  readonly #name: string;
  /** Cached header: all routes mostly use the same one. */
  #header: string | undefined;
  #fields = addedFields([]);

  constructor(name: string) {
    this.#name = name;
  }

  /** Returns the fields for a header; without a header, no fields. */
  in(header: string | undefined): AddedFields {
    if (header !== this.#header) {
      this.#header = header;
      this.#fields = addedFields(header === undefined ? [] : [header, this.#name]);
    }
    return this.#fields;
  }
}

/** Returns the header in which a provider reads the key of a request. */
export function keyHeaderName(header: KeyHeader, path: string): KeyHeaderName {
  if (typeof header === "string") return header;
  return path.includes(header.prefix) ? header.header : header.otherwise;
}
